"""Columns with the scores of single segments, which are put beside their texts."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from beam_bleu.transforms.chosen_metrics import ChosenMetrics
from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.score.segment_table import (
    compile_segment_table,
    named_columns,
    named_fields,
)
from beam_bleu.transforms.statistics.counting import prepare_counting


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
        self._chosen = ChosenMetrics.of(metrics, of_segments=True).require_texts_only()
        self._details = details
        self.schema = pa.schema(
            field
            for definition in self._chosen.definitions
            for field in named_fields(definition.name, definition.metric, details=details)
        )

    def prepare(self) -> None:
        """Compiles the code that scores segments, or loads it, unless this process has done so."""
        for counted in self._chosen.counted:
            prepare_counting(*counted)
        for definition in self._chosen.definitions:
            compile_segment_table(definition.metric)

    def of_batch(self, batch: SegmentBatch) -> pa.RecordBatch:
        """The scores of a batch, in the order of its segments. Each text is prepared once.

        Raises:
          InputError: a segment has no reference, is too long, or cannot be tokenized.
        """
        counted = self._chosen.count(batch).metrics
        columns: list[pa.Array] = []
        for definition, statistics in zip(self._chosen.definitions, counted, strict=True):
            columns += named_columns(statistics, definition.metric, details=self._details)
        return pa.record_batch(columns, schema=self.schema)
