"""--partition and --if_exists: what happens to a result that is already there."""

from __future__ import annotations

import dataclasses
import json
import os

import pytest
from command_line import EXAMPLES, REFERENCES, SYSTEMS, called, streams
from result_folder import assert_files

from beam_bleu.pipeline import reruns
from beam_bleu.pipeline.evidence import Evidence
from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.rerun_facts import DECIDE_NOTHING, FACTS
from beam_bleu.pipeline.scorings import Scorings
from beam_bleu.transforms.definition.slicing import Slicing

DOCUMENTS = EXAMPLES / "documents.txt"
ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])
DAY = ["--partition", "2026-11-21"]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def content(out):
    """Each file in the folder: its bytes, and when it was changed."""
    return {
        name: ((out / name).read_bytes(), os.stat(out / name).st_mtime_ns)
        for name in os.listdir(out)
    }


def scored(out, *flags):
    run = called(*ONE, "--output", out, *flags, "--format=json")
    assert run.code == 0, run.err
    return run.out


def test_the_label_is_in_the_result_and_in_the_records(out):
    document = json.loads(scored(out, *DAY))
    assert document["partition"] == "2026-11-21"
    assert json.loads((out / "run.json").read_bytes())["partition"] == "2026-11-21"
    assert 'partition="2026-11-21"' in (out / "metrics.prom").read_text()
    assert "partition" not in json.loads(scored(out))


@pytest.mark.parametrize("label", ["", " ", "a/b", " a", "a\nb", "\u200b"])
def test_impossible_labels(label):
    called(*ONE, f"--partition={label}").assert_failed(2, "--partition")


def test_skip_runs_nothing_and_shows_the_result(out):
    first = scored(out, *DAY)
    before = content(out)
    run = called(*ONE, "--output", out, *DAY, "--if_exists", "skip", "--format=json")
    assert (run.code, run.out) == (0, first)
    assert f"{out} has the result already, so nothing was scored" in run.err
    assert content(out) == before


def test_skip_still_judges(out):
    scored(out)
    before = content(out)
    run = called(*ONE, "--output", out, "--if_exists", "skip", "--fail_under", "99")
    assert run.code == 4
    assert run.out
    assert content(out) == before


@pytest.mark.parametrize("choice", ["skip", "fail"])
def test_without_a_complete_result_the_job_runs(out, choice):
    scored(out, *DAY, "--if_exists", choice)
    (out / "_SUCCESS").unlink()
    before = content(out)
    scored(out, *DAY, "--if_exists", choice)
    assert content(out) != before
    (out / "scores.json").write_text("{}")  # not that of the manifest
    scored(out, *DAY, "--if_exists", choice)
    assert_files(out)


@pytest.mark.parametrize(
    ("flags", "cause"),
    [
        (["--partition", "2026-11-22"], "partition 2026-11-21 there, 2026-11-22 here"),
        ([], "partition 2026-11-21 there, none here"),
        ([*DAY, "-tok", "zh"], "tok:zh"),
        ([*DAY, "--max_ngram_order", "3"], "order:3"),
        ([*DAY, "--candidates", SYSTEMS["atlas"]], "systems birch there, birch, atlas here"),
        ([*DAY, "--slice_by", "length"], "slices by none there, length here"),
        ([*DAY, "--segment_scores"], "segment scores none there"),
        ([*DAY, "--compare_presets"], "presets none there"),
        ([*DAY, "--save_totals"], "there is no totals.json"),
        ([*DAY, "--resample=bootstrap"], "resampling none there, bootstrap, 1000, seed 12345 here"),
        ([*DAY, "--no_uncertainty"], "standard errors by segment there, none here"),
        ([*DAY, "--documents", DOCUMENTS], "documents none there, document here"),
    ],
)
def test_skip_refuses_another_result(out, flags, cause):
    scored(out, *DAY)
    before = content(out)
    run = called(*ONE, "--output", out, *flags, "--if_exists", "skip")
    run.assert_failed(2, "already has another result", cause)
    assert content(out) == before


@pytest.mark.parametrize(
    "flags",
    [
        ["--slice_by", "length"],
        ["--segment_scores", "--segment_smooth_method", "floor"],
        ["--compare_presets"],
        ["--effective_order", "--weights", "1,1,0,0"],
        ["--no_uncertainty"],
        ["--save_totals", "--resample", "bootstrap", "--resamples", "20", "--seed", "1"],
    ],
)
def test_skip_knows_its_own_result(out, flags):
    first = scored(out, *flags)
    assert scored(out, *flags, "--if_exists", "skip") == first
    called(*ONE, "--output", out, "--if_exists", "skip").assert_failed(2, "already has another")


