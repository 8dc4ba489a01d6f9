"""beam-bleu compare: two runs, paired only where their segments are the same."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import called
from parts import TEXTS, lines_in, run_into

from beam_bleu.pipeline.saved import compare
from beam_bleu.pipeline.saved.comparing import ComparedScore


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
        patched.setattr("parts.TEXTS", {**TEXTS, "atlas": TEXTS["birch"]})
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
    assert compare._row(score) == shown
    unknown = dataclasses.replace(score, standard_error=None, interval=None, p_value=None)
    assert compare._row(unknown)[4:] == ("", "", "")


def test_coins_of_one_run(runs):
    found = compared(runs["coins"], runs["coins"])
    assert found["method"] == "paired"
    assert [each["p_value"] for each in found["systems"]] == [1.0, 1.0, 1.0]
    assert found["systems"][0]["standard_error"] is None


def test_other_definitions_are_refused(runs):
    called("compare", runs["plain"], runs["floor"]).assert_failed(
        3, "smooth_method is exp in the first one, and floor", "beam-bleu rescore"
    )
