"""Wires the totals of documents to Beam.

A document can cross batches, work units and shards, and its segments need not be neighbours. So
each bundle adds up what it has of a document, and only these few sums go through a shuffle.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator

import apache_beam as beam
from apache_beam.coders import typecoders
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import Additions
from beam_bleu.transforms.totals.documents import DocumentAdder, DocumentParts, DocumentTotals
from beam_bleu.transforms.wiring.steps import BatchCoder, NamedSums, Step, giving_sums, unchanged

__all__ = ["MultiplyDocuments", "SumDocuments", "sum_documents"]

NamedDocuments = tuple[tuple[str, int], DocumentParts]
"""((the name of the totals, the bucket of the documents), the sums of these documents)."""

_MOST_BYTES = 64 << 20
"""A bundle sends the sums of its documents on when they are larger than this."""


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


class SumDocuments(beam.DoFn):
    """Adds up the documents of each bundle, to `NamedDocuments`."""

    def __init__(self, additions: Additions) -> None:
        self._additions = additions

    def start_bundle(self) -> None:
        self._adders: dict[str, DocumentAdder] = {}

    def process(self, statistics: BatchStatistics) -> Iterator[NamedDocuments]:
        for name, adding in self._additions.items():
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


class MultiplyDocuments(beam.DoFn):
    """Puts the documents of buckets together, and adds up each bundle, to `NamedSums`."""

    def __init__(self, additions: Additions) -> None:
        self._additions = additions

    def start_bundle(self) -> None:
        self._totals = {name: DocumentTotals(adding) for name, adding in self._additions.items()}

    def process(self, bucket: tuple[tuple[str, int], Iterable[DocumentParts]]) -> None:
        (name, _), parts = bucket
        self._totals[name].add(functools.reduce(operator.add, parts))

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for name, documents in self._totals.items():
            totals = documents.totals()
            if totals is not None:
                yield GlobalWindows.windowed_value((name, totals))
