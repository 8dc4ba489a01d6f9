"""The scores of all systems in all groups, and their standard errors.

A standard error says how much a score would change with another sample of test units. A score is a
smooth function f of the sums S of n units. So a unit with the integers x changes it by about
g'(x - S/n), with g the gradient of f, and the variance of f is that of the sum of these influences:
g'(nQ - SS')g / (n - 1), with Q the sum of all xx' (the delta method; Deng et al. 2018,
https://arxiv.org/abs/1803.06336). The same formula, with the integers of two systems side by side,
gives the standard error of their difference.

The matrix nQ - SS' is computed exactly, because its two parts can agree in more digits than a float
has. The gradient comes from the formula itself (metrics/differentiation.py). Both are multiplied
and added up as floats, column by column, in the same order on every machine.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from beam_bleu.transforms.metrics.differentiation import gradient
from beam_bleu.transforms.metrics.metric import SEGMENTS, Metric
from beam_bleu.transforms.native.arrays import ExactIntegers, Floats, Integers, largest
from beam_bleu.transforms.score.differences import (
    FEWEST_UNITS,
    Difference,
    McNemar,
    interval,
    judged,
    mcnemar,
    too_few,
    wilson,
)
from beam_bleu.transforms.score.score import Score
from beam_bleu.transforms.score.suspicious_input import suspicions
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.group_totals import (
    CorpusSums,
    GroupKey,
    GroupTotals,
    packed_places,
)

_ROUNDING = 2.0**-44
"""A variance below this share of its terms' sizes may be nothing but their rounding: it is 0."""

_NEW = np.newaxis

_LARGEST_PRODUCT = 2**62  # a difference of two products below this fits in an int64


