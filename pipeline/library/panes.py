"""The steps from batches in any windows to the ends of a job, one for each window and pane.

A trigger fires for each key. So everything that a job adds up is one value here, with one key: then
a pane has all of it, or none. `batch_sums` adds up each part by itself, which can hold more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.scoring.batch_sums import Addition, additions, counted_of
from beam_bleu.pipeline.scoring.ends import EXAMPLES, Ends
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.statistics.batch_statistics import MetricStatistics
from beam_bleu.transforms.totals.batch_adder import BatchAdder
from beam_bleu.transforms.totals.document_sums import (
    DocumentParts,
    compile_document_adder,
    documents_of,
)
from beam_bleu.transforms.totals.document_totals import DocumentTotals
from beam_bleu.transforms.wiring.add_up import AddUp
from beam_bleu.transforms.wiring.sums import Sums

__all__ = ["ends_of_panes"]


@dataclasses.dataclass(frozen=True)
class PaneSums(Sums):
    """Everything that a job adds up, of a part of a pane.

    Attributes:
      segments: the number of segments.
      named: the sums, by their end; those of documents by the end of their totals, too.
    """

    segments: int
    named: Mapping[tuple[str, bool], Sums]

    def __add__(self, other: PaneSums) -> PaneSums:
        named = dict(self.named)
        for name, sums in other.named.items():
            named[name] = named[name] + sums if name in named else sums
        return PaneSums(self.segments + other.segments, named)

    @property
    def nbytes(self) -> int:
        """About how many bytes large arrays have."""
        return sum(sums.nbytes for sums in self.named.values())


def ends_of_panes(statistics: PCollection[MetricStatistics], job: Job) -> PCollection[Ends]:
    """Adds the steps from the statistics of batches to the ends of each window and pane.

    A pane without a segment has none.

    Args:
      statistics: the statistics of batches, as `batch_sums.counting` gives them.
      job: what is asked for. Its source names all systems.
    """
    keyed = typehints.Tuple[type(None), PaneSums]
    return (
        statistics
        | "Sum each batch" >> beam.ParDo(_SumBatch(job)).with_output_types(keyed)
        | "Add up" >> beam.CombinePerKey(AddUp()).with_output_types(keyed)
        | "Take the ends" >> beam.ParDo(_TakeEnds(job)).with_output_types(typehints.Any)
    )


class _SumBatch(beam.DoFn):
    """Maps each `MetricStatistics` to (None, its `PaneSums`)."""

    def __init__(self, job: Job) -> None:
        places = {key: place for place, key in enumerate(counted_of(job))}
        self._additions: list[tuple[int, Addition]] = [
            (places[metric.name, addition.text], addition)
            for metric in job.metrics
            for addition in additions(job, metric)
        ]

    def setup(self) -> None:
        # Once in a worker, before its first batch, as for the kernel.
        for _, addition in self._additions:
            addition.adding.compile()
            if addition.adding.documents is not None:
                compile_document_adder()

    def process(self, statistics: MetricStatistics) -> Iterator[tuple[None, PaneSums]]:
        segments = len(statistics.metrics[0])
        if not segments:
            return
        named: dict[tuple[str, bool], Sums] = {}
        for place, addition in self._additions:
            adding = addition.adding
            adder = BatchAdder(adding)
            adder.add(statistics.metrics[place])
            named[addition.end, False] = adder.totals()
            if adding.documents is not None:
                named[addition.end, True] = documents_of(statistics.metrics[place], adding)
        if statistics.picked is not None:
            named[EXAMPLES, False] = statistics.picked
        yield None, PaneSums(segments, named)


class _TakeEnds(beam.DoFn):
    """Maps (None, the `PaneSums` of a pane) to the `Ends` of a job."""

    def __init__(self, job: Job) -> None:
        self._systems = tuple(job.source.systems)
        self._adding = {
            addition.end: addition.adding
            for metric in job.metrics
            for addition in additions(job, metric)
        }

    def setup(self) -> None:
        for adding in self._adding.values():
            adding.compile()

    def process(self, keyed: tuple[None, PaneSums | None]) -> Iterator[Ends]:
        _, pane = keyed
        if pane is None:  # a pane without a table: Beam gives the sum of nothing
            return
        ends: dict[str, list[Any]] = {
            "segments": [FoundSegments(pane.segments, systems=self._systems)]
        }
        for (end, of_documents), sums in pane.named.items():
            if not of_documents:
                ends[end] = [sums]
        for (end, of_documents), sums in pane.named.items():
            if of_documents:
                assert isinstance(sums, DocumentParts)
                documents = DocumentTotals(self._adding[end])
                documents.add(sums.parts)
                ends[end] = [ends[end][0] + documents.totals()]
        yield ends
