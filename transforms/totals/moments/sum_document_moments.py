"""Wires the moments of documents to Beam.

A document can cross batches, work units and shards, and its segments need not be neighbours. So
each bundle adds up what it has of a document, and only these few sums go through a shuffle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import apache_beam as beam
from apache_beam.coders import typecoders
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.moments.document_moments import DocumentMoments
from beam_bleu.transforms.totals.moments.document_sums import (
    DocumentAdder,
    DocumentSums,
    compile_document_adder,
)
from beam_bleu.transforms.totals.moments.unit_adder import compile_moments
from beam_bleu.transforms.wiring.add_up import NamedSums, giving_sums
from beam_bleu.transforms.wiring.coders import BatchCoder
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS

__all__ = [
    "MultiplyDocuments",
    "NamedDocuments",
    "SumDocuments",
    "moments_of_documents",
    "sum_documents",
]

NamedDocuments = tuple[tuple[str, int], DocumentSums]
"""((the name of the moments, the bucket of the documents), the sums of these documents)."""

_MOST_BYTES = 64 << 20
"""A bundle sends the sums of its documents on when they are larger than this."""


def sum_documents(
    statistics: PCollection[BatchStatistics],
    name: str,
    slicing: Slicing,
    labels: Sequence[str],
    basis: Basis,
    step: Step = unchanged,
    *,
    documents: str,
) -> PCollection[NamedDocuments]:
    """Adds the step from `BatchStatistics` to parts of the sums of documents.

    Args:
      statistics: the statistics of batches, all in the global window.
      name: the moments that `moments_of_documents` makes of them.
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFn.
      documents: the label with the document of each segment.
    """
    summing = SumDocuments(name, slicing, labels, basis, documents)
    typecoders.registry.register_coder(DocumentSums, BatchCoder)
    parts = statistics | f"Sum the documents for the {name}" >> beam.ParDo(step(summing))
    parts.element_type = typehints.Tuple[typehints.Tuple[str, int], DocumentSums]
    return parts


def moments_of_documents(
    parts: Iterable[PCollection[NamedDocuments]],
    bases: Mapping[str, Basis],
    most: int,
    step: Step = unchanged,
    *,
    baseline: str | None = None,
    with_all_pairs: bool = False,
) -> PCollection[NamedSums]:
    """Adds the steps from the sums of documents to parts of `Moments`; each document is a unit.

    Args:
      parts: those of each metric.
      bases: the columns of the metric, by the name of its moments.
      most: `Slicing.most`.
      step: the function that makes a step of the DoFn.
      baseline: the system with which the others are compared; None for the first one.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
    """
    multiplying = MultiplyDocuments(bases, most, baseline, with_all_pairs)
    return (
        list(parts)
        | "Collect the documents" >> beam.Flatten()
        | "Put documents together" >> beam.GroupByKey()
        | "Multiply sums of documents" >> giving_sums(step(multiplying))
    )


class SumDocuments(beam.DoFn):
    """Adds up the documents of each bundle, to `NamedDocuments`."""

    def __init__(
        self, name: str, slicing: Slicing, labels: Sequence[str], basis: Basis, documents: str
    ) -> None:
        self._name = name
        self._slicing = slicing
        self._labels = tuple(labels)
        self._basis = basis
        self._documents = documents

    def setup(self) -> None:
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_document_adder()

    def start_bundle(self) -> None:
        self._adder: DocumentAdder | None = None

    def process(self, statistics: BatchStatistics) -> Iterator[NamedDocuments]:
        if self._adder is None:
            self._adder = DocumentAdder(self._slicing, self._labels, self._documents, self._basis)
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

    def __init__(
        self, bases: Mapping[str, Basis], most: int, baseline: str | None, with_all_pairs: bool
    ) -> None:
        self._bases = bases
        self._most = most
        self._baseline = baseline
        self._with_all_pairs = with_all_pairs

    def setup(self) -> None:
        compile_moments()

    def start_bundle(self) -> None:
        self._moments: dict[str, DocumentMoments] = {
            name: DocumentMoments(
                basis, self._most, self._baseline, with_all_pairs=self._with_all_pairs
            )
            for name, basis in self._bases.items()
        }

    def process(self, bucket: tuple[tuple[str, int], Iterable[DocumentSums]]) -> None:
        (name, _), documents = bucket
        self._moments[name].add(documents)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for name, of_documents in self._moments.items():
            moments = of_documents.moments()
            if moments is not None:
                yield GlobalWindows.windowed_value(((name, ALL_SYSTEMS), moments))
