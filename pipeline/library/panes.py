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
from beam_bleu.pipeline.scoring.batch_sums import Addition, additions, baseline_of, counted_of
from beam_bleu.pipeline.scoring.ends import EXAMPLES, Ends, end_of
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.pairing.paired import FoundSegments
from beam_bleu.transforms.statistics.batch_statistics import MetricStatistics
from beam_bleu.transforms.totals.moments.document_moments import DocumentMoments
from beam_bleu.transforms.totals.moments.document_parts import (
    DocumentParts,
    documents_of,
)
from beam_bleu.transforms.totals.moments.document_sums import compile_document_adder
from beam_bleu.transforms.totals.moments.unit_adder import compile_moments
from beam_bleu.transforms.wiring.add_up import AddUp
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS, Sums

__all__ = ["ends_of_panes"]


@dataclasses.dataclass(frozen=True)
class PaneSums(Sums):
    """Everything that a job adds up, of a part of a pane.

    Attributes:
      segments: the number of segments.
      named: the sums, by their end and system.
    """

    segments: int
    named: Mapping[tuple[str, str], Sums]

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
        self._documents: list[tuple[int, str, Basis]] = []
        if job.evidence.documents is not None and job.evidence.needs_moments:
            self._documents = [
                (places[name, scorings.text], end_of("moments", scorings), scorings.basis)
                for name, scorings in job.scorings.items()
            ]
        self._slicing = job.slicing
        self._labels = tuple(job.source.labels)
        self._label = job.evidence.documents or ""

    def setup(self) -> None:
        # Once in a worker, before its first batch, as for the kernel.
        for _, addition in self._additions:
            addition.adding.compile_adder()
        if self._documents:
            compile_document_adder()

    def process(self, statistics: MetricStatistics) -> Iterator[tuple[None, PaneSums]]:
        segments = len(statistics.metrics[0])
        if not segments:
            return
        named: dict[tuple[str, str], Sums] = {}
        for place, addition in self._additions:
            adder = addition.adding.new_adder()
            adder.add(statistics.metrics[place])
            for system, sums in adder.by_system().items():
                named[addition.end, system] = sums
        for place, end, basis in self._documents:
            named[end, ALL_SYSTEMS] = documents_of(
                statistics.metrics[place], self._slicing, self._labels, self._label, basis
            )
        if statistics.picked is not None:
            named[EXAMPLES, ALL_SYSTEMS] = statistics.picked
        yield None, PaneSums(segments, named)


class _TakeEnds(beam.DoFn):
    """Maps (None, the `PaneSums` of a pane) to the `Ends` of a job."""

    def __init__(self, job: Job) -> None:
        self._systems = tuple(job.source.systems)
        self._bases = {
            end_of("moments", scorings): scorings.basis for scorings in job.scorings.values()
        }
        self._most = job.slicing.most
        self._baseline = baseline_of(job)
        self._with_all_pairs = job.evidence.needs_all_pairs

    def setup(self) -> None:
        compile_moments()

    def process(self, keyed: tuple[None, PaneSums | None]) -> Iterator[Ends]:
        _, pane = keyed
        if pane is None:  # a pane without a table: Beam gives the sum of nothing
            return
        ends: dict[str, list[Any]] = {
            "segments": [FoundSegments(pane.segments, systems=self._systems)]
        }
        for (end, system), sums in pane.named.items():
            if isinstance(sums, DocumentParts):
                moments = DocumentMoments(
                    self._bases[end],
                    self._most,
                    self._baseline,
                    with_all_pairs=self._with_all_pairs,
                )
                moments.add(sums.parts)
                ends.setdefault(end, []).append((system, moments.moments()))
            else:
                ends.setdefault(end, []).append((system, sums))
        yield ends
