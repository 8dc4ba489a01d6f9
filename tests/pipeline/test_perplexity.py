"""Perplexity in runs: from records with log-probabilities to results, as a user asks for them."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
from command_line import Argument, called, write_records
from lm_eval_formulas import (
    bits_per_byte,
    bytes_of,
    perplexity,
    weighted_perplexity,
    words_of,
)

RELATIVE = 1e-12

RNG = random.Random(2)
SPACES = [" ", " ", "  ", "\n", "\u3000", "\xa0", ""]


def text_of_words() -> str:
    words = RNG.choices(["ein", "Wort", "größer", "日本", "😀"], k=RNG.randrange(12))
    return RNG.choice(SPACES) + "".join(word + RNG.choice(SPACES) for word in words)


RECORDS = [
    {
        "id": place,
        "text": text_of_words(),
        "kind": RNG.choice(["short", "long"]),
        "logprobs": [-RNG.expovariate(0.5) for _ in range(RNG.randint(1, 30))],
        "other": [-RNG.expovariate(0.7) for _ in range(RNG.randint(1, 30))],
    }
    for place in range(80)
]
"""Texts with the log-probabilities of their tokens by two models."""


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


def lm_eval_scores(column: str = "logprobs") -> dict[str, float]:
    """The scores of lm-eval for the records, and the perplexity of the founding documents."""
    logs = [math.fsum(record[column]) for record in RECORDS]
    sizes = {
        "token": [len(record[column]) for record in RECORDS],
        "word": [words_of(record["text"]) for record in RECORDS],
        "byte": [bytes_of(record["text"]) for record in RECORDS],
    }
    pairs = {unit: [*zip(logs, of_unit, strict=True)] for unit, of_unit in sizes.items()}
    scores = {unit: weighted_perplexity(of_unit) for unit, of_unit in pairs.items()}
    return scores | {"bits_per_byte": bits_per_byte(pairs["byte"])}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_records(tmp_path_factory.mktemp("records") / "all.jsonl", RECORDS)


@pytest.mark.parametrize("per", ["token", "word", "byte"])
def test_scores_are_those_of_lm_eval(path, per):
    score = score_of(path, "--text_column=text", f"--perplexity_per={per}")
    expected = lm_eval_scores()
    assert score["score"] == pytest.approx(expected[per], rel=RELATIVE)
    assert score["bits_per_byte"] == pytest.approx(expected["bits_per_byte"], rel=RELATIVE)
    logs = [log for record in RECORDS for log in record["logprobs"]]
    assert score["log_probability"] == pytest.approx(math.fsum(logs), rel=RELATIVE)
    assert score["tokens"] == (len(logs) if per == "token" else None)
    assert score["words"] == sum(words_of(record["text"]) for record in RECORDS)
    assert score["bytes"] == sum(bytes_of(record["text"]) for record in RECORDS)
    assert score["standard_error"] > 0


def test_samples_of_lm_eval(tmp_path):
    """As lm-eval 0.4 writes them: responses are texts, and its metrics are numbers."""
    rows = []
    for place, record in enumerate(RECORDS):
        log, text = math.fsum(record["logprobs"]), record["text"]
        row = {
            "doc_id": place,
            "doc": {"page": f"{text} @-@ x"},
            "target": text,
            "arguments": {"gen_args_0": {"arg_0": text}},
            "resps": [[str(log)]],
            "filtered_resps": [str(log)],
            "filter": "none",
            "metrics": ["word_perplexity", "byte_perplexity", "bits_per_byte"],
            "word_perplexity": [log, words_of(text) + 3],
            "byte_perplexity": [log, bytes_of(text) + 7],
            "bits_per_byte": [log, bytes_of(text) + 7],
        }
        rows.append(row)
    path = write_records(tmp_path / "samples_wikitext_2026-01-01T00-00-00.000000.jsonl", rows)
    of_words, of_bytes = ([row[f"{unit}_perplexity"] for row in rows] for unit in ("word", "byte"))
    score = score_of(path, "--layout=lm-eval")
    assert score["score"] == pytest.approx(weighted_perplexity(of_words), rel=RELATIVE)
    assert score["bits_per_byte"] == pytest.approx(bits_per_byte(of_bytes), rel=RELATIVE)
    score = score_of(path, "--layout=lm-eval", "--perplexity_per=byte")
    assert score["score"] == pytest.approx(weighted_perplexity(of_bytes), rel=RELATIVE)
    # Responses are texts there. The words of the target are other ones than those of the page.
    flags = ["--logprob_column=resps[0][0]", "--text_column=target", "--perplexity_per=word"]
    logs = [float(row["resps"][0][0]) for row in rows]
    of_target = [(log, words_of(row["target"])) for log, row in zip(logs, rows, strict=True)]
    score = score_of(path, "--layout=lm-eval", *flags)
    assert score["score"] == pytest.approx(weighted_perplexity(of_target), rel=RELATIVE)
    # As lambada has them: exp of minus the mean of the logarithms, lm-eval's `perplexity`.
    score = score_of(path, flags[0], "--perplexity_per=segment")
    assert score["score"] == pytest.approx(perplexity(logs), rel=RELATIVE)


@pytest.mark.parametrize(
    ("flags", "wrong", "what"),
    [
        ([], '"logprobs": [-1.0, NaN]', "null"),
        ([], '"logprobs": -1.0', "is a number or a boolean, and must be a list of numbers"),
        (["--text_column=text"], '"text": null', "has no value in the column text"),
        (
            ["--logprob_column=sum", "--word_count_column=words", "--perplexity_per=word"],
            '"words": 0.5',
            "a whole number from 1 to 16777215",
        ),
    ],
)
def test_bad_records(tmp_path, flags, wrong, what):
    good = '{"logprobs": [-1.0, -2.0], "text": "a b", "sum": -3.0, "words": 2'
    bad = f"{good}, {wrong}"  # the last one of equal keys counts
    path = tmp_path / "records.jsonl"
    path.write_text("".join(line + "}\n" for line in (good, good, bad, good)))
    command = ["--input", path, "--metrics=perplexity", *flags]
    called(*command).assert_failed(3, what, "line 3", str(path))
    reject = ["--on_bad_record=reject", "--max_rejected=1", "--output", tmp_path / "out"]
    run = called(*command, *reject, "--format=json")
    (score,) = run.document["scores"]
    assert (score["segments"], score["log_probability"]) == (3, -9)


def test_lists_with_another_number_of_tokens_are_refused(tmp_path):
    path = write_records(tmp_path / "lists.jsonl", [{"logprobs": [-3.0, -1.0], "tokens": 5}])
    command = ["--input", path, "--metrics=perplexity", "--token_count_column=tokens"]
    called(*command, "--perplexity_per=segment").assert_failed(
        3, "each value of the column logprobs must be the natural", "leave out --token_count_column"
    )


def test_there_is_no_perplexity_of_texts_that_are_too_unlikely_or_empty(tmp_path):
    for log, text, per, said in (
        (-600.0, "日本語", "word", ["the perplexity per word is too large", "per byte"]),
        (-1.0, "", "byte", ["no perplexity per byte, because the texts have no byte"]),
    ):
        path = write_records(tmp_path / "r.jsonl", [{"logprobs": [log] * 2, "text": text}] * 2)
        flags = ["--metrics=perplexity", "--text_column=text", f"--perplexity_per={per}"]
        called("--input", path, *flags).assert_failed(3, *said)


def test_saved_totals_are_merged_and_rescored(path, tmp_path):
    flags = ["--text_column=text", "--slice_by=kind", "--save_totals", "--quiet"]
    for name, records in (("one", RECORDS[:33]), ("two", RECORDS[33:])):
        part = ["--output", tmp_path / name, f"--partition={name}"]
        run(write_records(tmp_path / f"{name}.jsonl", records), *flags, *part)
    out = tmp_path / "merged"
    halves = [tmp_path / "one", tmp_path / "two"]
    merge = called("merge", *halves, "--output", out, "--format=json")
    assert merge.document["scores"] == run(path, *flags[:2])["scores"]
    found = called("rescore", out, "--perplexity_per=word", "--format=json").document
    direct = run(path, *flags[:2], "--perplexity_per=word")["scores"]
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
    path = write_records(tmp_path / "wide.jsonl", records)
    document = run(path, "--logprob_column=lp_{system}", "--text_column=text")
    for score, column in zip(document["scores"], ("logprobs", "other"), strict=True):
        expected = lm_eval_scores(column)["token"]
        assert score["score"] == pytest.approx(expected, rel=RELATIVE)
    (comparison,) = document["comparisons"]
    first, second = document["scores"]
    assert comparison["difference"] == second["score"] - first["score"]
    assert 0 <= comparison["p_value"] <= comparison["p_value_holm"] <= 1
