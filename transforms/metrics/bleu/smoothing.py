"""The smoothing methods: what happens with an order of n-grams without matches (see formula.py).

In descriptions, m and t are matches and n-grams of an order, v is the method's value, and t' is
NLTK's denominator (docs/metrics.md).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import table

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
      has_highest: whether a score is at most 100. The values of other methods take the place of a
        precision, and nothing limits them.
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
    has_highest: bool = True
    segments_only: bool = False
    smallest_order: int = 1
    counted_order: int = 1


_nltk = functools.partial(SmoothMethod, source="NLTK", takes_effective_order=False)

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
        has_highest=False,
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
        has_highest=False,
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
    _nltk(
        "nltk-method1", "of an order whose precision is 0: v / t'_n", value=0.1, has_highest=False
    ),
    _nltk("nltk-method2", "of orders above 1: (m_n + 1) / (t'_n + 1)"),
    _nltk("nltk-method3", "of the k-th order without matches: 1 / (2^k · t'_n)"),
    _nltk(
        "nltk-method4",
        "of the k-th order without matches: ln(c) / (2^k · v · t'_n); left out if c = 1",
        value=5.0,
        divides_by_value=True,
    ),
    _nltk("nltk-method5", "averages of neighbouring orders", segments_only=True, counted_order=5),
    _nltk(
        "nltk-method6",
        "interpolation with a prior",
        value=5.0,
        divides_by_value=True,
        segments_only=True,
        smallest_order=3,
    ),
    _nltk(
        "nltk-method7",
        "`nltk-method4` and then `nltk-method5`",
        value=5.0,
        divides_by_value=True,
        segments_only=True,
        counted_order=5,
    ),
)


CORPUS_SMOOTH_METHODS = tuple(
    name for name, method in SMOOTH_METHODS.items() if not method.segments_only
)

SMOOTH_VALUES = {
    name: method.value for name, method in SMOOTH_METHODS.items() if method.value is not None
}
