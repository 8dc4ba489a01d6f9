"""Perplexity in runs: from records with log-probabilities to results, as a user asks for them."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from command_line import Argument, called
from lm_eval_formulas import (
    bits_per_byte,
    bytes_of,
    perplexity,
    weighted_perplexity,
    words_of,
)

RELATIVE = 1e-12

Records = list[dict[str, Any]]


def records_of(number: int, seed: int = 2) -> Records:
    """Texts with the log-probabilities of their tokens by two models."""
    rng = random.Random(seed)
    spaces = [" ", " ", "  ", "\n", "\u3000", "\xa0", ""]
    records = []
    for place in range(number):
        words = rng.choices(["ein", "Wort", "größer", "日本", "😀"], k=rng.randrange(12))
        text = "".join(word + rng.choice(spaces) for word in words)
        records.append(
            {
                "id": place,
                "text": rng.choice(spaces) + text,
                "kind": rng.choice(["short", "long"]),
                "document": f"d{place // 2}",
                "logprobs": [-rng.expovariate(0.5) for _ in range(rng.randint(1, 30))],
                "other": [-rng.expovariate(0.7) for _ in range(rng.randint(1, 30))],
            }
        )
    return records


RECORDS = records_of(80)


def jsonl(path: Path, records: Records) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def run(path: Path, *flags: Argument) -> dict[str, Any]:
    """The result document of a run."""
    command = ["--input", path, "--metrics=perplexity", *flags, "--format=json"]
    document: dict[str, Any] = called(*command).document
    return document


def score_of(path: Path, *flags: Argument) -> dict[str, Any]:
    """The only score of a run, slices left out."""
    (score,) = (score for score in run(path, *flags)["scores"] if score["slice"] is None)
    assert isinstance(score, dict)
    return score


def logs_of(records: Records, column: str = "logprobs") -> list[float]:
    return [math.fsum(record[column]) for record in records]


def lm_eval_scores(records: Records, column: str = "logprobs") -> dict[str, float]:
    """The scores of lm-eval for these records, and the perplexity of the founding documents."""
    logs = logs_of(records, column)
    of_bytes = [(log, bytes_of(record["text"])) for log, record in zip(logs, records, strict=True)]
    of_words = [(log, words_of(record["text"])) for log, record in zip(logs, records, strict=True)]
    tokens = [(log, len(record[column])) for log, record in zip(logs, records, strict=True)]
    return {
        "token": weighted_perplexity(tokens),
        "word": weighted_perplexity(of_words),
        "byte": weighted_perplexity(of_bytes),
        "bits_per_byte": bits_per_byte(of_bytes),
    }


# Numbers


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return jsonl(tmp_path_factory.mktemp("records") / "all.jsonl", RECORDS)


@pytest.mark.parametrize("per", ["token", "word", "byte"])
def test_scores_are_those_of_lm_eval(path, per):
    score = score_of(path, "--text_column=text", f"--perplexity_per={per}")
    expected = lm_eval_scores(RECORDS)
    assert score["score"] == pytest.approx(expected[per], rel=RELATIVE)
    assert score["bits_per_byte"] == pytest.approx(expected["bits_per_byte"], rel=RELATIVE)
    assert score["log_probability"] == pytest.approx(math.fsum(logs_of(RECORDS)), rel=RELATIVE)
    tokens = sum(len(record["logprobs"]) for record in RECORDS)
    assert score["tokens"] == (tokens if per == "token" else None)
    assert score["words"] == sum(words_of(record["text"]) for record in RECORDS)
    assert score["bytes"] == sum(bytes_of(record["text"]) for record in RECORDS)
    assert score["standard_error"] > 0


# Samples of lm-eval


def samples(folder: Path, model: str, seed: int) -> Path:
    """Samples as lm-eval 0.4 writes them: responses are texts, and its metrics are numbers."""
    rows = []
    for place, record in enumerate(records_of(40, seed)):
        log = math.fsum(record["logprobs"])
        words, size = words_of(record["text"]) + 3, bytes_of(record["text"]) + 7
        rows.append(
            {
                "doc_id": place,
                "doc": {"page": f"{record['text']} @-@ x"},
                "target": record["text"],
                "arguments": {"gen_args_0": {"arg_0": record["text"]}},
                "resps": [[str(log)]],
                "filtered_resps": [str(log)],
                "filter": "none",
                "metrics": ["word_perplexity", "byte_perplexity", "bits_per_byte"],
                "doc_hash": "0",
                "word_perplexity": [log, words],
                "byte_perplexity": [log, size],
                "bits_per_byte": [log, size],
            }
        )
    return jsonl(folder / model / "samples_wikitext_2026-01-01T00-00-00.000000.jsonl", rows)


def read(path: Path) -> Records:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_samples_of_lm_eval(tmp_path):
    path = samples(tmp_path, "pythia", 3)
    score = score_of(path, "--layout=lm-eval")
    rows = read(path)
    expected = weighted_perplexity([row["word_perplexity"] for row in rows])
    assert score["score"] == pytest.approx(expected, rel=RELATIVE)
    expected = bits_per_byte([row["byte_perplexity"] for row in rows])
    assert score["bits_per_byte"] == pytest.approx(expected, rel=RELATIVE)
    of_bytes = score_of(path, "--layout=lm-eval", "--perplexity_per=byte")["score"]
    expected = weighted_perplexity([row["byte_perplexity"] for row in rows])
    assert of_bytes == pytest.approx(expected, rel=RELATIVE)
    # Responses are texts there. The words of the target are other ones than those of the page.
    flags = ["--logprob_column=resps[0][0]", "--text_column=target", "--perplexity_per=word"]
    expected = weighted_perplexity(
        [(float(row["resps"][0][0]), words_of(row["target"])) for row in rows]
    )
    found = score_of(path, "--layout=lm-eval", *flags)["score"]
    assert found == pytest.approx(expected, rel=RELATIVE)


def test_samples_of_one_continuation(tmp_path):
    """As lambada has them: exp of minus the mean of the logarithms, lm-eval's `perplexity`."""
    logs = [-1.5, -0.25, -2.0]
    rows = [{"resps": [[[str(log), "False"]]], "filter": "none", "doc_id": 1} for log in logs]
    path = jsonl(tmp_path / "samples_lambada_openai.jsonl", rows)
    flags = ["--logprob_column=resps[0][0][0]", "--perplexity_per=segment"]
    assert score_of(path, *flags)["score"] == pytest.approx(perplexity(logs), rel=RELATIVE)


