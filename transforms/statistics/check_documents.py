"""Wires the check of documents to Beam."""

from __future__ import annotations

from collections.abc import Iterator

import apache_beam as beam
from apache_beam.pvalue import PCollection

from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.document_label import DocumentLabel, require_documents
from beam_bleu.transforms.wiring.coders import giving_batches
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["check_documents"]


def check_documents(
    batches: PCollection[SegmentBatch], label: DocumentLabel, step: Step = unchanged
) -> PCollection[SegmentBatch]:
    """Adds the step that fails with an `InputError` if a segment has no document.

    Beam fuses it with the steps before and after it.
    """
    return batches | "Check documents" >> giving_batches(step(_CheckDocuments(label)), SegmentBatch)


class _CheckDocuments(beam.DoFn):
    def __init__(self, label: DocumentLabel) -> None:
        self._label = label

    def process(self, batch: SegmentBatch) -> Iterator[SegmentBatch]:
        require_documents(batch, self._label)
        yield batch
