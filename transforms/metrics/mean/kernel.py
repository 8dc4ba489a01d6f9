"""What makes the columns of a mean from the numbers of a batch."""

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.metrics.mean.columns import NEGATIVE, POSITIVE, mean_basis
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.fixed_point import value_columns
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.needs import Needs, ValueColumn
from beam_bleu.transforms.statistics.sizes import TextSizes
from beam_bleu.transforms.text.text import Text


@dataclasses.dataclass(frozen=True)
class NumberCounter:
    """Makes the columns of a mean; see `statistics.counting.Counter`.

    Attributes:
      column: the column of the numbers.
    """

    column: str

    @property
    def basis(self) -> Basis:
        """The columns."""
        return mean_basis()

    @property
    def is_tokenized(self) -> bool:
        """Numbers have no language."""
        return False

    @property
    def needs(self) -> Needs:
        """The column."""
        return Needs(values=(ValueColumn(self.column),))

    def count(self, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text) -> Integers:
        """The columns of each segment, int64 (systems, segments, W)."""
        values = batch.values[ValueColumn(self.column)]
        counts = np.empty((*values.shape, self.basis.width), np.int64)
        counts[..., SEGMENTS] = 1
        counts[..., POSITIVE] = value_columns(np.maximum(values, 0))
        counts[..., NEGATIVE] = value_columns(np.maximum(-values, 0))
        return counts

    def lengths(self, counts: Integers) -> None:
        """Unknown: no text is read."""

    def empty_candidates(self, counts: Integers) -> int:
        """None are known."""
        return 0
