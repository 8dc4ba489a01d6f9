"""chrF as a `Metric`: its definition, and the formula from integers to a score.

Popović 2015 (https://aclanthology.org/W15-3049), section 2: chrF = (1 + beta^2) P R /
(beta^2 P + R), with the means P of the precisions and R of the recalls of all orders. As in
sacreBLEU, an order that the candidates or the references are too short for does not count. The
operations and their order are those of `CHRF._compute_f_score` in sacreBLEU 2.6, so that the
results are the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.metrics.chrf.columns import (
    EMPTY,
    FIRST_NGRAMS,
    ChrfColumns,
    width,
)
from beam_bleu.transforms.metrics.dual_numbers import Number
from beam_bleu.transforms.metrics.metric import NoGradientError, Scores
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.score.metric_kind import Lengths
from beam_bleu.transforms.text.text import NormalizationName, Text

LARGEST_CHAR_ORDER = 16
LARGEST_BETA = 1000
"""Long before it, the score is the recall in all digits that anybody shows."""


@dataclasses.dataclass(frozen=True)
class Chrf:
    """How sums become chrF; the default is sacreBLEU's chrF2. See `Metric`.

    Attributes:
      char_order: the largest order of n-grams of characters, 1..16.
      beta: how many times as important as precision recall is, 1..1000.

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
        if type(self.beta) is not int or not 1 <= self.beta <= LARGEST_BETA:
            raise ValueError(f"beta must be 1 to {LARGEST_BETA}, an int, got {self.beta!r}")

    @property
    def name(self) -> str:
        """The name for readers, with beta: "chrF2"."""
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

    def _require_width(self, columns: int) -> None:
        if columns != width(self.char_order):
            raise ValueError(
                f"{self.name} of order {self.char_order} needs {width(self.char_order)} columns, "
                f"got {columns}"
            )


@dataclasses.dataclass(frozen=True)
class ChrfConfig:
    """A definition of chrF; the default is sacreBLEU's, chrF2.

    Attributes:
      char_order: the largest order of n-grams of characters, 1..16.
      beta: how many times as important as precision recall is, 1..1000.
      normalize: the Unicode normalization of all texts, before all other steps:
        "nfc" or "nfkc"; None if texts are not normalized.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    char_order: int = Chrf.char_order
    beta: int = Chrf.beta
    normalize: NormalizationName | None = Text.normalize

    def __post_init__(self) -> None:
        # Text and Chrf check their fields.
        _ = self.text, self.metric

    @property
    def text(self) -> Text:
        """The part that turns texts into characters, which are tokens here."""
        return Text("char", normalize=self.normalize)

    @property
    def metric(self) -> Chrf:
        """The part that turns sums into a score."""
        return Chrf(self.char_order, self.beta)


def f_score(columns: ChrfColumns, beta: int) -> Number:
    """chrF, 0..100, of integers or of numbers that carry their derivatives."""
    precision = recall = 0.0
    orders = 0
    factor = beta**2
    for of_order in zip(columns.hyp_ngrams, columns.ref_ngrams, columns.matches, strict=True):
        hyp, ref, match = of_order
        if hyp > 0 and ref > 0:
            precision += match / hyp
            recall += match / ref
            orders += 1
    if orders == 0 or precision + recall == 0:
        return 0.0
    precision /= orders
    recall /= orders
    score = (1 + factor) * precision * recall
    score /= (factor * precision) + recall
    return 100 * score


def f_scores(columns: ChrfColumns, beta: int) -> Scores:
    """The chrF of many sums at once: the same operations on arrays.

    Args:
      columns: arrays of one shape.
      beta: the weight of the recall.

    Returns:
      float64, of this shape.
    """
    shape = np.shape(columns.matches[0])
    precision, recall, orders = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
    factor = beta**2
    for of_order in zip(columns.hyp_ngrams, columns.ref_ngrams, columns.matches, strict=True):
        hyp, ref, match = of_order
        counts = (hyp > 0) & (ref > 0)
        precision += _divided(match, hyp, counts)
        recall += _divided(match, ref, counts)
        orders += counts
    precision = _divided(precision, orders, orders > 0)
    recall = _divided(recall, orders, orders > 0)
    score = (1 + factor) * precision * recall
    scores: Scores = 100 * _divided(score, (factor * precision) + recall, precision + recall > 0)
    return scores


def _divided(one: NDArray[Any], other: NDArray[Any], where: NDArray[np.bool_]) -> Scores:
    quotients: Scores = np.divide(one, other, out=np.zeros(np.shape(one)), where=where)
    return quotients
