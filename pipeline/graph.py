"""The pipeline graph: from streams of lines to scores.json, and to segment scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import apache_beam as beam

from beam_bleu.pipeline.document import document_bytes, result_document
from beam_bleu.pipeline.job import Job, Results
from beam_bleu.pipeline.marked_steps import marked
from beam_bleu.pipeline.output_folder import scores_path
from beam_bleu.pipeline.publication import in_place
from beam_bleu.pipeline.receipt import write_receipt
from beam_bleu.pipeline.segment_shards import WriteShards, check_rows
from beam_bleu.pipeline.storage import write_atomically
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.line_parallel.corpus import CorpusFacts
from beam_bleu.transforms.pairing.line_parallel.read import ReadLineParallel
from beam_bleu.transforms.score.score_segments import ScoreSegments
from beam_bleu.transforms.score.segment_scores import segment_scores_schema
from beam_bleu.transforms.statistics.count_matches import CountMatches
from beam_bleu.transforms.statistics.segment_statistics import SegmentStatistics
from beam_bleu.transforms.totals.corpus_totals import CorpusTotals
from beam_bleu.transforms.totals.sum_totals import SumTotals, totals_by_system

__all__ = ["build"]


def build(root: beam.Pipeline, job: Job) -> None:
    """Adds a job to a pipeline: pairing, statistics, totals, score, and scores.json last.

    The tokenizer's model is sent only once, with the step that counts.
    """
    scorings = job.scorings
    paired = root | "Pair lines" >> ReadLineParallel(
        job.candidates, job.references, job.range_bytes, job.threads, job.expected, marked
    )
    counted = paired.batches | "Count matches" >> beam.ParDo(
        marked(CountMatches(job.config.text, scorings.counted_order, job.threads))
    ).with_output_types(SegmentStatistics)
    totals = (
        counted
        | "Total each batch" >> beam.FlatMap(totals_by_system)
        | "Add up totals" >> beam.CombinePerKey(SumTotals(scorings.counted_order))
    )
    # The last step always gets one element: what to do with the sums. So it runs even if a
    # runner has lost the other data; then it finds that the numbers of segments differ, and fails.
    ends = {
        "results": root | "Name the job" >> beam.Create([job.results], reshuffle=False),
        "totals": totals,
        "facts": paired.facts,
    }
    if scorings.segments is not None:
        # Fused with the counting: only the names of files cross a shuffle.
        ends["shards"] = (
            counted
            | "Score segments"
            >> beam.ParDo(marked(ScoreSegments(scorings.segments, job.systems, job.threads)))
            | "Write segment scores"
            >> beam.ParDo(
                marked(WriteShards(job.output, job.run, segment_scores_schema(scorings.segments)))
            ).with_output_types(str)
        )
    _ = (
        {name: end | f"Send on the {name}" >> beam.Map(_keyed) for name, end in ends.items()}
        | "Bring it together" >> beam.CoGroupByKey()
        | "Score and write" >> beam.ParDo(marked(_ScoreAndWrite()))
    )


def _keyed(value: Any) -> tuple[int, Any]:
    return 0, value


class _ScoreAndWrite(beam.DoFn):
    def process(self, gathered: tuple[int, Mapping[str, Iterable[Any]]]) -> None:
        _score_and_write(*gathered)


def _score_and_write(key: int, ends: Mapping[str, Iterable[Any]]) -> None:
    totals: list[tuple[int, CorpusTotals]] = list(ends["totals"])
    facts: list[CorpusFacts] = list(ends["facts"])
    by_system = dict(totals)
    if len(facts) != 1 or len(by_system) != len(totals):
        raise JobError(
            f"the last step got {len(facts)} plans, and {len(totals)} totals of "
            f"{len(by_system)} systems: it must get 1 plan, and 1 total of each system",
            "the runner lost or repeated data: do not use it for this job",
        )
    (corpus,) = facts
    results: Results
    (results,) = ends["results"]
    systems, output, run = results.systems, results.output, results.run
    document = result_document(systems, by_system, corpus.segments, results.scorings)
    document["warnings"] = [*corpus.warnings, *document["warnings"]]
    data = document_bytes(document)
    shards: list[str] = list(ends.get("shards", ()))
    if results.scorings.segments is not None:
        check_rows(output, run, shards, corpus.segments * len(systems))
    if results.receipt:
        # Before the result: if this fails, the previous result stays. The launcher reads the
        # receipt only after the job is done.
        write_receipt(results.receipt, data, corpus.notes)
    # Also without segment scores: those of a previous run would not belong to these scores.
    with in_place(output, run, shards, data):
        write_atomically(scores_path(output), data)
