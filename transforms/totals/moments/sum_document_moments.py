"""Wires the moments of documents to Beam.

A document can cross batches, work units and shards, and its segments need not be neighbours. So
each bundle adds up what it has of a document, and only these few sums go through a shuffle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import apache_beam as beam
from apache_beam.coders import typecoders
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.moments.document_adder import (
    DocumentAdder,
    compile_document_adder,
)
from beam_bleu.transforms.totals.moments.document_moments import DocumentMoments
from beam_bleu.transforms.totals.moments.document_sums import DocumentSums
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.moments.moments_adder import compile_moments
from beam_bleu.transforms.wiring.coders import BatchCoder, giving_keyed_batches
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["MultiplyDocuments", "SumDocuments", "moments_of_documents"]

_MOST_BYTES = 64 << 20
"""A bundle sends the sums of its documents on when they are larger than this."""


def moments_of_documents(
    statistics: PCollection[BatchStatistics],
    slicing: Slicing,
    labels: Sequence[str],
    basis: Basis,
    step: Step = unchanged,
    *,
    documents: str,
    baseline: str | None = None,
    with_all_pairs: bool = False,
    label_suffix: str = "",
) -> PCollection[tuple[int, Moments]]:
    """Adds the steps from `BatchStatistics` to (0, `Moments`) of documents, to be added up.

    Args:
      statistics: the statistics of batches, all in the global window.
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      step: the function that makes a step of the DoFns.
      documents: the label with the document of each segment.
      baseline: the system with which the others are compared; None for the first one.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
      label_suffix: what the steps' labels end in.
    """
    summing = SumDocuments(slicing, labels, basis, documents)
    multiplying = MultiplyDocuments(slicing.most, basis, baseline, with_all_pairs)
    typecoders.registry.register_coder(DocumentSums, BatchCoder)
    return (
        statistics
        | f"Sum documents{label_suffix}"
        >> beam.ParDo(step(summing)).with_output_types(typehints.Tuple[int, DocumentSums])
        | f"Put documents together{label_suffix}" >> beam.GroupByKey()
        | f"Multiply sums of documents{label_suffix}"
        >> giving_keyed_batches(step(multiplying), Moments)
    )


class SumDocuments(beam.DoFn):
    """Adds up the documents of each bundle, to (partition, `DocumentSums`)."""

    def __init__(
        self, slicing: Slicing, labels: Sequence[str], basis: Basis, documents: str
    ) -> None:
        self._slicing = slicing
        self._labels = tuple(labels)
        self._basis = basis
        self._documents = documents

    def setup(self) -> None:
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_document_adder()

    def start_bundle(self) -> None:
        self._adder: DocumentAdder | None = None

    def process(self, statistics: BatchStatistics) -> Iterator[tuple[int, DocumentSums]]:
        if self._adder is None:
            self._adder = DocumentAdder(self._slicing, self._labels, self._documents, self._basis)
        self._adder.add(statistics)
        if self._adder.nbytes > _MOST_BYTES:
            yield from self._parts()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for part in self._parts():
            yield GlobalWindows.windowed_value(part)

    def _parts(self) -> Iterator[tuple[int, DocumentSums]]:
        if self._adder is not None:
            yield from self._adder.parts()
            self._adder = None


class MultiplyDocuments(beam.DoFn):
    """Puts the documents of partitions together, and adds up each bundle, to (0, `Moments`)."""

    def __init__(self, most: int, basis: Basis, baseline: str | None, with_all_pairs: bool) -> None:
        self._most = most
        self._basis = basis
        self._baseline = baseline
        self._with_all_pairs = with_all_pairs

    def setup(self) -> None:
        compile_moments()

    def start_bundle(self) -> None:
        self._moments = DocumentMoments(
            self._basis,
            self._most,
            self._baseline,
            with_all_pairs=self._with_all_pairs,
        )

    def process(self, partition: tuple[int, Iterable[DocumentSums]]) -> None:
        self._moments.add(partition[1])

    def finish_bundle(self) -> Iterator[WindowedValue]:
        found = self._moments.moments()
        if found is not None:
            yield GlobalWindows.windowed_value((0, found))
