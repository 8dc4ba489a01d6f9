"""How well segment scores agree with people: the measures of WMT's metrics tasks.

Each measure takes human scores and scores of a metric, as arrays of systems by segments, of which
higher is better and NaN is missing. Values equal those of mt-metrics-eval (google-research, commit
68a481a), except that it gives 0 where a correlation is not defined.

Standard errors are those of another sample of segments, with the same systems. Most come from the
influences of segments, as in estimates.py: the derivatives of the value by the weights of segments.
For SPA, whose p-values are too curved for that, they come from resampled segments.
"""

from __future__ import annotations

import bisect
import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.native.arrays import Booleans, Floats, Integers
from beam_bleu.transforms.score.differences import FEWEST_UNITS, interval, too_few

_PERMUTATIONS, _SEED = 1000, 4  # those of mt-metrics-eval
_RESAMPLES = 200
_DECIMALS = 12  # what is smaller comes from rounding

MeasureName = Literal["spa", "acc_eq", "pearson", "kendall"]


@dataclasses.dataclass(frozen=True)
class Agreement:
    """The value of a measure on the segments that have it. `reason`: why a number is None."""

    value: float | None = None
    standard_error: float | None = None
    segments: int = 0
    threshold: float | None = None
    reason: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.value is None else interval(self.value, self.standard_error)


class _Undefined(Exception):  # noqa: N818  (it becomes a reason)
    pass


@dataclasses.dataclass(frozen=True)
class Measure:
    """A row of `MEASURES`."""

    name: MeasureName
    label: str
    compute: Callable[[Floats, Floats], Agreement]

    def agreement(self, human: Floats, metric: Floats) -> Agreement:
        rated = human[~np.isnan(human + metric)]
        if len(rated) and (rated == rated[0]).all():  # of which any metric would be a good one
            return Agreement(reason="all human scores are equal")
        try:
            found = self.compute(human, metric)
        except _Undefined as error:
            return Agreement(reason=str(error))
        if found.segments >= FEWEST_UNITS:
            return found
        reason = too_few(found.segments, "segment")
        return dataclasses.replace(found, standard_error=None, reason=reason)


def _soft_pairwise_accuracy(human: Floats, metric: Floats) -> Agreement:
    """1 - the difference of two p-values, averaged over pairs of systems (Thompson et al. 2024)."""
    complete = ~np.isnan(human + metric).any(axis=0)
    segments = int(complete.sum())
    if len(human) < 2 or not segments:
        raise _Undefined("no segment has the scores of two or more systems")
    by_human, by_metric = human[:, complete], metric[:, complete]
    value = 1 - np.abs(_p_values(by_human) - _p_values(by_metric)).mean()
    draws = np.random.default_rng(_SEED).integers(segments, size=(_RESAMPLES, segments))
    weights = np.stack([np.bincount(draw, minlength=segments) for draw in draws]).astype(np.float64)
    differences = _resampled(by_human, weights) - _resampled(by_metric, weights)
    error = np.abs(differences).mean(axis=1).std(ddof=1)
    return Agreement(float(value), float(error), segments)


def _p_values(scores: Floats) -> Floats:
    """For each pair of systems, that the first one is better: the p-value of a permutation test.

    In single precision and with the signs of mt-metrics-eval, so that it finds the same ties.
    """
    first, second = np.triu_indices(len(scores), 1)
    single = scores.astype(np.float32, order="C")
    size = _PERMUTATIONS, scores.shape[1]
    signs = np.rint(np.random.default_rng(_SEED).random(size, dtype=np.float32)) * 2 - 1
    sums, permuted = single.sum(axis=1), signs @ single.T
    reached = permuted[:, first] - permuted[:, second] >= sums[first] - sums[second]
    return np.asarray(reached.mean(axis=0))


def _resampled(scores: Floats, weights: Floats) -> Floats:
    """These p-values for each row of weights of segments, as if permutations were normal."""
    first, second = np.triu_indices(len(scores), 1)
    differences = (scores[first] - scores[second]).T
    variances = weights @ np.square(differences)
    z = weights @ differences / np.sqrt(np.where(variances > 0, variances, 1))
    return np.asarray(np.vectorize(math.erfc, otypes=[np.float64])(z / math.sqrt(2)) / 2)