TWO = streams([SYSTEMS["birch"], SYSTEMS["atlas"]], REFERENCES[:1])
COINS = ["--resample", "randomization", "--resamples", "9"]
BOTH_LABELS = ["--labels", f"document={DOCUMENTS}", "--labels", f"other={DOCUMENTS}"]
DOCUMENTS_ONLY = [*COINS, "--no_uncertainty", *BOTH_LABELS, "--segment_scores"]
LENGTHS = ["--slice_by", "length", "--length_edges"]


@pytest.mark.parametrize(
    ("there", "here", "cause"),
    [
        ([], ["--baseline=atlas"], "baseline birch there, atlas here"),
        ([], ["--compare=all"], "compared are pairs with the baseline there, all pairs here"),
        (["--compare=all"], [], "compared are all pairs there, pairs with the baseline here"),
        (
            [*COINS, "--no_uncertainty"],
            [*COINS, "--no_uncertainty", "--baseline=atlas"],
            "baseline birch there, atlas here",
        ),
        (
            [*DOCUMENTS_ONLY, "--documents=other"],
            [*DOCUMENTS_ONLY, "--documents=document"],
            "documents other there, document here",
        ),
        ([*LENGTHS, "5,9"], [*LENGTHS, "8,9"], "ranges of lengths 5-8, 9+ there, 0-7, 8, 9+ here"),
    ],
)
def test_skip_refuses_other_evidence(out, there, here, cause):
    assert called(*TWO, "--output", out, *there).code == 0
    run = called(*TWO, "--output", out, *here, "--if_exists=skip")
    run.assert_failed(2, "already has another result", cause)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ([], ["--baseline=birch"]),
        (["--compare=all"], ["--compare=all", "--baseline=birch"]),
        ([*LENGTHS, "2,100000", "--max_slices=50"], [*LENGTHS, "2,100000,200000"]),
        (["--documents", DOCUMENTS, *COINS], ["--documents", DOCUMENTS, *COINS]),
    ],
)
def test_skip_keeps_what_would_be_the_same(out, there, here):
    assert called(*TWO, "--output", out, *there).code == 0
    run = called(*TWO, "--output", out, *here, "--if_exists=skip", "--threads=2")
    assert run.code == 0, run.err
    assert "nothing was scored" in run.err


def test_each_choice_of_a_job_is_a_fact_or_decides_nothing():
    shown = [field for fact in FACTS for field in fact.fields]
    fields = {
        f"{each.__name__}.{field.name}"
        for each in (Job, Evidence, Scorings, Slicing)
        for field in dataclasses.fields(each)
    }
    assert len({*shown}) == len(shown)
    assert {*shown, *DECIDE_NOTHING} == fields
    assert not {*shown} & {*DECIDE_NOTHING}


def test_fail(out):
    scored(out)
    before = content(out)
    run = called(*ONE, "--output", out, "--if_exists", "fail")
    run.assert_failed(1, "already has a complete result", "--if_exists")
    assert content(out) == before


@pytest.mark.parametrize("choice", ["skip", "fail"])
def test_a_failure_before_the_job_leaves_a_complete_result(out, tmp_path, choice):
    scored(out)
    before = content(out)
    gone = streams([tmp_path / "gone.txt"], REFERENCES[:1])
    run = called(*gone, "--output", out, "--if_exists", choice, "--max_drop=1", "--against=none")
    assert run.code == 3
    assert content(out) == before


def test_a_result_that_appears_while_a_run_starts_is_kept(out, monkeypatch):
    # Between the two looks, another run puts its result in place.
    look = reruns.existing_result

    def too_early(job):
        assert look(job) is None
        monkeypatch.undo()
        scored(out)

    monkeypatch.setattr(reruns, "existing_result", too_early)
    run = called(*ONE, "--output", out, "--if_exists", "skip", "--format=json")
    assert (run.code, run.out) == (0, (out / "scores.json").read_bytes())
    assert "nothing was scored" in run.err
    assert_files(out)


def test_it_needs_a_folder():
    called(*ONE, "--if_exists", "skip").assert_failed(2, "--if_exists skip needs --output")
