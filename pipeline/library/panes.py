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
from beam_bleu.pipeline.scoring.batch_sums import additions, of_documents
from beam_bleu.pipeline.scoring.totals import Ends
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import MetricsAdder
from beam_bleu.transforms.totals.documents import DocumentAdder, DocumentTotals
from beam_bleu.transforms.wiring.steps import AddUp
from beam_bleu.transforms.wiring.sums import Sums, added

__all__ = ["ends_of_panes"]


@dataclasses.dataclass(frozen=True)
class PaneSums(Sums):
    """Everything that a job adds up, of a part of a pane.

    Attributes:
      segments: the number of segments.
      named: the sums, by their end; those of documents by `_of_documents` of it.
    """

    segments: int
    named: Mapping[str, Sums]

    def __add__(self, other: PaneSums) -> PaneSums:
        return PaneSums(self.segments + other.segments, added(self.named, other.named))

    @property
    def nbytes(self) -> int:
        """About how many bytes large arrays have."""
        return sum(sums.nbytes for sums in self.named.values())


def _of_documents(end: str) -> str:
    return f"documents of {end}"


def ends_of_panes(statistics: PCollection[BatchStatistics], job: Job) -> PCollection[Ends]:
    """Adds the steps from the statistics of batches to the ends of each window and pane.

    A pane without a segment has none.
    """
    keyed = typehints.Tuple[type(None), PaneSums]
    return (
        statistics
        | "Sum each batch" >> beam.ParDo(_SumBatch(job)).with_output_types(keyed)
        | "Add up" >> beam.CombinePerKey(AddUp()).with_output_types(keyed)
        | "Take the ends" >> beam.ParDo(_TakeEnds(job)).with_output_types(typehints.Any)
    )


class _SumBatch(beam.DoFn):
    """Maps each `BatchStatistics` to (None, its `PaneSums`)."""

    def __init__(self, job: Job) -> None:
        self._additions = additions(job)

    def process(self, statistics: BatchStatistics) -> Iterator[tuple[None, PaneSums]]:
        if not len(statistics):
            return
        adder = MetricsAdder(self._additions)
        adder.add(statistics)
        sums = adder.sums()
        for end, adding in of_documents(self._additions).items():
            documents = DocumentAdder(adding)
            documents.add(statistics)
            sums[_of_documents(end)] = documents.sums()
        yield None, PaneSums(len(statistics), sums)


class _TakeEnds(beam.DoFn):
    """Maps (None, the `PaneSums` of a pane) to the `Ends` of a job."""

    def __init__(self, job: Job) -> None:
        self._systems = tuple(job.source.systems)
        self._job = job.of_last_step
        self._additions = additions(job)

    def process(self, keyed: tuple[None, PaneSums | None]) -> Iterator[Ends]:
        _, pane = keyed
        if pane is None:  # a pane without a table: Beam gives the sum of nothing
            return
        ends: dict[str, list[Any]] = {
            "definition": [self._job],
            "segments": [FoundSegments(pane.segments, systems=self._systems)],
            **{name: [sums] for name, sums in pane.named.items()},
        }
        for end, adding in of_documents(self._additions).items():
            (documents,) = ends.pop(_of_documents(end))
            totals = DocumentTotals(adding)
            totals.add(documents)
            ends[end] = [ends[end][0] + totals.totals()]
        yield ends
