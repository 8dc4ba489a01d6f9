"""beam-bleu compare: two runs, paired only where their segments are the same."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from command_line import called
from parts import TEXTS, lines_in, run_into


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
    assert lines[4].split()[0] == "atlas"


def test_coins_of_one_run(runs):
    found = compared(runs["coins"], runs["coins"])
    assert found["method"] == "paired"
    assert [each["p_value"] for each in found["systems"]] == [1.0, 1.0, 1.0]
    assert found["systems"][0]["standard_error"] is None


def test_other_definitions_are_refused(runs):
    called("compare", runs["plain"], runs["floor"]).assert_failed(
        3, "smooth_method is exp in the first one, and floor", "beam-bleu rescore"
    )