# Wrong input


LISTS: list[Argument] = ["--text_column=text"]
SUMS: list[Argument] = ["--logprob_column=sum", "--token_count_column=tokens"]
COUNTS: list[Argument] = ["--logprob_column=sum", "--word_count_column=tokens"]

GOOD = {"logprobs": [-1.0, -2.0], "text": "a b", "sum": -3.0, "tokens": 2}


@pytest.mark.parametrize(
    ("flags", "wrong", "what"),
    [
        (LISTS, '"logprobs": [-1.0, NaN]', "null"),
        (LISTS, '"logprobs": [-1.0, 0.5]', "logarithms of probabilities, which are at most 0"),
        (LISTS, '"logprobs": -1.0', "is a number or a boolean, and must be a list of numbers"),
        (LISTS, '"text": null', "has no value in the column text"),
        (SUMS, '"sum": 1e-3', "the natural logarithm of a probability, which is at most 0"),
        (SUMS, '"tokens": 0', "a whole number from 1 to 16777215"),
        ([*COUNTS, "--perplexity_per=word"], '"tokens": 0.5', "a whole number from 1 to 16777215"),
    ],
)
def test_bad_records(tmp_path, flags, wrong, what):
    good = json.dumps(GOOD)
    bad = f"{good[:-1]}, {wrong}}}"  # the last one of equal keys counts
    path = tmp_path / "records.jsonl"
    path.write_text(f"{good}\n{good}\n{bad}\n{good}\n")
    command = ["--input", path, "--metrics=perplexity", *flags]
    called(*command).assert_failed(3, what, "line 3", str(path))
    reject = ["--on_bad_record=reject", "--max_rejected=1", "--output", tmp_path / "out"]
    run = called(*command, *reject, "--format=json")
    (score,) = run.document["scores"]
    assert (score["segments"], score["log_probability"]) == (3, -9)


