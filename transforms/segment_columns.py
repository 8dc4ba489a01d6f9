"""Columns with the scores of single segments, which are put beside their texts."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from beam_bleu.transforms.chosen_metrics import definitions_of, require_texts_only
from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.score.segment_table import (
    compile_segment_table,
    named_columns,
    named_fields,
)
from beam_bleu.transforms.statistics.counting import PreparedBatch, prepare_counting


class SegmentColumns:
    """Scores the segments of batches that have one system. It is sent to workers.

    Args:
      metrics: a list of names of metrics and of configs.
      details: whether the columns that only one metric has are there, too.

    Attributes:
      schema: the columns, as `named_fields` gives them for each metric in turn.

    Raises:
      ValueError: there is no such metric, it is there twice, or it needs more than texts.
    """

    schema: pa.Schema

    def __init__(self, metrics: Sequence[MetricWord | object], *, details: bool = False) -> None:
        require_flag("details", details)
        self._defined = [
            (text, definition, definition.counter)
            for text, definition in definitions_of(metrics, of_segments=True)
        ]
        require_texts_only(counter for _, _, counter in self._defined)
        self._details = details
        self.schema = pa.schema(
            field
            for _, definition, _ in self._defined
            for field in named_fields(
                *(definition.name, definition.kind, definition.metric), details=details
            )
        )

    def prepare(self) -> None:
        """Compiles the code that scores segments, or loads it, unless this process has done so."""
        for text, definition, counter in self._defined:
            prepare_counting(text, counter)
            compile_segment_table(definition.kind, definition.metric)

    def of_batch(self, batch: SegmentBatch) -> pa.RecordBatch:
        """The scores of a batch, in the order of its segments. Each text is prepared once.

        Raises:
          InputError: a segment has no reference, is too long, or cannot be tokenized.
        """
        prepared = PreparedBatch(batch)
        columns: list[pa.Array] = []
        for text, definition, counter in self._defined:
            statistics = prepared.count(text, counter)
            kind, metric = definition.kind, definition.metric
            columns += named_columns(statistics, kind, metric, details=self._details)
        return pa.record_batch(columns, schema=self.schema)