@dataclasses.dataclass(frozen=True, eq=False)
class Estimates:
    """The standard errors of a metric's scores, and of their differences, in all groups."""

    totals: GroupTotals
    metric: Metric

    def standard_error(self, system: str, key: GroupKey = None) -> tuple[float | None, str]:
        """The standard error of a score; or None and the reason: "" if none was asked for."""
        group, place = self.totals.group_of.get(key), self.totals.place_of.get(system)
        if group is None or place is None or not self.totals.has_products:
            return None, ""
        error = float(self._of_scores[group, place])
        if math.isnan(error):
            return None, self._why_no_error(self.totals.own[group, place])
        return error, ""

    def wilson_interval(self, system: str, key: GroupKey = None) -> tuple[float, float] | None:
        """Wilson's interval of a score, if each segment is right or wrong; else None."""
        group, place = self.totals.group_of.get(key), self.totals.place_of.get(system)
        if group is None or place is None:
            return None
        sums = self.totals.own[group, place]
        if (right := self._right(sums)) is None:
            return None
        of_one = [column in (SEGMENTS, self.metric.OUTCOME) for column in range(self.totals.width)]
        low, high = wilson(right, int(sums[0]))
        points = self.metric.value(of_one)
        return points * low, points * high

    def difference(self, system: str, baseline: str, key: GroupKey = None) -> Difference | None:
        """A score minus its baseline's, on the units that all systems have. What makes a test set
        hard is mostly the same for both, so the error is usually smaller than those of the scores.
        If all counts are the same, the p-value is 1, even with few units or without matches.
        """
        totals = self.totals
        group, place_of = totals.group_of.get(key), totals.place_of
        if group is None or not {system, baseline} <= {*place_of} or not totals.common[group, 0, 0]:
            return None
        places = [place_of[system], place_of[baseline]]
        sums = totals.common[group, places]
        units, segments = sums[0, [0, 1 + SEGMENTS]].tolist()
        pair = totals.number_of_pair[min(places), max(places)]
        error = float(self._of_differences[group, pair])
        if not math.isnan(error):
            new, old = self._common.scores[group, places].tolist()
            found = judged(units, segments, new - old, error)
        elif self._are_identical(group, pair):
            found = judged(units, segments, 0.0, 0.0)
        else:
            new, old = map(self.metric.value, sums[:, 1 : 1 + totals.width].tolist())
            reason = self._why_no_error(sums[0]) or self._why_no_error(sums[1])
            found = Difference(units, segments, new - old, reason=reason)
        exact = self._mcnemar(sums, group, pair)
        return found if exact is None else dataclasses.replace(found, mcnemar=exact)

    def _mcnemar(self, sums: ExactIntegers, group: int, pair: int) -> McNemar | None:
        own, other = map(self._right, sums)
        if own is None or other is None:
            return None
        outcome = self.metric.OUTCOME
        both = int(self.totals.crosses[group, pair, outcome, outcome])
        return mcnemar(own - both, other - both)

    def _right(self, sums: ExactIntegers) -> int | None:
        """How many segments are right; None unless each unit is a segment with the value 0 or 1."""
        outcome, width = self.metric.OUTCOME, self.totals.width
        if outcome is None or not self.totals.has_products or not sums[0]:
            return None
        units, *columns = sums[: 1 + width].tolist()
        # An integer of 0 or more is 0 or 1 in all units if its squares have the same sum.
        squares = sums[1 + width + packed_places(width)[outcome, outcome]]
        is_binary = (units, squares) == (columns[SEGMENTS], columns[outcome])
        is_binary &= not any(columns[column] for column in self._beside_outcome)
        return columns[outcome] if is_binary else None

    @functools.cached_property
    def _beside_outcome(self) -> set[int]:
        return {*self.metric.used(self.totals.width)} - {SEGMENTS, self.metric.OUTCOME}

    def _why_no_error(self, sums: ExactIntegers) -> str:
        units, *columns = sums[: 1 + self.totals.width].tolist()
        if units < FEWEST_UNITS:
            # Documents of one segment each are called segments.
            return too_few(units, "segment" if units == columns[SEGMENTS] else "document")
        return self.metric.why_no_gradient(columns)

    def _are_identical(self, group: int, pair: int) -> bool:
        """Whether two systems have equal counts in every unit: squared differences sum to 0."""
        totals, used = self.totals, self.metric.used(self.totals.width)
        squares = 1 + totals.width + packed_places(totals.width)[used, used]
        one, two = totals.common[group, list(totals.pairs[pair])][:, squares]
        cross = totals.crosses[group, pair, used, used]
        return not ((one - cross) + (two - cross)).any()

    @functools.cached_property
    def _own(self) -> _Gradients:
        return _gradients(self.totals.own, self.totals.width, self.metric)

    @functools.cached_property
    def _common(self) -> _Gradients:
        if self.totals.rest is None:
            return self._own
        return _gradients(self.totals.common, self.totals.width, self.metric)

    @functools.cached_property
    def _of_scores(self) -> Floats:
        """Float64 (groups, systems); nan where there is none."""
        totals, (used, scores, slopes) = self.totals, self._own

        def of_block(groups: Integers, systems: Integers) -> Floats:
            rows = groups, systems
            units, sums, products = _parts(totals.own[rows], totals.width, used)
            return standard_errors(scores[rows], units, sums, products, slopes[rows])

        return _in_blocks(scores.shape, of_block)

    @functools.cached_property
    def _of_differences(self) -> Floats:
        """Float64 (groups, pairs); nan where there is none.

        With x the integers of a unit by a pair's first system, y those by its second one, and g and
        h the gradients, the influence of a unit is (g - h)'x + h'(x - y). With x and x - y side by
        side as the columns, nothing cancels if both systems are nearly the same.
        """
        totals, (used, scores, slopes) = self.totals, self._common
        first, second = np.array(totals.pairs, np.int64).reshape(-1, 2).T

        def of_block(groups: Integers, pairs: Integers) -> Floats:
            x, y = (groups, first[pairs]), (groups, second[pairs])
            units, sums, products = _parts(totals.common[x], totals.width, used)
            _, other_sums, other_products = _parts(totals.common[y], totals.width, used)
            crosses = totals.crosses[groups, pairs][:, used[:, _NEW], used]
            mixed = products - crosses
            differences = mixed - crosses.swapaxes(1, 2) + other_products
            return standard_errors(
                scores[x] - scores[y],
                units,
                np.block([sums, sums - other_sums]),
                np.block([[products, mixed], [mixed.swapaxes(1, 2), differences]]),
                np.block([slopes[x] - slopes[y], slopes[y]]),
            )

        return _in_blocks((len(totals.keys), len(totals.pairs)), of_block)


class _Gradients(NamedTuple):
    """Scores, float64 (groups, systems), and their derivatives, `slopes` (groups, systems, used),
    by the columns `used`: those that any score depends on, and always the first. A score is nan if
    there are too few units, or if it has no gradient.
    """

    used: Integers
    scores: Floats
    slopes: Floats


def _gradients(values: ExactIntegers, width: int, metric: Metric) -> _Gradients:
    scores = np.full(values.shape[:2], math.nan)
    slopes = np.zeros((*values.shape[:2], width))
    for group, system in np.argwhere(values[..., 0] >= FEWEST_UNITS).tolist():
        sums = tuple(values[group, system, 1 : 1 + width].tolist())
        if not metric.why_no_gradient(sums):
            scores[group, system], slopes[group, system] = _gradient(metric, sums)
    is_used = (slopes != 0).any(axis=(0, 1))
    is_used[SEGMENTS] = True
    used = np.flatnonzero(is_used)
    return _Gradients(used, scores, slopes[..., used])


@functools.lru_cache(maxsize=2**15)
def _gradient(metric: Metric, sums: tuple[int, ...]) -> tuple[float, tuple[float, ...]]:
    """A score and its derivatives. Systems that give many segments the same text share sums."""
    return gradient(metric.value, sums)


def _parts(
    values: ExactIntegers, width: int, used: Integers
) -> tuple[ExactIntegers, ExactIntegers, ExactIntegers]:
    """(rows,) n, (rows, used) S, and (rows, used, used) Q of rows as in `GroupTotals.common`."""
    places = 1 + width + packed_places(width)[used[:, _NEW], used]
    return values[:, 0], values[:, 1 + used], values[:, places]