def test_rounded_logarithms_of_1_count_as_0(tmp_path):
    path = jsonl(tmp_path / "r.jsonl", [{"logprobs": [1e-6, -1.0, 0.0]}])
    assert score_of(path)["log_probability"] == -1


def test_lists_with_another_number_of_tokens_are_refused(tmp_path):
    path = jsonl(tmp_path / "lists.jsonl", [{"logprobs": [-3.0, -1.0], "tokens": 5}])
    command = ["--input", path, "--metrics=perplexity", "--token_count_column=tokens"]
    called(*command, "--perplexity_per=segment").assert_failed(
        3, "each value of the column logprobs must be the natural", "leave out --token_count_column"
    )


def test_a_perplexity_that_is_too_large_is_an_error(tmp_path):
    rows = [{"logprobs": [-300.0] * 4, "text": "日本語"}] * 2
    path = jsonl(tmp_path / "large.jsonl", rows)
    flags = ["--input", path, "--metrics=perplexity", "--text_column=text"]
    run = called(*flags, "--perplexity_per=word")
    run.assert_failed(3, "the perplexity per word is too large", "per byte")
    path = jsonl(tmp_path / "empty.jsonl", [{"logprobs": [-1.0], "text": ""}] * 2)
    flags[1] = path
    run = called(*flags, "--perplexity_per=byte")
    run.assert_failed(3, "there is no perplexity per byte, because the texts have no byte")


# What every metric has


def test_saved_totals_are_merged_and_rescored(path, tmp_path):
    flags = ["--text_column=text", "--slice_by=kind", "--save_totals", "--quiet"]
    halves = {"one": RECORDS[:33], "two": RECORDS[33:]}
    for name, records in halves.items():
        jsonl(tmp_path / f"{name}.jsonl", records)
        part = f"--partition={name}"
        run(tmp_path / f"{name}.jsonl", *flags, part, "--output", tmp_path / name)
    out = tmp_path / "merged"
    merge = called("merge", *(tmp_path / name for name in halves), "--output", out, "--format=json")
    assert merge.document["scores"] == run(path, *flags[:2])["scores"]
    for per in ("byte", "word", "segment"):
        found = called("rescore", out, f"--perplexity_per={per}", "--format=json").document
        direct = run(path, *flags[:2], f"--perplexity_per={per}")["scores"]
        for rescored, score in zip(found["scores"], direct, strict=True):
            assert rescored == {**score, "tokens": rescored["tokens"]}
    run(path, "--save_totals", "--quiet", "--output", tmp_path / "tokens")
    called("rescore", tmp_path / "tokens", "--perplexity_per=byte").assert_failed(
        2, "--metrics perplexity: per byte needs the number of bytes, which is not known"
    )
    called("rescore", out, "--logprob_column=other").assert_failed(
        2, "--logprob_column cannot be changed without the texts"
    )


def test_systems_of_one_record_are_compared(tmp_path):
    records = [
        {"lp_a": record["logprobs"], "lp_b": record["other"], "text": record["text"]}
        for record in RECORDS
    ]
    path = jsonl(tmp_path / "wide.jsonl", records)
    document = run(path, "--logprob_column=lp_{system}", "--text_column=text")
    for score, column in zip(document["scores"], ("logprobs", "other"), strict=True):
        expected = lm_eval_scores(RECORDS, column)["token"]
        assert score["score"] == pytest.approx(expected, rel=RELATIVE)
    (comparison,) = document["comparisons"]
    first, second = document["scores"]
    assert comparison["difference"] == second["score"] - first["score"]
    assert 0 <= comparison["p_value"] <= comparison["p_value_holm"] <= 1


def test_beside_a_metric_of_texts(tmp_path):
    records = [
        {"hyp": "ein Wort", "ref": record["text"] + "ein", "logprobs": record["logprobs"]}
        for record in RECORDS
    ]
    path = jsonl(tmp_path / "both.jsonl", records)
    command = ["--input", path, "--format=json", "-m"]
    together = called(*command, "chrf", "perplexity").document["scores"]
    alone = [called(*command, name).document["scores"][0] for name in ("chrf", "perplexity")]
    assert together[0] == alone[0]
    assert together[1] == {**alone[1], "system": "hyp"}
