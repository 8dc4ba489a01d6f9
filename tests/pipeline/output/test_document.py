"""The result document: its form, its check of the number of segments, and how it is written."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import resource
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from command_line import EXAMPLE, EXAMPLES, called, streams, write_lines
from made_units import named_columns
from result_folder import RECORDS
from scoring import totals_of_sums

from beam_bleu.pipeline.folder.storage import write_atomically
from beam_bleu.pipeline.output.run_results import RunResult, hand_over, result_of
from beam_bleu.pipeline.result.document import document_bytes, document_of, read_result
from beam_bleu.pipeline.scoring.job import Evidence, Job, JobMetrics, Scorings
from beam_bleu.pipeline.scoring.scored import scored
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.line_parallel.source import LineParallel
from beam_bleu.transforms.pairing.paired import Tally
from beam_bleu.transforms.statistics import batch_steps
from beam_bleu.transforms.statistics.batch_steps import CountMatches
from beam_bleu.transforms.totals.group_totals import CorpusSums, MetricTotals

CONFIG = BleuConfig(max_ngram_order=2)
TEXT = CONFIG.text.name
SCORINGS = {"bleu": Scorings("bleu", TEXT, CONFIG.metric)}
WITHOUT = Evidence(uncertainty=False)
PLANNED = {"LIUM": 2, "NMT": 2}
SUMS = CorpusSums(
    columns=named_columns(
        2, segments=2, candidate_length=8, ref_shortest=10, matches_1=6, matches_2=3
    ),
    min_reference_count=1,
    max_reference_count=1,
    candidate_bytes=30,
    reference_bytes=40,
)


def totals_of(sums: Mapping[str, CorpusSums], planned: Mapping[str, int]) -> Totals:
    (segments,) = set(planned.values())
    return Totals(
        tuple(planned),
        Tally(segments, planned),
        {"bleu": {TEXT: MetricTotals(totals_of_sums(sums))}},
    )


def document_of_totals(totals: Totals) -> dict[str, Any]:
    return document_of(scored(totals, SCORINGS, evidence=WITHOUT))


def with_segments(segments: int) -> CorpusSums:
    return dataclasses.replace(SUMS, columns=(segments, *SUMS.columns[1:]))


def test_counters_add_up_the_systems_and_count_the_references_once():
    other = dataclasses.replace(SUMS, columns=(*SUMS.columns[:-2], 1, 1), candidate_bytes=7)
    sums = {"NMT": other, "LIUM": SUMS}
    document = document_of_totals(totals_of(sums, PLANNED))
    assert document["counters"] == {"segments": 2, "empty_candidates": 1, "bytes": 77}
    assert [score["system"] for score in document["scores"]] == ["LIUM", "NMT"]


def test_the_bytes_are_json_in_utf8_with_a_final_newline():
    totals = totals_of({"größe 北京": SUMS}, {"größe 北京": 2})
    document = document_of_totals(totals)
    data = document_bytes(document)
    assert data.endswith(b"}\n")
    assert not data.endswith(b"\n\n")
    assert "größe 北京".encode() in data
    read = json.loads(data)
    assert read["scores"][0]["matches"] == [6, 3]
    assert read["scores"][0]["score"] == document["scores"][0]["score"]  # not a digit is lost
    assert read["scores"][0]["slice"] is None


@pytest.mark.parametrize(
    ("sums", "scored", "reason"),
    [
        ({"LIUM": SUMS}, "0 of system NMT", "a system is missing"),
        ({"LIUM": with_segments(3), "NMT": SUMS}, "3 of system LIUM", "more"),
    ],
)
def test_numbers_of_segments_that_differ_fail_the_job(sums, scored, reason):
    with pytest.raises(JobError) as error:
        document_of_totals(totals_of(sums, PLANNED))
    assert error.value.cause == (
        "the number of segments scored is not the number planned: "
        f"2 were planned, {scored} were scored"
    ), reason


# Pipelines that lose or repeat data


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


# The file


@contextlib.contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """The system refuses to write more than this number of bytes to a file, like a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "scores.json"
    path.write_bytes(b"older")
    before = sorted(os.listdir(tmp_path))
    with files_no_larger_than(1000), pytest.raises(JobError) as error:
        write_atomically(str(path), b"x" * 100_000)
    assert error.value.cause.startswith(f"{path} cannot be written: ")
    assert sorted(os.listdir(tmp_path)) == before  # no temporary file is left
    assert path.read_bytes() == b"older"


def test_without_a_handover_the_job_has_failed(tmp_path):
    folder = str(tmp_path / "out")
    job = Job(LineParallel((), (), ()), JobMetrics(SCORINGS, {}, CONFIG.text), output=folder)
    write_atomically(f"{folder}/scores.json", b"older")
    with pytest.raises(JobError, match=f"the job wrote no {folder}/scores.json"):
        result_of(job)
    scores = '{"metrics": [], "scores": [], "warnings": ["größe"]}'.encode()
    result = RunResult.of(scores, ["a note"])
    hand_over(folder, job.run, result)
    assert result_of(job) == result


LANGUAGES = EXAMPLES / "languages"
OF_LANGUAGES = [
    *(LANGUAGES / "references.txt", "--labels", f"pair={LANGUAGES}/pairs.txt"),
    *("--language_column", "pair", "-i", *sorted((LANGUAGES / "systems").iterdir())),
]


@pytest.mark.parametrize(
    "arguments",
    [
        [*EXAMPLE, "-m", "bleu", "chrf", "ter", "--compare=all", "--compare_presets=all"],
        [*EXAMPLE, "--resample=bootstrap", "--resamples=9", "--slice_by=length", "--partition=x"],
        [*EXAMPLE, "--no_uncertainty", "--segment_scores", "--examples=2"],
        [*OF_LANGUAGES, "-m", "bleu", "chrf", "--segment_scores", "--compare=all"],
    ],
)
def test_a_document_follows_from_its_rows(arguments, tmp_path):
    run = called(*arguments, "--format=json", "--output", tmp_path)
    assert run.code == 0
    assert document_bytes(document_of(read_result(run.document))) == run.out