def _accuracy_with_ties(human: Floats, metric: Floats) -> Agreement:
    """The share of right pairs of systems in a segment, averaged over segments: better, worse, or
    tied (Deutsch et al. 2023). Scores of the metric within a threshold of each other are tied. It
    is the smallest one with the largest value, and influences take it for given.
    """
    first, second = np.triu_indices(len(human), 1)
    order, differences = np.sign(human[first] - human[second]), metric[first] - metric[second]
    there = ~np.isnan(order + differences)
    of_pairs = there.any(axis=0)
    if not of_pairs.any():
        raise _Undefined("no segment has the scores of two or more systems")
    there, order, differences = (each[:, of_pairs] for each in (there, order, differences))
    is_tied, is_ordered = order == 0, order == np.sign(differences)
    shares = 1 / there.sum(axis=0) / there.shape[1]
    gains = ((is_tied.astype(np.float64) - is_ordered) * shares)[there]
    distances = np.abs(differences)
    by_distance = np.argsort(distances[there])
    thresholds = np.append(0, distances[there][by_distance])
    is_last = np.append(thresholds[1:] != thresholds[:-1], True)
    found = np.append(0, gains[by_distance]).cumsum()[is_last].round(_DECIMALS).argmax()
    threshold = thresholds[is_last][found]
    is_right = there & np.where(distances <= threshold, is_tied, is_ordered)
    accuracies = is_right.sum(axis=0) / there.sum(axis=0)
    value = float(accuracies.mean())
    error = _error((accuracies - value) / len(accuracies))
    return Agreement(value, error, len(accuracies), float(threshold))


def _pearson(human: Floats, metric: Floats) -> Agreement:
    there, x, y = _correlated(human, metric)
    x, y = (scores - scores.mean() for scores in (x, y))
    x, y = (scores / math.sqrt(np.square(scores).sum()) for scores in (x, y))
    value = float((x * y).sum())
    return Agreement(value, *_error_of_scores(x * y - value / 2 * (x * x + y * y), there))


def _kendall(human: Floats, metric: Floats) -> Agreement:
    """Kendall's tau-b. Each count of pairs is the sum of those that each score is in."""
    there, *pair = _correlated(human, metric)
    x, y = (np.unique(scores, return_inverse=True)[1] for scores in pair)
    tied_x, tied_y, tied_both = map(_others, (x, y, x * len(y) + y))
    untied_x, untied_y = len(x) - 1 - tied_x, len(y) - 1 - tied_y
    agreeing = untied_x + untied_y - (len(x) - 1) + tied_both - 2 * _discordant(x, y)
    sum_x, sum_y = float(untied_x.sum()), float(untied_y.sum())
    scale = math.sqrt(sum_x) * math.sqrt(sum_y)
    value = float(agreeing.sum()) / scale
    influences = 2 * agreeing / scale - value * (untied_x / sum_x + untied_y / sum_y)
    return Agreement(value, *_error_of_scores(influences, there))


def _others(codes: Integers) -> Integers:
    """For each code, how many others are equal to it."""
    _, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(counts[places] - 1)


def _discordant(x: Integers, y: Integers) -> Integers:
    """For each pair of codes, how many others have a larger x and a smaller y, or the reverse."""
    order = np.lexsort((y, x))
    counts = np.empty(len(x), np.int64)
    counts[order] = _larger_before(y[order]) + _larger_before(-y[order][::-1])[::-1]
    return counts


def _larger_before(codes: Integers) -> Integers:
    before: list[int] = []
    counts = []
    for code in codes.tolist():
        counts.append(len(before) - bisect.bisect_right(before, code))
        bisect.insort(before, code)
    return np.array(counts)


def _correlated(human: Floats, metric: Floats) -> tuple[Booleans, Floats, Floats]:
    """Which scores both have, and these scores."""
    there = ~np.isnan(human + metric)
    x, y = human[there], metric[there]
    if not (y != y[:1]).any():
        raise _Undefined("all metric scores are equal" if len(y) else "no scores")
    return there, x, y


def _error_of_scores(influences: Floats, there: Booleans) -> tuple[float, int]:
    """The standard error by the influences of all scores, and the number of segments."""
    sums = np.zeros(there.shape)
    sums[there] = influences
    of_segments = sums.sum(axis=0)[there.any(axis=0)]
    return _error(of_segments), len(of_segments)


def _error(influences: Floats) -> float:
    segments = len(influences)
    error = math.sqrt(np.square(influences).sum() * segments / max(segments - 1, 1))
    return round(error, _DECIMALS)


MEASURES: Mapping[MeasureName, Measure] = table(
    Measure("spa", "SPA", _soft_pairwise_accuracy),
    Measure("acc_eq", "acc_eq", _accuracy_with_ties),
    Measure("pearson", "Pearson", _pearson),
    Measure("kendall", "tau-b", _kendall),
)
"""SPA and acc_eq are those of WMT24 and WMT25. The correlations are of all scores together, without
groups, as WMT23 had Pearson's and WMT22 both."""
