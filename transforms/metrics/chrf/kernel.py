"""Counts the columns of chrF of every segment of a batch."""

from __future__ import annotations

import dataclasses

import numpy as np

from beam_bleu.transforms.metrics.bleu.columns import BleuColumns
from beam_bleu.transforms.metrics.bleu.kernel import BleuCounter
from beam_bleu.transforms.metrics.chrf.columns import (
    EMPTY,
    FIRST_NGRAMS,
    ChrfColumns,
    chrf_basis,
)
from beam_bleu.transforms.metrics.chrf.metric import f_scores
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.sizes import TextSizes
from beam_bleu.transforms.text.text import Text


@dataclasses.dataclass(frozen=True)
class ChrfCounter:
    """Counts the columns of chrF; see `statistics.counting.Counter`.

    With one reference, the matches and n-grams of chrF are those of BLEU with a token for each
    character. So BLEU's kernel counts each reference by itself.

    Attributes:
      char_order: the largest order of characters, N.
      beta: the weight of the recall, for the choice of the best reference.
    """

    char_order: int
    beta: int

    @property
    def basis(self) -> Basis:
        """The columns."""
        return chrf_basis(self.char_order)

    @property
    def is_tokenized(self) -> bool:
        """All languages have characters."""
        return False

    def count(self, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text) -> Integers:
        """The columns of each segment, int64 (systems, segments, W). `text` has characters."""
        references, counter = len(batch.references), BleuCounter(self.char_order)
        best = counts = None
        for reference in range(references):
            of_one = spans.of_one(reference, references)
            of_reference = self._columns(counter.count(of_one, sizes, batch, text))
            score = f_scores(ChrfColumns(np.moveaxis(of_reference, 2, 0)), self.beta)
            if best is None or counts is None:
                best, counts = score, of_reference
                continue
            better = score > best  # of equally good ones, the first
            counts[better], best[better] = of_reference[better], score[better]
        assert counts is not None  # a batch has references
        return counts

    def _columns(self, counted: Integers) -> Integers:
        """The columns of chrF from BLEU's, which are of one reference."""
        bleu = BleuColumns(np.moveaxis(counted, 2, 0))
        columns = np.zeros((*counted.shape[:2], self.basis.width), np.int64)
        columns[..., SEGMENTS] = bleu.segments
        columns[..., EMPTY] = bleu.short_candidates[0]
        ref_length, _ = bleu.reference_length("shortest")
        for n, (match, total) in enumerate(zip(bleu.matches, bleu.totals, strict=True)):
            ref = np.maximum(ref_length - n, 0)
            first = FIRST_NGRAMS + 3 * n
            # sacreBLEU ignores the n-grams of a candidate if the reference has none.
            columns[..., first] = np.where(ref > 0, total, 0)
            columns[..., first + 1] = ref
            columns[..., first + 2] = match
        return columns

    def lengths(self, counts: Integers) -> None:
        """Unknown: the lengths of references are in tokens."""

    def empty_candidates(self, counts: Integers) -> int:
        """The number of candidates without a character."""
        return int(counts[..., EMPTY].sum())
