"""The pipeline graph: from streams of lines to scores.json."""

from __future__ import annotations

from collections.abc import Iterable

import apache_beam as beam

from pipeline.document import document_bytes, result_document
from pipeline.job import Job
from pipeline.output import scores_path, write_atomically
from transforms.errors import JobError
from transforms.pairing.line_parallel import ReadLineParallel
from transforms.statistics.count_matches import CountMatches
from transforms.totals.corpus_totals import CorpusTotals
from transforms.totals.sum_totals import SumTotals, totals_by_system

__all__ = ["build"]


def build(root: beam.Pipeline, job: Job) -> None:
    """Adds a job to a pipeline: pairing, statistics, totals, score, and scores.json last."""
    paired = root | "Pair lines" >> ReadLineParallel(
        job.candidates, job.references, job.range_bytes, job.threads
    )
    totals = (
        paired.batches
        | "Count matches" >> beam.ParDo(CountMatches(job.config, job.threads))
        | "Total each batch" >> beam.FlatMap(totals_by_system)
        | "Add up totals" >> beam.CombinePerKey(SumTotals(job.config.max_ngram_order))
    )
    # Started by an element of its own: where data was lost, this step still
    # runs, finds that the count does not close, and fails the job.
    _ = (
        root
        | "Start the last step" >> beam.Create([job])
        | "Score and write"
        >> beam.Map(
            _score_and_write,
            beam.pvalue.AsList(totals),
            beam.pvalue.AsList(paired.segments),
        )
    )


def _score_and_write(
    job: Job, totals: Iterable[tuple[int, CorpusTotals]], segments: Iterable[int]
) -> None:
    by_system = dict(totals)
    planned = list(segments)
    if len(planned) != 1 or len(by_system) != len(list(totals)):
        raise JobError(
            f"the count does not close: {len(planned)} plans, {len(list(totals))} totals "
            f"of {len(by_system)} systems",
            "the runner lost or repeated data: do not trust it with this job",
        )
    document = result_document(job.systems, by_system, planned[0], job.config)
    write_atomically(scores_path(job.output), document_bytes(document))
