"""Wires adding up to Beam: from `BatchStatistics` to the totals of bundles, groups, documents."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.coders import typecoders
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.statistics.counting import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import (
    Additions,
    MetricsAdder,
    SeveralTotals,
    totals_of_rows,
)
from beam_bleu.transforms.totals.documents import DocumentAdder, DocumentParts, DocumentTotals
from beam_bleu.transforms.wiring.steps import (
    AddUp,
    BatchCoder,
    CollectBundles,
    NamedSums,
    Step,
    giving_sums,
    unchanged,
)


def sum_groups(
    statistics: PCollection[BatchStatistics],
    bases: Sequence[Basis],
    key_type: Any,
    pairs: Sequence[tuple[str, str]] = (),
    *,
    with_products: bool,
) -> PCollection[tuple[Any, SeveralTotals]]:
    """Adds the steps from `BatchStatistics` to (key of the group, its totals); if all keys are
    None, `key_type` is None. Groups without a segment are left out: a trigger can fire before
    anything has come, and Beam's sum of nothing would have a score of 0.
    """
    keyed = typehints.Tuple[key_type, SeveralTotals]
    summing = SumGroups(tuple(bases), tuple(pairs), with_products)
    return (
        statistics
        | "Sum each group" >> beam.ParDo(summing).with_output_types(keyed)
        | "Add up" >> beam.CombinePerKey(AddUp()).with_output_types(keyed)
        | "Leave out empty panes" >> beam.Filter(lambda keyed: keyed[1] is not None)
    )


class SumBundles(CollectBundles):
    def __init__(self, additions: Additions, threads: int = 1) -> None:
        super().__init__(threads)
        self._additions = additions

    def new_collector(self) -> MetricsAdder:
        return MetricsAdder(self._additions)

    def collected(self, collector: MetricsAdder) -> Iterable[NamedSums]:
        return collector.sums().items()


@dataclasses.dataclass(eq=False, repr=False)
class SumGroups(beam.DoFn):
    bases: Sequence[Basis]
    pairs: Sequence[tuple[str, str]]
    with_products: bool

    def process(self, statistics: BatchStatistics) -> Iterator[Any]:
        for group in statistics.groups:
            totals = totals_of_rows(
                statistics, self.bases, group.rows, self.pairs, with_products=self.with_products
            )
            if group.window is None:
                yield group.key, totals
            else:
                yield WindowedValue((group.key, totals), group.timestamp, (group.window,))


NamedDocuments = tuple[tuple[str, int], DocumentParts]
"""((the name of the totals, the bucket of the documents), the sums of these documents)."""

_MOST_BYTES = 64 << 20  # when the sums of its documents are larger than this, a bundle emits them


def sum_documents(
    statistics: PCollection[BatchStatistics], additions: Additions, step: Step = unchanged
) -> PCollection[NamedSums]:
    """Adds the steps from `BatchStatistics`, in the global window, to `MetricTotals` of parts."""
    typecoders.registry.register_coder(DocumentParts, BatchCoder)
    parts = statistics | "Sum the documents" >> beam.ParDo(step(SumDocuments(additions)))
    parts.element_type = typehints.Tuple[typehints.Tuple[str, int], DocumentParts]
    return (
        parts
        | "Put documents together" >> beam.GroupByKey()
        | "Multiply sums of documents" >> giving_sums(step(MultiplyDocuments(additions)))
    )


@dataclasses.dataclass(eq=False, repr=False)
class SumDocuments(beam.DoFn):
    additions: Additions

    def start_bundle(self) -> None:
        self._adders: dict[str, DocumentAdder] = {}

    def process(self, statistics: BatchStatistics) -> Iterator[NamedDocuments]:
        for name, adding in self.additions.items():
            if name not in self._adders:
                self._adders[name] = DocumentAdder(adding)
            self._adders[name].add(statistics)
            if self._adders[name].nbytes > _MOST_BYTES:
                yield from self._parts(name)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for name in [*self._adders]:
            for part in self._parts(name):
                yield GlobalWindows.windowed_value(part)

    def _parts(self, name: str) -> Iterator[NamedDocuments]:
        for bucket, documents in self._adders.pop(name).buckets():
            yield (name, bucket), documents


@dataclasses.dataclass(eq=False, repr=False)
class MultiplyDocuments(beam.DoFn):
    additions: Additions

    def start_bundle(self) -> None:
        self._totals = {name: DocumentTotals(adding) for name, adding in self.additions.items()}

    def process(self, bucket: tuple[tuple[str, int], Iterable[DocumentParts]]) -> None:
        (name, _), parts = bucket
        self._totals[name].add(functools.reduce(operator.add, parts))

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for name, documents in self._totals.items():
            totals = documents.totals()
            if totals is not None:
                yield GlobalWindows.windowed_value((name, totals))
