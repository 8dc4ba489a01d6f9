"""The part of a definition that turns sums into a score, and its smoothing methods.

The functions of the methods, for an order without matches, are in `formula.py`. In descriptions, m
and t are matches and n-grams of an order, v is the method's value, and t' is NLTK's denominator
(docs/definitions.md).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import require_choice, require_flag, table
from beam_bleu.transforms.metrics.bleu.columns import (
    REFERENCE_LENGTHS,
    ReferenceLengthName,
)

SmoothMethodName = Literal[
    "exp",
    "floor",
    "add-k",
    "none",
    "add-k-all",
    "epsilon",
    "mteval",
    "leave-out",
    "nltk-method0",
    "nltk-method1",
    "nltk-method2",
    "nltk-method3",
    "nltk-method4",
    "nltk-method5",
    "nltk-method6",
    "nltk-method7",
]


@dataclasses.dataclass(frozen=True)
class SmoothMethod:
    """A row of `SMOOTH_METHODS`.

    Attributes:
      name: its name here.
      description: the precision that it gives.
      source: the papers and the tools, other than sacreBLEU, that it comes from.
      sacrebleu: its name in sacreBLEU; None if sacreBLEU does not have it.
      value: the default of its value, in the tool that it comes from; None if it takes no
        value. sacreBLEU and NLTK have the values of Chen & Cherry 2014. NLTK calls them
        epsilon (method 1), k (4 and 7) and alpha (6).
      divides_by_value: whether it divides by its value. Then the value cannot be 0.
      takes_effective_order: whether it can be used with effective order. Other methods have
        their own rule for orders longer than the candidates.
      segments_only: whether it is defined only for one segment, and not for sums of several.
      smallest_order: the smallest N that it is defined for.
      counted_order: the order up to which n-grams are counted for it, even if N is smaller.
    """

    name: SmoothMethodName
    description: str
    source: str
    sacrebleu: str | None = None
    value: float | None = None
    divides_by_value: bool = False
    takes_effective_order: bool = True
    segments_only: bool = False
    smallest_order: int = 1
    counted_order: int = 1


def _nltk(
    name: SmoothMethodName,
    description: str,
    value: float | None = None,
    *,
    divides_by_value: bool = False,
    segments_only: bool = False,
    smallest_order: int = 1,
    counted_order: int = 1,
) -> SmoothMethod:
    """A method of NLTK's SmoothingFunction."""
    return SmoothMethod(
        name,
        description,
        "NLTK",
        value=value,
        divides_by_value=divides_by_value,
        takes_effective_order=False,
        segments_only=segments_only,
        smallest_order=smallest_order,
        counted_order=counted_order,
    )


SMOOTH_METHODS: Mapping[SmoothMethodName, SmoothMethod] = table(
    SmoothMethod(
        "exp",
        "of the k-th order without matches: 1 / (2^k · t_n)",
        "mteval-v13a; Chen & Cherry 2014, method 3",
        sacrebleu="exp",
    ),
    SmoothMethod(
        "floor",
        "of an order without matches: v / t_n",
        "Chen & Cherry, method 1",
        sacrebleu="floor",
        value=0.1,
    ),
    SmoothMethod(
        "add-k",
        "of orders above 1: (m_n + v) / (t_n + v)",
        "Lin & Och 2004; Chen & Cherry, method 2",
        sacrebleu="add-k",
        value=1.0,
    ),
    SmoothMethod("none", "m_n / t_n", "the paper", sacrebleu="none"),
    SmoothMethod(
        "add-k-all",
        "of all orders: (m_n + v) / (t_n + v)",
        "TensorFlow NMT with `smooth=True`",
        value=1.0,
    ),
    SmoothMethod(
        "epsilon",
        "of an order whose precision is 0: v",
        "Python classes that avoid log 0",
        value=1e-100,
    ),
    SmoothMethod(
        "mteval",
        "as `exp`, even if not a single unigram matches; 1 for an order without n-grams",
        "mteval-v13a.pl itself",
    ),
    SmoothMethod(
        "leave-out",
        "m_n / t'_n; if it is 0, the order is left out and the other weights do not change",
        "NLTK 3.2.2 to 3.2.5",
        takes_effective_order=False,
    ),
    _nltk("nltk-method0", "m_n / t'_n; if it is 0, the smallest normal float (2.2e-308)"),
    _nltk("nltk-method1", "of an order whose precision is 0: v / t'_n", 0.1),
    _nltk("nltk-method2", "of orders above 1: (m_n + 1) / (t'_n + 1)"),
    _nltk("nltk-method3", "of the k-th order without matches: 1 / (2^k · t'_n)"),
    _nltk(
        "nltk-method4",
        "of the k-th order without matches: ln(c) / (2^k · v · t'_n); left out if c = 1",
        5.0,
        divides_by_value=True,
    ),
    _nltk("nltk-method5", "averages of neighbouring orders", segments_only=True, counted_order=5),
    _nltk(
        "nltk-method6",
        "interpolation with a prior",
        5.0,
        divides_by_value=True,
        segments_only=True,
        smallest_order=3,
    ),
    _nltk(
        "nltk-method7",
        "`nltk-method4` and then `nltk-method5`",
        5.0,
        divides_by_value=True,
        segments_only=True,
        counted_order=5,
    ),
)
"""All methods, in the order in which they are shown."""


def corpus_smooth_methods() -> tuple[SmoothMethodName, ...]:
    """The names of the methods that smooth sums over a corpus."""
    return tuple(name for name, method in SMOOTH_METHODS.items() if not method.segments_only)


def default_smooth_values() -> dict[SmoothMethodName, float]:
    """The default values of the methods that take a value, by name."""
    return {
        name: method.value for name, method in SMOOTH_METHODS.items() if method.value is not None
    }


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
        max(scoring.max_ngram_order, SMOOTH_METHODS[scoring.smooth_method].counted_order)
        for scoring in scorings
    )


def require_scorable(max_order: int, scoring: Scoring) -> None:
    """Checks that a scoring can score the sums of a corpus.

    Args:
      max_order: the n-gram order of the sums.
      scoring: how sums become a score.

    Raises:
      ValueError: the sums have a lower n-gram order than the scoring, or the scoring is only for
        single segments.
    """
    scoring.require_corpus()
    if max_order < scoring.max_ngram_order:
        raise ValueError(
            f"sums of order {max_order} cannot be scored with "
            f"max_ngram_order {scoring.max_ngram_order}"
        )


def _is_a(kind: type | tuple[type, ...], value: object) -> bool:
    """Whether a value is a number of a kind, and not a bool, which is an int for Python."""
    return isinstance(value, kind) and not isinstance(value, bool)
