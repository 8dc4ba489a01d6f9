"""The gradient of log BLEU: how much each integer of a corpus changes the score.

log BLEU = sum over n of w_n log((m_n + a_n) / (t_n + b_n)) + min(0, 1 - r/c). If every order that
counts has a match, this is the formula of all smoothing methods. They differ only in a_n and b_n.
The derivatives are rational numbers, and so is the gradient: it has no rounding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from beam_bleu.transforms.definition.choices import function_of
from beam_bleu.transforms.definition.scoring import Scoring
from beam_bleu.transforms.definition.smoothing import SmoothMethodName
from beam_bleu.transforms.score.corpus_formula import require_scorable
from beam_bleu.transforms.score.unit_score import length_columns, reference_length, total
from beam_bleu.transforms.totals.units import (
    CANDIDATE_LENGTH,
    FIRST_MATCHES,
    SEGMENTS,
    first_short,
)


class NoGradientError(ValueError):
    """The score of a corpus has no gradient. The message is the reason."""


@dataclasses.dataclass(frozen=True)
class LogGradient:
    """The derivatives of log BLEU by the columns of `totals/units.py`, at the sums of a corpus.

    Attributes:
      columns: the columns that the score depends on, in ascending order. Columns whose sum is 0
        are left out: no unit has anything in them.
      numerators: for each of these columns the derivative times `denominator`.
      denominator: above 0.
    """

    columns: tuple[int, ...]
    numerators: tuple[int, ...]
    denominator: int


@dataclasses.dataclass(frozen=True)
class _Counts:
    """What a smoothing method adds to matches and totals if every order has a match.

    Attributes:
      first: the first order that gets an addition; None if no order gets one.
      added: what is added to its matches and its total; None for the value of the method.
      short_add: whether the candidates without an n-gram of an order are added to its total.
    """

    first: int | None = None
    added: float | None = None
    short_add: bool = False


_UNCHANGED = _Counts()
_AS_NLTK = _Counts(short_add=True)

_COUNTS: Mapping[SmoothMethodName, _Counts] = {
    "exp": _UNCHANGED,
    "floor": _UNCHANGED,
    "add-k": _Counts(first=2),
    "none": _UNCHANGED,
    "add-k-all": _Counts(first=1),
    "epsilon": _UNCHANGED,
    "mteval": _UNCHANGED,
    "leave-out": _AS_NLTK,
    "nltk-method0": _AS_NLTK,
    "nltk-method1": _AS_NLTK,
    "nltk-method2": _Counts(first=2, added=1.0, short_add=True),
    "nltk-method3": _AS_NLTK,
    "nltk-method4": _AS_NLTK,
}
"""How each method that smooths a corpus acts on the gradient."""


def log_gradient(sums: Sequence[int], max_order: int, scoring: Scoring) -> LogGradient:
    """The gradient of log BLEU.

    The brevity penalty has a corner where c = r. There the derivative is that of longer
    candidates, 0, as for all candidates that are not shorter than the references.

    Args:
      sums: the columns of `totals/units.py`, added up over units.
      max_order: the n-gram order of these columns, at least that of the scoring.
      scoring: how sums become a score.

    Raises:
      NoGradientError: no candidate has a token, or an order that counts has no match.
      ValueError: the sums have a lower n-gram order than the scoring, or the scoring is only for
        single segments.
    """
    require_scorable(max_order, scoring)
    if not sums[CANDIDATE_LENGTH]:
        raise NoGradientError("no candidate has a token")
    # (column, numerator, denominator) of each term of a derivative.
    terms = [*_of_precisions(sums, max_order, scoring), *_of_brevity(sums, scoring)]
    # The product, not the least common multiple: the numbers are small, and it is faster.
    denominator = 1
    for each in {denominator for _, _, denominator in terms}:
        denominator *= each
    numerators: dict[int, int] = {}
    for column, numerator, own in terms:
        if sums[column]:
            numerators[column] = numerators.get(column, 0) + numerator * (denominator // own)
    columns = sorted(numerators)
    return LogGradient(tuple(columns), tuple(numerators[column] for column in columns), denominator)


def _of_precisions(
    sums: Sequence[int], max_order: int, scoring: Scoring
) -> Iterator[tuple[int, int, int]]:
    counts = function_of(_COUNTS, scoring.smooth_method, "gradient of the smoothing method")
    value = scoring.effective_smooth_value if counts.added is None else counts.added
    added, parts = value.as_integer_ratio()
    short = first_short(max_order)
    counted: list[tuple[int, int, int]] = []  # order, matches and total in parts
    for order in range(1, scoring.max_ngram_order + 1):
        if scoring.weights and not scoring.weights[order - 1]:
            continue
        plus = added if counts.first is not None and order >= counts.first else 0
        ngrams = total(sums, max_order, order)
        if counts.short_add:
            ngrams += sums[short + order - 1]
        if scoring.effective_order and not ngrams and not plus:
            break
        matches = sums[FIRST_MATCHES + order - 1]
        if not matches:
            raise NoGradientError(f"no {order}-gram of a candidate is in its references")
        counted.append((order, matches * parts + plus, ngrams * parts + plus))
    if not counted:
        raise NoGradientError("no candidate is as long as the n-grams that have a weight")
    for order, matches, ngrams in counted:
        weight = Fraction(scoring.weights[order - 1]) if scoring.weights else 1
        numerator = weight.numerator * parts
        divisor = weight.denominator if scoring.weights else len(counted)
        yield FIRST_MATCHES + order - 1, numerator, divisor * matches
        # t_n = c - (n - 1) segments + h_1 + ... + h_(n-1)
        yield CANDIDATE_LENGTH, -numerator, divisor * ngrams
        yield SEGMENTS, (order - 1) * numerator, divisor * ngrams
        for column in range(short, short + order - 1 + counts.short_add):
            yield column, -numerator, divisor * ngrams


def _of_brevity(sums: Sequence[int], scoring: Scoring) -> Iterator[tuple[int, int, int]]:
    candidates = sums[CANDIDATE_LENGTH]
    references, divisor = reference_length(sums, scoring.reference_length)
    if candidates * divisor >= references:
        return
    yield CANDIDATE_LENGTH, references, divisor * candidates * candidates
    for column, own in length_columns(scoring.reference_length):
        yield column, -1, own * candidates
