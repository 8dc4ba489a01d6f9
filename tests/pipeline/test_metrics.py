"""Runs with several metrics: each one has the scores that it would have alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sacrebleu
from command_line import (
    EXAMPLE,
    EXAMPLES,
    REFERENCES,
    SYSTEMS,
    called,
    read_lines,
    streams,
    write_lines,
)
from saved_parts import lines_in, ranges, run_into

DOMAINS = [f"--labels=domain={EXAMPLES / 'domains.txt'}", "--slice_by=domain,length"]
LANGUAGES = [
    EXAMPLES / "languages" / "references.txt",
    *("-i", *sorted((EXAMPLES / "languages" / "systems").iterdir())),
    *(f"--labels=lp={EXAMPLES / 'languages' / 'pairs.txt'}", "--language_column=lp"),
]
FORMS: dict[str, list[Any]] = {
    "all": [
        *(*EXAMPLE, *DOMAINS, "--compare=all", f"--documents={EXAMPLES / 'documents.txt'}"),
        *("--resample=randomization", "--resamples=60", "--normalize=nfkc"),
    ],
    "languages": LANGUAGES,
}


def document(*arguments: Any) -> dict[str, Any]:
    return called(*arguments, "--format=json").document


def only(value: Any, metric: str) -> Any:
    """A part of a document, without the entries of other metrics."""
    if isinstance(value, dict):
        return {key: only(part, metric) for key, part in value.items()}
    if isinstance(value, list):
        entries = [part for part in value if isinstance(part, dict) and "metric" in part]
        others = [entry for entry in entries if entry["metric"] != metric]
        return [only(part, metric) for part in value if part not in others]
    return value


def parts_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """What a document says about each metric, beside the fields of its definition."""
    return [{**only(document, entry["metric"]), **entry} for entry in document["metrics"]]


@pytest.mark.parametrize("form", FORMS)
def test_each_metric_has_the_result_of_a_run_of_its_own(form):
    metrics = ["chrf", "bleu", "ter", "wer"]
    together = document(*FORMS[form], "--metrics", *metrics)
    assert [part["metric"] for part in parts_of(together)] == metrics
    for part in parts_of(together):
        (alone,) = parts_of(document(*FORMS[form], "-m", part["metric"]))
        for of_first_metric in ("metrics", "counters", "warnings"):
            del part[of_first_metric], alone[of_first_metric]
        assert part == alone
    of_scores = [score["metric"] for score in together["scores"]]
    assert of_scores == sorted(of_scores, key=metrics.index)


def test_languages_with_different_tokenizers_have_a_chrf_of_the_whole_corpus():
    bleu, chrf = parts_of(document(*LANGUAGES, "-m", "bleu", "chrf"))
    assert bleu["signature"] is None
    assert chrf["signature"] is not None
    assert all(each["slice"] is not None for each in bleu["scores"])
    assert [each["slice"] for each in chrf["scores"][:2]] == [None, None]
    assert {each["tokenize"] for each in chrf["languages"]} == {"char"}
    assert len(bleu["macro_average"]) == len(chrf["macro_average"]) == 2


def test_segment_scores_have_rows_of_each_metric(tmp_path):
    out = tmp_path / "out"
    called(*EXAMPLE, *DOMAINS, "-m", "bleu", "chrf", "--segment_scores", "--output", out)
    rows = pq.read_table(out / "segment_scores").to_pylist()
    references = [read_lines(path) for path in REFERENCES]
    texts = {name: read_lines(path) for name, path in SYSTEMS.items()}
    assert len(rows) == 2 * 3 * 72
    metrics = {"bleu": sacrebleu.BLEU(effective_order=True), "chrf": sacrebleu.CHRF()}
    for row in rows:
        at = row["index"]
        metric = metrics[row["metric"]]
        expected = metric.sentence_score(texts[row["system"]][at], [of[at] for of in references])
        assert row["score"] == expected.score
        is_bleu = row["metric"] == "bleu"
        assert (row["totals"] is None, row["ref_ngrams"] is None) == (not is_bleu, is_bleu)
        assert row["domain"] is not None


def test_empty_candidates_do_not_depend_on_the_order_of_metrics(tmp_path: Path):
    # Of BLEU the second candidate has no token, of chrF it has characters.
    write_lines(tmp_path / "candidate", ["a b c d", "<skipped>"])
    write_lines(tmp_path / "reference", ["a b c d", "e"])
    texts = streams([tmp_path / "candidate"], [tmp_path / "reference"])
    for metrics, expected in (
        (["bleu"], 1),
        (["chrf"], 0),
        (["bleu", "chrf"], 1),
        (["chrf", "bleu"], 1),
        (["ter", "chrf"], 0),
    ):
        counters = document(*texts, "-m", *metrics)["counters"]
        assert counters["empty_candidates"] == expected


# Flags


def test_flags_of_a_metric_define_it():
    references = [read_lines(reference) for reference in REFERENCES]
    of_chrf = {"word_order": 1, "whitespace": True, "eps_smoothing": True}
    of_ter = ("normalized", "no_punct", "asian_support", "case_sensitive")
    for flags, oracle, name in (
        (
            "--chrf-beta 3 -cc 4 --chrf-lowercase",
            sacrebleu.CHRF(char_order=4, beta=3, lowercase=True),
            "chrF3",
        ),
        (
            "--chrf_word_order=1 --chrf_whitespace --chrf_eps_smoothing",
            sacrebleu.CHRF(**of_chrf),
            "chrF2+",
        ),
        (
            "--ter-normalized --ter-no-punct --ter-asian-support --ter-case-sensitive",
            sacrebleu.TER(**dict.fromkeys(of_ter, True)),
            "TER",
        ),
    ):
        metrics = ("bleu", "ter" if name == "TER" else "chrf")
        _, part = parts_of(document(*EXAMPLE, *flags.split(), "-m", *metrics))
        for score in part["scores"]:
            expected = oracle.corpus_score(read_lines(SYSTEMS[score["system"]]), references)
            assert score["score"] == expected.score
            if name == "TER":
                counts = (expected.num_edits, expected.ref_length)
                assert (score["edits"], score["ref_length"]) == counts
        assert (part["name"], part["sacrebleu_signature"]) == (name, str(oracle.get_signature()))


# Gates


def test_thresholds_name_their_metric(tmp_path):
    out = tmp_path / "out"
    both = [*EXAMPLE, "-m", "bleu", "chrf"]
    called(*both, "--fail_under=30").assert_failed(
        2, "--fail_under 30: it does not say for which metric", "one of bleu, chrf"
    )
    called(*EXAMPLE, "--fail_under=chrf=30").assert_failed(
        2, "there are no scores of chrf", "one of bleu"
    )
    run = called(*both, "--output", out, "--fail_under=bleu=1", "--fail_under=chrf=atlas=99")
    assert run.code == 4
    assert "chrF2: atlas scores" in run.err
    assert "(--fail_under)" in run.err
    gate = called("gate", out, "--fail_under=chrf=1", "--max_drop=chrf=0.1", "--against", out)
    assert gate.code == 0
    assert len(gate.out.decode().splitlines()) == 6
    assert all("chrF2: " in line for line in gate.out.decode().splitlines())
    for_none = called("gate", out, "--fail_under=1")
    for_none.assert_failed(2, "it does not say for which metric", "one of bleu, chrf")
    other = called("gate", out, "--fail_over=ter=1")
    other.assert_failed(2, "there are no scores of ter", "one of bleu, chrf")


# Reruns, saved totals


def test_a_result_of_other_metrics_is_not_kept(tmp_path):
    out = ["--output", tmp_path / "out", "--if_exists=skip"]
    assert called(*EXAMPLE, "-m", "chrf", *out).code == 0
    kept = called(*EXAMPLE, "-m", "chrf", *out)
    assert "nothing was scored" in kept.err
    called(*EXAMPLE, *out).assert_failed(2, "already has a different result", "metrics chrf")
    called(*EXAMPLE, "-m", "chrf", "bleu", *out).assert_failed(2, "already has a different result")


FLAGS = ["--slice_by=domain", "--resample=bootstrap", "--resamples=50", "-m", "chrf", "bleu"]


@pytest.fixture(scope="module")
def parts(tmp_path_factory) -> Path:
    """The folders of a whole corpus and of its parts, scored by both metrics."""
    folder: Path = tmp_path_factory.mktemp("parts")
    for number, rows in enumerate(ranges()):
        texts = lines_in(folder / f"texts{number}", rows, *FLAGS)
        run_into(folder / f"part{number}", *texts, f"--partition={number}")
    run_into(folder / "whole", *lines_in(folder / "texts", slice(None), *FLAGS))
    return folder


def test_parts_are_merged_for_each_metric(parts):
    merged = called("merge", parts / "part0", parts / "part1", "--format=json").document
    whole = json.loads((parts / "whole" / "scores.json").read_bytes())
    for key in ("scores", "comparisons", "metrics"):
        assert merged[key] == whole[key]


def test_bleu_is_rescored_and_chrf_stays(parts):
    whole = json.loads((parts / "whole" / "scores.json").read_bytes())
    chrf, bleu = parts_of(called("rescore", parts / "whole", "-s=floor", "--format=json").document)
    assert chrf["scores"] == parts_of(whole)[0]["scores"]
    assert "|smooth:floor" in bleu["signature"]
    (only,) = parts_of(called("rescore", parts / "whole", "-m", "chrf", "--format=json").document)
    assert only["scores"] == chrf["scores"]


def test_chrf_is_not_rescored_by_another_definition(parts):
    for flag, cause in (
        ("-s=floor", "--smooth_method is a flag of bleu, and only chrf is scored"),
        ("--normalize=nfkc", "normalize is nfkc, and the tokens were counted with normalize"),
        ("--language_column=lp", "--language_column cannot be changed without the texts"),
        ("-cc=5", "cannot be changed without the texts"),
        ("--ter-normalized", "--ter_normalized is a flag of ter"),
    ):
        called("rescore", parts / "whole", "-m", "chrf", flag).assert_failed(2, cause)


def test_chrf_of_one_reference_is_rescored_by_another_formula(parts, tmp_path):
    whole = json.loads((parts / "whole" / "scores.json").read_bytes())
    for change in ("--chrf_beta=3", "--chrf_eps_smoothing"):
        out = tmp_path / change
        rescored = called("rescore", parts / "whole", "--output", out, "-q", change, "-cc=6")
        assert rescored.code == 0  # the order is as it was
        run = called(*lines_in(tmp_path, slice(None), *FLAGS, change), "--format=json")
        assert run.document["scores"][0]["score"] != whole["scores"][0]["score"]
        assert (out / "scores.json").read_bytes() == run.out


def test_several_references_keep_the_beta_that_chose_among_them(tmp_path):
    assert called(*EXAMPLE, "-m", "chrf", "--save_totals", "--output", tmp_path).code == 0
    called("rescore", tmp_path, "--chrf_beta=3").assert_failed(
        2, "--chrf_beta cannot be changed without the texts"
    )
    assert called("rescore", tmp_path, "--chrf_beta=2", "-q").code == 0


def test_totals_with_fewer_metrics_can_be_read_again(tmp_path):
    # The tokens of intl depend on a library, and chrF does not.
    flags = ["-m", "bleu", "chrf", "--tokenize=intl"]
    run_into(tmp_path / "both", *lines_in(tmp_path, slice(None), *flags))
    run_into(tmp_path / "alone", *lines_in(tmp_path, slice(None), "-m", "chrf"))
    rescore = ["rescore", tmp_path / "both", "-m", "chrf", "--output", tmp_path / "chrf", "-q"]
    assert called(*rescore).code == 0
    alone, kept = (tmp_path / name / "totals.json" for name in ("alone", "chrf"))
    assert kept.read_bytes() == alone.read_bytes()
    assert called("merge", tmp_path / "chrf", "-q").out == called("merge", alone, "-q").out


@pytest.fixture(scope="module")
def nights(tmp_path_factory) -> Path:
    """The folders of runs with other metrics, over the same segments, with replicates."""
    folder: Path = tmp_path_factory.mktemp("nights")
    flags = ["--resample=bootstrap", "--resamples=50", "--save_totals"]
    for name, *metrics in (
        ("both", "bleu", "chrf"),
        ("swapped", "chrf", "bleu"),
        ("chrf", "chrf"),
        ("bleu", "bleu"),
    ):
        system = "atlas" if name == "both" else "birch"
        texts = streams([f"hyp={SYSTEMS[system]}"], REFERENCES)
        assert called(*texts, *flags, "-m", *metrics, "--output", folder / name).code == 0
    return folder


def test_runs_are_compared_by_the_metrics_of_both(nights):
    def compared(new: str) -> Any:
        run = called("compare", nights / "both", nights / new, "--format=json")
        return run.document, run.err

    found, err = compared("swapped")
    assert [each["metric"] for each in found["systems"]] == ["chrf", "bleu"]
    assert (found["method"], err) == ("paired", "")
    for place, new in enumerate(("chrf", "bleu")):
        alone, err = compared(new)
        assert alone["systems"] == [found["systems"][place]]
        assert alone["method"] == "paired"
        other = ("BLEU", "chrF2")[place]
        assert f"of {nights / 'both'}, not compared: {other}" in err
    called("compare", nights / "bleu", nights / "chrf").assert_failed(
        3, "have no score in common", "compare runs with the same metrics"
    )


def test_bleu_whose_tokens_slices_by_length_count_is_not_left_out(tmp_path):
    flags = ["-m", "chrf", "bleu", "--slice_by=domain*length", "--tokenize=char"]
    run_into(tmp_path / "char", *lines_in(tmp_path, slice(None), *flags))
    called("rescore", tmp_path / "char", "-m", "chrf").assert_failed(
        2, "--metrics chrf leaves out BLEU, and the slices by length count its tokens (char"
    )
    assert called("rescore", tmp_path / "char", "-m", "bleu", "-q").code == 0