_BLOCK = 1024  # the rows whose standard errors are computed at once: some MB


def _in_blocks(shape: tuple[int, int], of_block: Callable[[Integers, Integers], Floats]) -> Floats:
    rows, columns = np.indices(shape).reshape(2, -1)
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(rows), _BLOCK)]
    errors = [of_block(rows[block], columns[block]) for block in blocks]
    return np.concatenate([np.empty(0), *errors]).reshape(shape)


def standard_errors(
    scores: Floats,
    units: ExactIntegers,
    sums: ExactIntegers,
    products: ExactIntegers,
    slopes: Floats,
) -> Floats:
    """The standard errors, float64 (rows,), from each row's score, n, S, Q and derivatives."""
    if largest(units) * largest(products) >= _LARGEST_PRODUCT:
        units, sums, products = (values.astype(object) for values in (units, sums, products))
    spreads = units[:, _NEW, _NEW] * products - sums[:, :, _NEW] * sums[:, _NEW, :]
    # Without these powers of 2 the variance of a large perplexity would exceed the range of floats.
    _, exponents = np.frexp(np.abs(slopes).max(axis=1, initial=0))
    slopes = np.ldexp(slopes, -exponents[:, _NEW])
    if spreads[:, SEGMENTS, SEGMENTS].any():
        spreads, slopes = _beside_size(spreads, sums, slopes)
    variance = size = np.zeros(scores.shape)
    for i, j in itertools.combinations_with_replacement(range(slopes.shape[1]), 2):
        term = slopes[:, i] * slopes[:, j] * spreads[:, i, j].astype(np.float64) * (1 + (i != j))
        variance, size = variance + term, size + np.abs(term)
    variance = np.where(variance < _ROUNDING * size, 0, variance)
    others = np.maximum(units.astype(np.float64) - 1, 1)
    errors: Floats = np.ldexp(np.sqrt(variance / others), exponents)
    return np.where(np.isnan(scores), math.nan, errors)


def _beside_size(
    spreads: ExactIntegers, sums: ExactIntegers, slopes: Floats
) -> tuple[ExactIntegers, Floats]:
    """The same spreads and slopes for columns from which the size of documents is taken out.

    Documents differ most of all in their size, on which most scores hardly depend, so the terms of
    the variance would cancel. Each column x becomes x - r s, where s is the number of segments of
    the document, and the integer r is about the average of x in a segment.
    """
    averages = sums // np.maximum(sums[:, :1], 1)
    averages[:, SEGMENTS] = 0
    of_size = spreads[:, SEGMENTS]
    if largest(abs(averages)) ** 2 * largest(of_size[:, SEGMENTS]) >= _LARGEST_PRODUCT // 4:
        spreads, averages, of_size = (x.astype(object) for x in (spreads, averages, of_size))
    by_size = averages[:, :, _NEW] * of_size[:, _NEW]
    both = averages[:, :, _NEW] * averages[:, _NEW, :] * of_size[:, :1, _NEW]
    slopes = slopes.copy()
    for column in range(1, slopes.shape[1]):
        slopes[:, SEGMENTS] += slopes[:, column] * averages[:, column].astype(np.float64)
    return spreads - by_size - by_size.swapaxes(1, 2) + both, slopes


def score_parts(
    metric: Metric, sums: CorpusSums, text: TextName, why_no_error: str, *, judge_input: bool
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The score of a corpus with the fields of its metric, and warnings. Those about suspicious
    input come only with `judge_input`, because another score of the same texts may have them.
    """
    columns = sums.columns
    parts = metric.parts(columns)
    why_zero = metric.why_zero(columns, parts)
    lengths = metric.lengths(columns) if judge_input else None
    warnings = [why_zero] if why_zero else []
    if why_no_error:
        warnings.append(f"no standard error: {why_no_error}")
    if lengths is not None:
        warnings += suspicions(sums, text, lengths, why_zero=why_zero)
    return parts, (*warnings, *metric.warnings(columns))


def corpus_score(
    estimates: Estimates, text: TextName, system: str | None = None, *, judge_input: bool = True
) -> Score:
    """The score of a system, by default of the only one. For `judge_input`, see `score_parts`."""
    totals, metric = estimates.totals, estimates.metric
    if system is None:
        (system,) = totals.systems
    sums = totals.sums(system)
    error, reason = estimates.standard_error(system)
    parts, warnings = score_parts(metric, sums, text, reason, judge_input=judge_input)
    own, of_sacrebleu = _signatures(
        metric, text, sums.min_reference_count, sums.max_reference_count
    )
    score: Score = metric.score_type(
        **parts,
        name=metric.name,
        segments=sums.segments,
        signature=own,
        sacrebleu_signature=of_sacrebleu,
        warnings=warnings,
        standard_error=error,
        interval=interval(parts["score"], error),
    )
    return score


@functools.lru_cache(maxsize=256)
def _signatures(metric: Metric, text: TextName, fewest: int, most: int) -> tuple[str, str | None]:
    return metric.signatures(text, fewest, most)
