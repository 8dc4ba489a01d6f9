"""The pipeline graph: from a source to scores.json, and to segment scores if asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import apache_beam as beam

from beam_bleu.pipeline.document import document_bytes, result_document
from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output import scores_path
from beam_bleu.pipeline.publication import in_place
from beam_bleu.pipeline.receipt import write_receipt
from beam_bleu.pipeline.segment_shards import WriteShards, check_rows
from beam_bleu.pipeline.storage import write_atomically
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.score.score_segments import ScoreSegments
from beam_bleu.transforms.score.segment_scores import segment_scores_schema
from beam_bleu.transforms.totals.corpus_totals import CorpusTotals
from beam_bleu.transforms.totals.sum_totals import count_and_add_up

__all__ = ["build"]


def build(root: beam.Pipeline, job: Job) -> None:
    """Adds a job to a pipeline: pairing, statistics, totals, score, and scores.json last.

    A model of the tokenizer's travels once, with what counts.
    """
    paired = root | job.source.pair(job.threads)
    counted = count_and_add_up(
        paired.batches, job.config, job.max_order, job.threads, key_type=None
    )
    # The last step has an element of its own, the job: where the other data was
    # lost it still runs, finds that the count does not close, and fails.
    ends = {
        "job": root | "Name the job" >> beam.Create([job.for_scoring()], reshuffle=False),
        "totals": counted.totals,
        "segments": paired.segments,
    }
    if job.segment_config is not None:
        # Fused with the counting: only the names of files cross a shuffle.
        ends["shards"] = (
            counted.statistics
            | "Score segments"
            >> beam.ParDo(ScoreSegments(job.segment_config, job.source.systems, job.threads))
            | "Write segment scores"
            >> beam.ParDo(
                WriteShards(job.output, job.run, segment_scores_schema(job.segment_config))
            ).with_output_types(str)
        )
    _ = (
        {name: end | f"Send on the {name}" >> beam.Map(_keyed) for name, end in ends.items()}
        | "Bring it together" >> beam.CoGroupByKey()
        | "Score and write" >> beam.MapTuple(_score_and_write)
    )


def _keyed(value: Any) -> tuple[int, Any]:
    return 0, value


def _score_and_write(key: int, ends: Mapping[str, Iterable[Any]]) -> None:
    totals: list[tuple[tuple[int, None], CorpusTotals]] = list(ends["totals"])
    found: list[FoundSegments] = list(ends["segments"])
    by_system = {system: of_system for (system, _), of_system in totals}
    if len(found) != 1 or len(by_system) != len(totals):
        raise JobError(
            f"the count does not close: {len(found)} plans, "
            f"{len(totals)} totals of {len(by_system)} systems",
            "the runner lost or repeated data: do not trust it with this job",
        )
    (segments,) = found
    (job,) = ends["job"]
    document = result_document(
        job.source.systems, by_system, segments.count, job.config, job.presets, job.segment_config
    )
    document["warnings"] = [*segments.warnings, *document["warnings"]]
    data = document_bytes(document)
    shards: list[str] = list(ends.get("shards", ()))
    if job.segment_config is not None:
        check_rows(job.output, job.run, shards, segments.count * len(job.source.systems))
    if job.receipt:
        # First: should it fail, the former result stays. Nobody reads it before the job is done.
        write_receipt(job.receipt, data, segments.notes)
    # Without segment scores, too: those of a former run would be of other scores.
    with in_place(job.output, job.run, shards, data):
        write_atomically(scores_path(job.output), data)
