"""chrF as a `Metric`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction

from beam_bleu.transforms.metrics.chrf.columns import (
    EMPTY,
    FIRST_NGRAMS,
    ChrfColumns,
    width,
)
from beam_bleu.transforms.metrics.chrf.formula import f_score, f_scores
from beam_bleu.transforms.metrics.dual_numbers import Number
from beam_bleu.transforms.metrics.metric import NoGradientError, Scores
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.score.metric_kind import Lengths

LARGEST_CHAR_ORDER = 16


@dataclasses.dataclass(frozen=True)
class Chrf:
    """A definition of chrF; the default is sacreBLEU's chrF2. See `Metric`.

    Attributes:
      char_order: the largest order of n-grams of characters, 1..16.
      beta: how many times as important as precision recall is, 1 or more.

    Raises:
      ValueError: a field has an impossible value.
    """

    char_order: int = 6
    beta: int = 2

    def __post_init__(self) -> None:
        if type(self.char_order) is not int or not 1 <= self.char_order <= LARGEST_CHAR_ORDER:
            raise ValueError(
                f"char_order must be 1 to {LARGEST_CHAR_ORDER}, an int, got {self.char_order!r}"
            )
        if type(self.beta) is not int or self.beta < 1:
            raise ValueError(f"beta must be 1 or more, an int, got {self.beta!r}")

    @property
    def name(self) -> str:
        """The name for readers, which has beta: "chrF2"."""
        return f"chrF{self.beta}"

    def value(self, sums: Sequence[Number]) -> Number:
        """chrF, 0..100."""
        self._require_width(len(sums))
        return f_score(ChrfColumns(sums), self.beta)

    def values(self, sums: Integers) -> Scores:
        """The chrF of each row."""
        self._require_width(sums.shape[1])
        return f_scores(ChrfColumns(sums.T), self.beta)

    def require_corpus(self) -> None:
        """Each definition can score a corpus."""

    def require_gradient(self, sums: Sequence[int]) -> None:
        """Checks that an n-gram matches; otherwise the score is 0.

        Raises:
          NoGradientError: none does.
        """
        if not any(ChrfColumns(sums).matches):
            raise NoGradientError("no character of a candidate is in its references")

    def used(self, width: int) -> Sequence[int]:
        """The n-grams and matches."""
        return range(FIRST_NGRAMS, width)

    def lengths(self, columns: Sequence[int]) -> Lengths:
        """How many characters the texts of a corpus have."""
        chrf = ChrfColumns(columns)
        references = Fraction(chrf.ref_ngrams[0])
        return Lengths("character", chrf.hyp_ngrams[0], references, columns[EMPTY])

    def _require_width(self, given: int) -> None:
        if given != width(self.char_order):
            raise ValueError(
                f"{self.name} of order {self.char_order} needs {width(self.char_order)} columns, "
                f"got {given}"
            )
