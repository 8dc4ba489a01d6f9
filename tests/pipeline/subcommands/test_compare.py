"""beam-bleu compare: two runs, paired only where their segments are the same."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import EXAMPLES, called, read_lines, write_lines
from saved_parts import TEXTS, lines_in, records_in, run_into

from beam_bleu.pipeline.saved import compared_runs as comparing
from beam_bleu.pipeline.saved.compared_runs import ComparedScore
from beam_bleu.pipeline.saved.totals_file import read_totals
from beam_bleu.pipeline.subcommands import compare


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    """The totals of several runs: atlas is another text in the new ones."""
    folder: Path = tmp_path_factory.mktemp("runs")
    found = {}
    flags = ("--resample=bootstrap", "--resamples=200")
    for name, given in (
        ("plain", ()),
        ("bootstrap", flags),
        ("seed", (*flags, "--seed=5")),
        ("floor", ("-s=floor",)),
    ):
        run_into(folder / name, *lines_in(folder / "texts", slice(None)), *given)
        found[name] = folder / name / "totals.json"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("saved_parts.TEXTS", {**TEXTS, "atlas": TEXTS["birch"]})
        texts = lines_in(folder / "other texts", slice(None))
        run_into(folder / "new", *texts, *flags)
        run_into(folder / "coins", *texts, "--resample=randomization", "--resamples=200")
    found |= {"new": folder / "new" / "totals.json", "coins": folder / "coins" / "totals.json"}
    return found


def compared(old: Path, new: Path) -> dict[str, Any]:
    run = called("compare", old, new, "--format=json", "--quiet")
    document: dict[str, Any] = run.document
    return document


def test_independent(runs):
    found = compared(runs["plain"], runs["new"])
    assert found["method"] == "independent"
    assert "--resample" in found["reason"]
    atlas, birch, _ = found["systems"]
    scores = json.loads((runs["plain"].parent / "scores.json").read_text())["scores"]
    errors = {each["system"]: each["standard_error"] for each in scores}
    assert atlas["old"] == scores[0]["score"]
    assert atlas["new"] == scores[1]["score"]
    assert atlas["standard_error"] == pytest.approx(math.hypot(errors["atlas"], errors["birch"]))
    assert atlas["interval"][0] < atlas["difference"] < atlas["interval"][1]
    assert (birch["difference"], birch["p_value"]) == (0.0, 1.0)
    assert (birch["standard_error"], birch["interval"]) == (0.0, [0.0, 0.0])  # nothing has changed


def test_the_reason_names_the_run_without_replicates(runs):
    assert compared(runs["plain"], runs["new"])["reason"].startswith("the old run has no replic")
    assert compared(runs["new"], runs["plain"])["reason"].startswith("the new run has no replic")
    assert compared(runs["plain"], runs["plain"])["reason"].startswith("neither run has replic")


def test_totals_that_were_not_saved(runs, tmp_path):
    called("compare", runs["plain"], tmp_path).assert_failed(3, "totals.json", "--save_totals")
    called("merge", tmp_path).assert_failed(3, "totals.json", "--save_totals")


def test_paired(runs):
    found = compared(runs["bootstrap"], runs["new"])
    assert found["method"] == "paired"
    atlas, birch, _ = found["systems"]
    document = json.loads((runs["bootstrap"].parent / "scores.json").read_text())
    (same,) = (each for each in document["resampling"]["comparisons"] if each["system"] == "birch")
    assert atlas["difference"] == same["difference"]
    assert atlas["interval"] == same["interval"]
    assert atlas["p_value"] == same["p_value"]
    assert (birch["standard_error"], birch["p_value"]) == (0.0, 1.0)


@pytest.mark.parametrize("number", [29, 30])
def test_a_paired_bootstrap_of_too_few_segments_says_nothing(tmp_path, number):
    flags = ("--resample=bootstrap", "--resamples=200")
    kept = lines_in(tmp_path / "texts", slice(number))
    run_into(tmp_path / "old", *kept, *flags)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("saved_parts.TEXTS", {**TEXTS, "atlas": TEXTS["birch"]})
        run_into(tmp_path / "new", *lines_in(tmp_path / "others", slice(number)), *flags)
    found = compared(tmp_path / "old", tmp_path / "new")
    assert found["method"] == "paired"
    atlas, birch, _ = found["systems"]
    values = [atlas[key] for key in ("standard_error", "interval", "p_value")]
    assert (values == [None] * 3) == (number < 30)
    assert (None in values) == (number < 30)
    assert atlas["reason"] == ("29 segments are fewer than 30" if number < 30 else "")
    assert birch["p_value"] == 1


def test_another_seed_is_independent(runs):
    found = compared(runs["seed"], runs["new"])
    assert found["method"] == "independent"
    assert "seed is 5 in the old run, now 12345" in found["reason"]


def test_the_table_says_which_method_was_used(runs):
    run = called("compare", runs["bootstrap"], runs["new"])
    assert run.code == 0, run.err
    lines = run.out.decode().splitlines()
    assert lines[1].startswith("paired: both runs have the same references")
    assert re.split("  +", lines[3]) == [
        *("system", "old", "new", "difference", "standard error", "95 % interval", "p")
    ]
    assert lines[4].split()[0] == "atlas"
    assert lines[5].split("  ")[-1] == "1.000"


def test_a_small_p_value_is_shown_as_in_other_tables():
    numbers = {"old": 29.28, "new": 25.42, "difference": -3.86, "standard_error": 0.83}
    score = ComparedScore("base", **numbers, interval=(-5.48, -2.23), p_value=3e-6)
    shown = ("base", "29.3", "25.4", "-3.86", "0.83", "-5.48 to -2.23", "<0.001")
    assert compare._row(score, decimals=1) == shown
    unknown = dataclasses.replace(score, standard_error=None, interval=None, p_value=None)
    assert compare._row(unknown, decimals=1)[4:] == ("", "", "")


def test_coins_of_one_run(runs):
    found = compared(runs["coins"], runs["coins"])
    assert found["method"] == "paired"
    assert [each["p_value"] for each in found["systems"]] == [1.0, 1.0, 1.0]
    assert found["systems"][0]["standard_error"] is None


def test_other_definitions_are_refused(runs):
    called("compare", runs["plain"], runs["floor"]).assert_failed(
        3, "smooth_method is exp in the first one, and floor", "beam-bleu rescore"
    )


DOCUMENTS = read_lines(EXAMPLES / "documents.txt")
DRAWN = ("--resample=bootstrap", "--resamples=50")


def document_files(folder: Path) -> dict[str, Path]:
    """Files with the documents of the segments, in several forms."""
    return {
        name: write_lines(folder / f"{name}.txt", lines)
        for name, lines in {
            "documents": DOCUMENTS,
            "others": [*DOCUMENTS[1:], DOCUMENTS[0]],
            "renamed": [f"{each} again" for each in DOCUMENTS],
            "domains": [f"news\t{each}" for each in DOCUMENTS],
            "labels": [f"{each}\t{i % 4}" for i, each in enumerate(DOCUMENTS)],
        }.items()
    }


@pytest.mark.parametrize(
    ("old", "new", "obstacle"),
    [
        (["--documents={documents}"], ["--documents={documents}"], ""),
        (["--documents={documents}"], ["--documents={others}"], "the documents are not"),
        (["--documents={documents}"], ["--documents={renamed}"], "the documents are not"),
        (["--documents={documents}"], [], "units: segments, or documents"),
        (
            ["--documents=a", "--labels=a,b={labels}"],
            ["--documents=b", "--labels=a,b={labels}"],
            "units: segments, or documents",
        ),
        (
            ["--documents=a", "--labels=a,b={labels}"],
            ["--documents=a", "--labels=b,a={labels}"],
            "the documents are not",
        ),
        (
            ["--documents={domains}"],
            ["--documents=document", "--labels=document={domains}"],
            "random weights of the segments are not the same",
        ),
        (["--labels=a={documents}", "--slice_by=a"], [], ""),  # labels of slices only
    ],
)
def test_only_runs_with_the_same_units_are_paired(tmp_path, old, new, obstacle):
    files = document_files(tmp_path / "documents")
    texts = lines_in(tmp_path / "texts", slice(None))
    for name, flags in (("old", old), ("new", new)):
        run_into(tmp_path / name, *texts, *DRAWN, *(flag.format(**files) for flag in flags))
    found = compared(tmp_path / "old", tmp_path / "new")
    assert found["method"] == ("independent" if obstacle else "paired")
    assert obstacle in found["reason"]


@pytest.mark.parametrize(
    ("role", "obstacle"),
    [("labels", "the documents are not known"), ("references", "only line-parallel texts")],
)
def test_an_input_that_is_not_known_is_no_proof(tmp_path, role, obstacle):
    documents = f"--documents={EXAMPLES / 'documents.txt'}"
    run_into(tmp_path / "out", *lines_in(tmp_path, slice(None)), *DRAWN, documents)
    saved = read_totals(str(tmp_path / "out"))
    (same,), _ = comparing.compared("old", saved, "new", saved)
    assert same.method == "paired"
    (partition,) = saved.partitions
    kept = [each for each in partition.inputs if each["role"] != role]
    lacking = dataclasses.replace(saved, partitions=(dataclasses.replace(partition, inputs=kept),))
    (found,), _ = comparing.compared("old", lacking, "new", lacking)
    assert found.method == "independent"
    assert obstacle in found.reason


def test_other_orders_of_references_are_independent(tmp_path):
    texts = lines_in(tmp_path / "texts", slice(None))
    reference, *candidates = texts
    other = write_lines(tmp_path / "other.txt", TEXTS["birch"])
    run_into(tmp_path / "old", reference, other, *candidates, *DRAWN)
    run_into(tmp_path / "new", other, reference, *candidates, *DRAWN)
    found = compared(tmp_path / "old", tmp_path / "new")
    assert (found["method"], found["reason"]) == ("independent", "the references are not the same")


@pytest.mark.parametrize("flags", [(), ("--where=part=1",), ("--documents=part",)])
def test_records_are_independent(tmp_path, flags):
    records = [
        {"candidate": candidate, "reference": reference, "part": i % 2}
        for i, (candidate, reference) in enumerate(zip(TEXTS["atlas"], TEXTS["ref"], strict=True))
    ]
    given = records_in(tmp_path / "records", records)
    run_into(tmp_path / "old", *given, *flags, *DRAWN)
    run_into(tmp_path / "new", *given, *DRAWN)
    found = compared(tmp_path / "old", tmp_path / "new")
    assert found["method"] == "independent"
