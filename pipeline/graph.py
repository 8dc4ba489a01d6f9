"""The pipeline graph: from streams of lines to scores.json."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import apache_beam as beam

from pipeline.document import document_bytes, result_document
from pipeline.job import Job
from pipeline.output import scores_path, write_atomically
from transforms.errors import JobError
from transforms.pairing.line_parallel import ReadLineParallel
from transforms.statistics.count_matches import CountMatches
from transforms.statistics.segment_statistics import SegmentStatistics
from transforms.totals.corpus_totals import CorpusTotals
from transforms.totals.sum_totals import SumTotals, totals_by_system

__all__ = ["build"]


def build(root: beam.Pipeline, job: Job) -> None:
    """Adds a job to a pipeline: pairing, statistics, totals, score, and scores.json last.

    A model of the tokenizer's travels once, with what counts.
    """
    paired = root | "Pair lines" >> ReadLineParallel(
        job.candidates, job.references, job.range_bytes, job.threads
    )
    totals = (
        paired.batches
        | "Count matches"
        >> beam.ParDo(CountMatches(job.config, job.max_order, job.threads)).with_output_types(
            SegmentStatistics
        )
        | "Total each batch" >> beam.FlatMap(totals_by_system)
        | "Add up totals" >> beam.CombinePerKey(SumTotals(job.max_order))
    )
    # The last step has an element of its own, the job: where the other data was
    # lost it still runs, finds that the count does not close, and fails.
    scoring = dataclasses.replace(job, config=job.config.for_scoring())
    ends = {
        "job": root | "Name the job" >> beam.Create([scoring], reshuffle=False),
        "totals": totals,
        "segments": paired.segments,
    }
    _ = (
        {name: end | f"Send on the {name}" >> beam.Map(_keyed) for name, end in ends.items()}
        | "Bring it together" >> beam.CoGroupByKey()
        | "Score and write" >> beam.MapTuple(_score_and_write)
    )


def _keyed(value: Any) -> tuple[int, Any]:
    return 0, value


def _score_and_write(key: int, ends: Mapping[str, Iterable[Any]]) -> None:
    totals: list[tuple[int, CorpusTotals]] = list(ends["totals"])
    segments: list[int] = list(ends["segments"])
    by_system = dict(totals)
    if len(segments) != 1 or len(by_system) != len(totals):
        raise JobError(
            f"the count does not close: {len(segments)} plans, "
            f"{len(totals)} totals of {len(by_system)} systems",
            "the runner lost or repeated data: do not trust it with this job",
        )
    (job,) = ends["job"]
    document = result_document(job.systems, by_system, segments[0], job.config, job.presets)
    write_atomically(scores_path(job.output), document_bytes(document))
