"""Counts the columns of perplexity: from numbers of records to integers that add up."""

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.metrics.perplexity.columns import (
    SURPRISAL,
    SYMBOLS,
    WIDTH,
    perplexity_basis,
)
from beam_bleu.transforms.metrics.perplexity.metric import Perplexity
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.fixed_point import value_columns
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.needs import Needs
from beam_bleu.transforms.statistics.sizes import TextSizes
from beam_bleu.transforms.text.text import Text


@dataclasses.dataclass(frozen=True)
class PerplexityCounter:
    """Counts the columns of perplexity; see `statistics.counting.Counter`.

    Attributes:
      metric: the definition, with the columns of records that it reads.
    """

    metric: Perplexity

    @property
    def basis(self) -> Basis:
        """The columns."""
        return perplexity_basis()

    @property
    def needs(self) -> Needs:
        """The columns of records; no texts."""
        return Needs(values=self.metric.reads)

    @property
    def is_tokenized(self) -> bool:
        """No text is split."""
        return False

    def count(self, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text) -> Integers:
        """The columns of each segment, int64 (systems, segments, W)."""
        log_probability, *symbols = (batch.values[column] for column in self.metric.reads)
        counts = np.zeros((*log_probability.shape, WIDTH), np.int64)
        counts[..., SEGMENTS] = 1
        for symbol, numbers in zip(self.metric.counted, symbols, strict=True):
            counts[..., SYMBOLS[symbol].column] = numbers
        counts[..., SURPRISAL] = value_columns(-log_probability)
        return counts

    def lengths(self, counts: Integers) -> None:
        """Unknown: there are no references."""

    def empty_candidates(self, counts: Integers) -> int:
        """None: there are no candidates."""
        return 0
