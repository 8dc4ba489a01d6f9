"""The handover, from which a launcher gets the result of its own run."""

from __future__ import annotations

import dataclasses
import os

import pytest
from apache_beam import Pipeline
from command_line import EXAMPLE, called
from result_folder import RECORDS, RESULT

import beam_bleu.pipeline.graph
from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.graph import build
from beam_bleu.pipeline.output.run_results import RunResult, awaited, hand_over, result_of
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.notices import Notice

ASKED = [*map(str, EXAMPLE), "--segment_scores"]

NOTHING = RunResult(b"{}", Result((), (), ()))


def run_on_an_engine(output: str) -> bytes:
    """The launcher's result when launcher and workers share only the output folder."""
    given = parse([*ASKED, "--output", output]).job
    with awaited(given, in_process=False) as job:
        with Pipeline("FnApiRunner") as graph:
            build(graph, job)
        return result_of(job).scores


def test_nothing_is_left_of_it(tmp_path):
    out = tmp_path / "out"
    for _ in range(2):
        assert run_on_an_engine(str(out)) == (out / "scores.json").read_bytes()
        assert sorted(os.listdir(out)) == [*RESULT, "segment_scores"]


def test_it_is_removed_after_a_failure_too(tmp_path):
    job = parse([*ASKED, "--output", str(tmp_path / "out")]).job

    def fail() -> None:
        with awaited(job, in_process=False) as given:
            hand_over(given.output, given.run, NOTHING)
            raise JobError("stopped", "start it again")

    with pytest.raises(JobError, match="stopped"):
        fail()
    assert os.listdir(tmp_path / "out") == []


def test_a_last_step_that_runs_again_changes_nothing(tmp_path, monkeypatch):
    once = beam_bleu.pipeline.graph._score_and_write

    def twice(*arguments):
        once(*arguments)
        once(*arguments)

    plain = called(*ASKED, "--format=json", "--output", tmp_path / "once")
    monkeypatch.setattr(beam_bleu.pipeline.graph, "_score_and_write", twice)
    again = called(*ASKED, "--format=json", "--output", tmp_path / "twice")
    assert (again.out, again.err) == (plain.out, plain.err) != (b"", "")
    assert sorted(os.listdir(tmp_path / "twice")) == sorted([*RESULT, *RECORDS, "segment_scores"])
    assert len(os.listdir(tmp_path / "twice" / "segment_scores")) == 1


def test_notes_go_to_stderr_and_warnings_into_the_document_too(tmp_path, monkeypatch):
    score_and_write = beam_bleu.pipeline.graph._score_and_write
    notice = Notice("nul", "references 1", count=2)

    def with_remarks(ends):
        (found,) = ends["segments"]
        found = dataclasses.replace(found, notices=(notice,), notes=("a note",))
        score_and_write({**ends, "segments": [found]})

    monkeypatch.setattr(beam_bleu.pipeline.graph, "_score_and_write", with_remarks)
    run = called(*EXAMPLE, "--format=json", "--output", tmp_path)
    assert run.err.splitlines() == [
        "beam-bleu: warning: a note",
        f"beam-bleu: warning: {notice.sentence}",
    ]
    assert run.document["warnings"] == [notice.sentence]
    assert b"a note" not in run.out
    assert (tmp_path / "scores.json").read_bytes() == run.out
