"""BLEU's smoothing methods and formula: from the integers of a corpus or segment to a score.

Papineni et al. 2002 (https://aclanthology.org/P02-1040), section 2.3:
BLEU = BP * exp(sum over n of w_n log p_n), BP = exp(1 - r/c) if c < r, else 1.
All definitions share this formula. They differ in the smoothing of orders without matches
(`smooth`), in the weights and in r. The operations and their order are those of
`BLEU.compute_bleu` in sacreBLEU 2.6, and for its methods those of `SmoothingFunction` in NLTK.

Python runs the functions with unbounded integers, and with recorded numbers; numba compiles them
with int64 (`score_rows`). So they use only loops and numbers. `weights` are N numbers, or none.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses
import functools
import math
import sys
from collections.abc import Mapping, MutableSequence, Sequence
from typing import Literal

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.metrics import differentiation
from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH, FIRST_MATCHES
from beam_bleu.transforms.metrics.differentiation import Number, exp, log
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.compiling import callable_by_compiled, compiled

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
    """A row of `SMOOTH_METHODS`: the precision that it gives, and where it comes from."""

    name: SmoothMethodName
    description: str
    source: str
    sacrebleu: str | None = None  # its name in sacreBLEU
    value: float | None = None  # the default, in the tool that it comes from
    divides_by_value: bool = False
    takes_effective_order: bool = True  # False if it has its own rule for orders that are too long
    has_highest: bool = True  # False if the value replaces a precision, because it has no limit
    segments_only: bool = False
    smallest_order: int = 1
    counted_order: int = 1  # the order up to which n-grams are counted, even if N is smaller


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

SMOOTH_VALUES = {  # the defaults of methods for a corpus
    name: method.value
    for name, method in SMOOTH_METHODS.items()
    if method.value is not None and not method.segments_only
}


# Compiled code cannot compare names.
_NUMBERS = {name: number for number, name in enumerate(SMOOTH_METHODS)}
_EXP, _FLOOR, _ADD_K, _NONE, _ADD_K_ALL, _EPSILON, _MTEVAL, _LEAVE_OUT, *_NLTK = _NUMBERS.values()
_METHOD0, _METHOD1, _METHOD2, _METHOD3, _METHOD4, _METHOD5, _METHOD6, _METHOD7 = _NLTK

# With methods of the first tuple, the score is 0 only if the candidates have no token. With all
# others, which are NLTK's and sacreBLEU's, it is 0 if nothing matches.
_ZERO_WITHOUT_TOKENS = (_ADD_K_ALL, _EPSILON, _MTEVAL)
_AS_NLTK = (_LEAVE_OUT, *_NLTK)
_SMALLEST = sys.float_info.min  # NLTK's precision of 0, by its method 0


def method_number(smooth_method: SmoothMethodName) -> int:
    return _NUMBERS[smooth_method]


def brevity_penalty(sys_len: Number, ref_len: Number, divisor: int = 1) -> Number:
    """exp(1 - r/c) if the candidates are shorter than the references, else 1; 0 without tokens."""
    if sys_len * divisor >= ref_len:
        return 1.0
    return exp(1 - ref_len / (sys_len * divisor)) if sys_len > 0 else 0.0


def smooth(
    method: int,
    value: float,
    effective_order: bool,
    weights: Sequence[float],
    matches: Sequence[Number],
    totals: Sequence[Number],
    short: Sequence[Number],
    length: Number,
    precisions: MutableSequence[Number],
) -> int:
    """Writes the precision of each of N orders, 0..100.

    `matches` and `totals` are of the orders 1 to N, or to 5 if the method needs it; `short` has the
    numbers of candidates without an n-gram of an order, and `length` is the tokens of candidates.
    Returns the number of orders that count; 0 if the score is 0 because nothing matches; -1 if the
    method is not defined for these numbers.
    """
    orders = len(precisions)
    for n in range(orders):
        precisions[n] = 0.0
    if method in _AS_NLTK:
        return _smooth_as_nltk(method, value, matches, totals, short, length, precisions)
    if method in _ZERO_WITHOUT_TOKENS:
        if length == 0:
            return 0
    else:
        any_match = False
        for n in range(orders):
            any_match |= matches[n] != 0 and (len(weights) == 0 or weights[n] != 0)
        if not any_match:
            return 0
    halvings = 1.0
    for n in range(orders):
        if len(weights) != 0 and weights[n] == 0:
            if totals[n] != 0:
                precisions[n] = 100.0 * matches[n] / totals[n]
            continue
        added = value if method == _ADD_K_ALL or (method == _ADD_K and n > 0) else 0.0
        total = totals[n] + added
        if total == 0:  # no candidate is as long as this order
            if effective_order:
                # If none of the orders before it has a weight, nothing can match.
                return n if len(weights) == 0 or _weighted_orders(weights, n) > 0 else 0
            if method == _EPSILON:
                precisions[n] = 100.0 * value
            elif method == _MTEVAL:
                precisions[n] = 100.0
            else:
                break
            continue
        if matches[n] + added != 0:
            precisions[n] = 100.0 * (matches[n] + added) / total
        elif method in (_EXP, _MTEVAL):
            halvings *= 2
            precisions[n] = 100.0 / (halvings * total)
        elif method == _FLOOR:
            precisions[n] = 100.0 * value / total
        elif method == _EPSILON:
            precisions[n] = 100.0 * value
    return orders


def _weighted_orders(weights: Sequence[float], orders: int) -> int:
    count = 0
    for n in range(orders):
        count += weights[n] != 0
    return count


def _smooth_as_nltk(
    method: int,
    value: float,
    matches: Sequence[Number],
    totals: Sequence[Number],
    short: Sequence[Number],
    length: Number,
    precisions: MutableSequence[Number],
) -> int:
    """The precisions of NLTK 3.9's SmoothingFunction, whose denominators are max(1, total).

    In a corpus this means: a candidate shorter than n adds 1 to the total of order n.
    """
    orders = len(precisions)
    if matches[0] == 0:
        return 0
    if method == _METHOD6 and matches[2] == 0:
        return -1  # NLTK raises an error
    halvings = 1.0
    for n in range(orders):
        denominator = totals[n] + short[n]
        precisions[n] = matches[n] / denominator
        if method == _METHOD2 and n > 0:
            precisions[n] = (matches[n] + 1) / (denominator + 1)
        elif matches[n] == 0:
            if method == _METHOD0:
                precisions[n] = _SMALLEST
            elif method == _METHOD1:
                precisions[n] = value / denominator
            elif method == _METHOD3:
                halvings *= 2
                precisions[n] = 1 / (halvings * denominator)
            elif method in (_METHOD4, _METHOD7) and length > 1:
                halvings *= 2
                precisions[n] = 1 / (halvings * value / log(length)) / denominator
    if method in (_METHOD5, _METHOD7):
        before = precisions[0] + 1
        beyond = matches[4] / (totals[4] + short[4])
        for n in range(orders):
            following = precisions[n + 1] if n + 1 < orders else beyond
            before = (before + precisions[n] + following) / 3
            precisions[n] = before
    elif method == _METHOD6:
        for n in range(2, orders):
            prior = 0.0 if precisions[n - 2] == 0 else precisions[n - 1] ** 2 / precisions[n - 2]
            precisions[n] = (matches[n] + value * prior) / (totals[n] + value)
    for n in range(orders):
        precisions[n] *= 100
    return orders


def weighted_score(
    method: int, weights: Sequence[float], precisions: Sequence[Number], orders: int, bp: Number
) -> Number:
    """BP * exp(sum of w_n log p_n), 0..100; `orders` is what `smooth` returned."""
    if orders <= 0:
        return 0.0 if orders == 0 else math.nan
    # NLTK leaves precisions of 0 out of the sum. Most of its methods replace them.
    leaves_out = method in _AS_NLTK
    total = 0.0
    for n in range(orders):
        if len(weights) != 0 and weights[n] == 0:
            continue
        if precisions[n] == 0:
            if leaves_out:
                continue
            return 0.0
        if len(weights) != 0:
            term = weights[n] * log(precisions[n] / 100)
        elif leaves_out:
            term = log(precisions[n] / 100) / orders
        else:
            term = log(precisions[n])
        # From left to right, like Python's `sum` until 3.11, which sacreBLEU uses. Later versions
        # of `sum` compensate for rounding, so the same sums would give another score.
        total += term
    if len(weights) != 0 or leaves_out:
        # The weights may not sum to 1, so here the precisions were used as 0..1.
        return 100 * bp * exp(total)
    return bp * exp(total / orders)


for _function in (brevity_penalty, _weighted_orders, _smooth_as_nltk, smooth, weighted_score):
    callable_by_compiled(_function)
# numba accepts only functions that are written in Python.
callable_by_compiled(differentiation.exp, instead=lambda number: math.exp(number))
callable_by_compiled(differentiation.log, instead=lambda number: math.log(number))


@compiled
def score_rows(
    method,
    value,
    effective_order,
    weights,
    columns,
    lengths,
    divisor,
    scores,
    precisions,
    counted_orders,
):
    """Writes the score of each row of int64 (rows, W) to float64 (rows,); nan if it is not defined.

    `lengths` is int64 (columns of the reference length, 2). `precisions`, float64 (N,), and
    `counted_orders`, int64 (3, orders of the columns), are overwritten.
    """
    max_order = counted_orders.shape[1]
    # Each row is copied to the same arrays, because a view of an array takes longer.
    matches, totals, short = counted_orders[0], counted_orders[1], counted_orders[2]
    for row in range(len(columns)):
        length = total = columns[row, CANDIDATE_LENGTH]
        for n in range(max_order):
            matches[n] = columns[row, FIRST_MATCHES + n]
            short[n] = columns[row, FIRST_MATCHES + max_order + n]
            totals[n] = total
            total += short[n] - columns[row, SEGMENTS]
        reference_length = 0
        for i in range(len(lengths)):
            reference_length += columns[row, lengths[i, 0]] * lengths[i, 1]
        counted = smooth(
            method, value, effective_order, weights, matches, totals, short, length, precisions
        )
        bp = brevity_penalty(length, reference_length, divisor)
        scores[row] = weighted_score(method, weights, precisions, counted, bp)
