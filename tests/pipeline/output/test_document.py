"""The result document, its check of numbers of segments, and the way to the launcher."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from apache_beam import Pipeline
from command_line import EXAMPLE, EXAMPLES, called, streams, write_lines
from made_units import named_columns
from result_folder import RECORDS, RESULT

import beam_bleu.pipeline.graph
from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.folder.storage import write_atomically
from beam_bleu.pipeline.graph import build
from beam_bleu.pipeline.output.run_results import RunResult, awaited, hand_over, handed_over
from beam_bleu.pipeline.result.document import document_bytes, document_of, read_result
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.scoring.job import Evidence, Job, JobMetrics, Scorings
from beam_bleu.pipeline.scoring.scored import scored
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.paired import Tally
from beam_bleu.transforms.statistics import batch_steps
from beam_bleu.transforms.statistics.batch_steps import CountMatches
from beam_bleu.transforms.totals.group_totals import FIRST_REFERENCE, GroupTotals, MetricTotals

CONFIG = BleuConfig(max_ngram_order=2)
TEXT = CONFIG.text.name
SCORINGS = {"bleu": Scorings("bleu", TEXT, CONFIG.metric)}
COLUMNS = named_columns(
    2, segments=2, candidate_length=8, ref_shortest=10, matches_1=6, matches_2=3
)


def document_of_sums(sums: Mapping[str, tuple[tuple[int, ...], int]]) -> dict[str, Any]:
    """The document of two systems that should have two segments each.

    Each system has columns and the bytes of its candidates; references have 40 bytes.
    """
    planned = {"LIUM": 2, "größe 北京": 2}
    width = len(COLUMNS)
    total = GroupTotals.zero(width)
    for system, (columns, size) in sums.items():
        common = np.array([[[columns[SEGMENTS], *columns]]])
        crosses = np.zeros((1, 0, width, width), np.int64)
        facts = np.array([[[size, 40, 1, 1, *[0] * (FIRST_REFERENCE - 4)]]])
        total += GroupTotals(width, (system,), (None,), (), common, crosses, None, facts)
    metrics = {"bleu": {TEXT: MetricTotals(total)}}
    totals = Totals(tuple(planned), Tally(2, planned), metrics)
    return document_of(scored(totals, SCORINGS, evidence=Evidence(uncertainty=False)))


def test_the_document_is_utf8_and_has_the_systems_in_the_order_of_the_command():
    document = document_of_sums({"größe 北京": (COLUMNS, 30), "LIUM": (COLUMNS, 30)})
    assert document_bytes(document).endswith(b"}\n")
    assert "größe 北京".encode() in document_bytes(document)
    assert [score["system"] for score in document["scores"]] == ["LIUM", "größe 北京"]


def test_numbers_of_segments_that_differ_fail_the_job():
    more = (3, *COLUMNS[1:]), 30
    for sums, found in (
        ({"LIUM": (COLUMNS, 30)}, "0 of system größe 北京"),
        ({"LIUM": more, "größe 北京": (COLUMNS, 30)}, "3 of system LIUM"),
    ):
        with pytest.raises(JobError) as error:
            document_of_sums(sums)
        assert error.value.cause == (
            "the number of segments scored is not the number planned: "
            f"2 were planned, {found} were scored"
        )


class RepeatsABatch(CountMatches):
    def work(self, batch):
        is_the_one = "line 20 of the corpus" in batch.candidates[0].to_pylist()
        return [*super().work(batch)] * (2 if is_the_one else 1)


def test_a_step_that_repeats_a_batch_fails_the_job(tmp_path, monkeypatch):
    lines = [f"line {i} of the corpus" for i in range(50)]
    a, b, reference = (write_lines(tmp_path / f"{name}.txt", lines) for name in ("a", "b", "r"))
    monkeypatch.setattr(batch_steps, "CountMatches", RepeatsABatch)
    out = tmp_path / "out"
    run = called(*streams([a, b], [reference], "--range_bytes=500", "--threads=2", "--output", out))
    run.assert_failed(1, "the runner lost or repeated data")
    assert re.search("50 were planned, (5[1-9]|[6-9].) of system a were scored", run.err)
    assert sorted(os.listdir(out)) == RECORDS


def test_without_a_handover_the_job_has_failed(tmp_path):
    folder = str(tmp_path / "out")
    job = Job(LineParallel((), (), ()), JobMetrics(SCORINGS, {}, CONFIG.text), output=folder)
    write_atomically(f"{folder}/scores.json", b"older")
    with pytest.raises(JobError, match=f"the job wrote no {folder}/scores.json"):
        handed_over(job)
    scores = '{"metrics": [], "scores": [], "warnings": ["größe"]}'.encode()
    result = RunResult.of(scores, ["a note"])
    hand_over(folder, job.run, result)
    assert handed_over(job) == result


LANGUAGES = EXAMPLES / "languages"
OF_LANGUAGES = [
    *(LANGUAGES / "references.txt", "--labels", f"pair={LANGUAGES}/pairs.txt"),
    *("--language_column", "pair", "-i", *sorted((LANGUAGES / "systems").iterdir())),
]


@pytest.mark.parametrize(
    "arguments",
    [
        [
            *(*EXAMPLE, "-m", "bleu", "chrf", "ter", "--compare_presets=all"),
            *("--slice_by=length", "--resample=bootstrap", "--resamples=9", "--partition=x"),
        ],
        [*EXAMPLE, "--no_uncertainty", "--segment_scores", "--examples=2"],
        [*OF_LANGUAGES, "-m", "bleu", "chrf", "--segment_scores", "--compare=all"],
    ],
    ids=["presets", "examples", "languages"],
)
def test_a_document_follows_from_its_rows(arguments, tmp_path):
    run = called(*arguments, "--format=json", "--output", tmp_path)
    assert run.code == 0
    assert document_bytes(document_of(read_result(run.document))) == run.out


# How the launcher gets the result of its own run


ASKED = [*map(str, EXAMPLE), "--segment_scores"]


def test_nothing_is_left_of_the_handover(tmp_path):
    """Launcher and workers share only the output folder."""
    out = tmp_path / "out"
    given = parse([*ASKED, "--output", str(out)]).job
    for result in ([], [*RESULT, "segment_scores"]):
        with contextlib.suppress(JobError), awaited(given, in_process=False) as job:
            if not result:
                hand_over(job.output, job.run, RunResult(b"{}", Result((), (), ())))
                raise JobError("stopped", "start it again")
            with Pipeline("FnApiRunner") as graph:
                build(graph, job)
            assert handed_over(job).scores == (out / "scores.json").read_bytes()
        assert sorted(os.listdir(out)) == result


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
