"""The part of a definition that turns sums into a score."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

from beam_bleu.transforms.definition.choices import require_choice, require_flag
from beam_bleu.transforms.metrics.bleu.reference_lengths import (
    REFERENCE_LENGTHS,
    ReferenceLengthName,
)
from beam_bleu.transforms.metrics.bleu.smoothing import (
    SMOOTH_METHODS,
    SmoothMethodName,
    corpus_smooth_methods,
    default_smooth_values,
)

LARGEST_NGRAM_ORDER = 16
LARGEST_SMOOTH_VALUE = 1_000_000
_SMALLEST_DIVISOR = 1e-6
_LARGEST_SUM_OF_WEIGHTS = LARGEST_NGRAM_ORDER
"""With much larger weights, a score could be larger than the largest float."""


@dataclasses.dataclass(frozen=True)
class Scoring:
    """How sums, or the integers of a segment, become a score. `BleuConfig` explains the attributes.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    smooth_method: SmoothMethodName = "exp"
    smooth_value: float | None = None
    max_ngram_order: int = 4
    effective_order: bool = False
    reference_length: ReferenceLengthName = "closest"
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        require_choice("smooth_method", self.smooth_method, SMOOTH_METHODS)
        require_choice("reference_length", self.reference_length, REFERENCE_LENGTHS)
        require_flag("effective_order", self.effective_order)
        order = self.max_ngram_order
        if not _is_a(int, order) or not 1 <= order <= LARGEST_NGRAM_ORDER:
            raise ValueError(
                f"max_ngram_order must be 1 to {LARGEST_NGRAM_ORDER}, an int, got {order!r}"
            )
        method = SMOOTH_METHODS[self.smooth_method]
        if order < method.smallest_order:
            raise ValueError(
                f"{self.smooth_method} needs a max_ngram_order of {method.smallest_order} "
                f"or more, got {order}"
            )
        if self.effective_order and not method.takes_effective_order:
            raise ValueError(
                f"effective_order cannot be used with smooth_method {self.smooth_method!r}: "
                "this method has its own rule for orders longer than the candidates"
            )
        self._check_smooth_value()
        self._check_weights()

    @property
    def effective_smooth_value(self) -> float:
        """The value of the smoothing method; 0.0 if it takes none."""
        if self.smooth_value is not None:
            return self.smooth_value
        return SMOOTH_METHODS[self.smooth_method].value or 0.0

    def for_segments(
        self, smooth_method: SmoothMethodName | None = None, smooth_value: float | None = None
    ) -> Scoring:
        """The scoring of single segments: with effective order, if the smoothing allows it.

        Args:
          smooth_method: its smoothing; None for the same method.
          smooth_value: the value of its smoothing; None for the same value, or, with
            another method, for the default of that method.

        Raises:
          ValueError: the smoothing is impossible, alone or with the other choices.
        """
        smooth_method = smooth_method or self.smooth_method
        require_choice("smooth_method", smooth_method, SMOOTH_METHODS)
        if smooth_value is None and smooth_method == self.smooth_method:
            smooth_value = self.smooth_value
        return dataclasses.replace(
            self,
            effective_order=SMOOTH_METHODS[smooth_method].takes_effective_order,
            smooth_method=smooth_method,
            smooth_value=smooth_value,
        )

    def require_corpus(self) -> None:
        """Checks that this is a scoring of sums over a corpus.

        Raises:
          ValueError: its smoothing is for single segments.
        """
        if SMOOTH_METHODS[self.smooth_method].segments_only:
            raise ValueError(
                f"smooth_method {self.smooth_method!r} is for segment scores only: for a corpus, "
                "NLTK computes it from the text of the last segment; use one of "
                f"{', '.join(corpus_smooth_methods())}"
            )

    def _check_smooth_value(self) -> None:
        value = self.smooth_value
        if value is None:
            return
        method = SMOOTH_METHODS[self.smooth_method]
        if method.value is None:
            raise ValueError(
                f"smooth_value {value} cannot be used with smooth_method "
                f"{self.smooth_method!r}; it is for {', '.join(default_smooth_values())}"
            )
        if not _is_a((int, float), value) or not 0 <= value <= LARGEST_SMOOTH_VALUE:
            raise ValueError(f"smooth_value must be 0 to {LARGEST_SMOOTH_VALUE}, got {value!r}")
        if method.divides_by_value and value < _SMALLEST_DIVISOR:
            raise ValueError(
                f"smooth_value must be {_SMALLEST_DIVISOR} or more for smooth_method "
                f"{self.smooth_method!r}, got {value!r}"
            )

    def _check_weights(self) -> None:
        weights = self.weights
        if weights is None:
            return
        if not isinstance(weights, tuple) or not all(
            _is_a((int, float), weight) and weight >= 0 for weight in weights
        ):
            raise ValueError(f"weights must be numbers, 0 or more, in a tuple, got {weights!r}")
        # Not `sum`, which compensates for rounding since Python 3.12: 6.2 + 7.4 + 0.3 + 2.1.
        largest = _LARGEST_SUM_OF_WEIGHTS
        if any(weight > largest for weight in weights) or math.fsum(weights) > largest:
            raise ValueError(
                f"weights must sum to {_LARGEST_SUM_OF_WEIGHTS} at most, got {weights!r}"
            )
        if len(weights) != self.max_ngram_order:
            raise ValueError(
                f"weights must be max_ngram_order = {self.max_ngram_order} numbers, got {weights!r}"
            )
        if not any(weights):
            raise ValueError(f"one of the weights must be above 0, got {weights!r}")


def counted_order(scorings: Iterable[Scoring]) -> int:
    """The largest n-gram order that must be counted for all of these scorings."""
    return max(
        max(each.max_ngram_order, SMOOTH_METHODS[each.smooth_method].counted_order)
        for each in scorings
    )


def _is_a(kind: type | tuple[type, ...], value: object) -> bool:
    """Whether a value is a number of a kind, and not a bool, which is an int for Python."""
    return isinstance(value, kind) and not isinstance(value, bool)
