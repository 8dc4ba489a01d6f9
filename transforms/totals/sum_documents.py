"""Wires the totals of documents to Beam.

A document can cross batches, work units and shards, and its segments need not be neighbours. So
each bundle adds up what it has of a document, and only these few sums go through a shuffle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import apache_beam as beam
from apache_beam.coders import typecoders
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import Adding
from beam_bleu.transforms.totals.document_sums import (
    DocumentAdder,
    DocumentSums,
    compile_document_adder,
)
from beam_bleu.transforms.totals.document_totals import DocumentTotals
from beam_bleu.transforms.wiring.add_up import NamedSums, giving_sums
from beam_bleu.transforms.wiring.coders import BatchCoder
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = [
    "MultiplyDocuments",
    "NamedDocuments",
    "SumDocuments",
    "sum_documents",
    "totals_of_documents",
]

NamedDocuments = tuple[tuple[str, int], DocumentSums]
"""((the name of the totals, the bucket of the documents), the sums of these documents)."""

_MOST_BYTES = 64 << 20
"""A bundle sends the sums of its documents on when they are larger than this."""


def sum_documents(
    statistics: PCollection[BatchStatistics], name: str, adding: Adding, step: Step = unchanged
) -> PCollection[NamedDocuments]:
    """Adds the step from `BatchStatistics` to parts of the sums of documents.

    Args:
      statistics: the statistics of batches, all in the global window.
      name: the totals to which `totals_of_documents` adds them.
      adding: what is added up.
      step: the function that makes a step of the DoFn.
    """
    typecoders.registry.register_coder(DocumentSums, BatchCoder)
    summing = beam.ParDo(step(SumDocuments(name, adding)))
    parts = statistics | f"Sum the documents for the {name}" >> summing
    parts.element_type = typehints.Tuple[typehints.Tuple[str, int], DocumentSums]
    return parts


def totals_of_documents(
    parts: Iterable[PCollection[NamedDocuments]],
    adding: Mapping[str, Adding],
    step: Step = unchanged,
) -> PCollection[NamedSums]:
    """Adds the steps from the sums of documents to parts of `MetricTotals`.

    Args:
      parts: those of each metric.
      adding: what is added up, by the name of its totals.
      step: the function that makes a step of the DoFn.
    """
    return (
        list(parts)
        | "Collect the documents" >> beam.Flatten()
        | "Put documents together" >> beam.GroupByKey()
        | "Multiply sums of documents" >> giving_sums(step(MultiplyDocuments(adding)))
    )


class SumDocuments(beam.DoFn):
    """Adds up the documents of each bundle, to `NamedDocuments`."""

    def __init__(self, name: str, adding: Adding) -> None:
        self._name = name
        self._adding = adding

    def setup(self) -> None:
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_document_adder()

    def start_bundle(self) -> None:
        self._adder: DocumentAdder | None = None

    def process(self, statistics: BatchStatistics) -> Iterator[NamedDocuments]:
        if self._adder is None:
            self._adder = DocumentAdder(self._adding)
        self._adder.add(statistics)
        if self._adder.nbytes > _MOST_BYTES:
            yield from self._parts()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for part in self._parts():
            yield GlobalWindows.windowed_value(part)

    def _parts(self) -> Iterator[NamedDocuments]:
        if self._adder is not None:
            for bucket, documents in self._adder.parts():
                yield (self._name, bucket), documents
            self._adder = None


class MultiplyDocuments(beam.DoFn):
    """Puts the documents of buckets together, and adds up each bundle, to `NamedSums`."""

    def __init__(self, adding: Mapping[str, Adding]) -> None:
        self._adding = adding

    def setup(self) -> None:
        for adding in self._adding.values():
            adding.compile()

    def start_bundle(self) -> None:
        self._totals = {name: DocumentTotals(adding) for name, adding in self._adding.items()}

    def process(self, bucket: tuple[tuple[str, int], Iterable[DocumentSums]]) -> None:
        (name, _), documents = bucket
        self._totals[name].add(documents)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for name, documents in self._totals.items():
            totals = documents.totals()
            if totals is not None:
                yield GlobalWindows.windowed_value((name, totals))
