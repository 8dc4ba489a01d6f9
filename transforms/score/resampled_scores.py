"""Judges scores by replicates: their spread, and how easily chance makes such a difference.

D is the difference between two systems, D* that of a replicate, N the number of replicates.

Bootstrap (Koehn 2004, https://aclanthology.org/W04-3250): the scores of replicates spread as those
of other test sets would. So the distances of D* from its mean are what chance alone gives, and
p = (#{|D* - mean D*| >= |D|} + 1) / (N + 1).

Randomization (Riezler and Maxwell 2005, https://aclanthology.org/W05-0908): if two systems are
equally good, it does not matter whose output is whose. So D* is the difference after the outputs of
some segments are swapped, and p = (#{|D*| >= |D|} + 1) / (N + 1).

The 1 is for D itself: without it, p could be 0 (Phipson and Smyth 2010,
https://arxiv.org/abs/1603.05766). Below `FEWEST_UNITS` a bootstrap has too few different replicates
for p-values and intervals. Randomization is valid for any number of units.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from beam_bleu.transforms.definition.resampling import ResamplingMethodName
from beam_bleu.transforms.metrics.metric import Metric, Scores
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.score.differences import FEWEST_UNITS

_OUTSIDE = 40  # one in this number of scores is below the 95 % interval, and one is above it


@dataclasses.dataclass(frozen=True)
class ResampledScore:
    """The scores of a system in all replicates: their mean and 95 % interval, as in sacreBLEU."""

    mean: float
    interval: tuple[float, float] | None


@dataclasses.dataclass(frozen=True)
class ResampledDifference:
    """The differences between two systems in all replicates.

    Attributes:
      interval: their 2.5 % and 97.5 % percentiles; None for randomization, like `mean`.
      p_value: how often chance alone gives a difference of this size or a larger one, two-sided.
        None for a bootstrap of too few units, unless the systems do not differ at all.
      p_sacrebleu: by sacreBLEU's formula. For randomization, it counts only larger differences. For
        the bootstrap, it is (#{|D*| - mean |D*| > |D|} + 1) / (N + 1): without the sign of D*, the
        distances are too small where D is small, so too many differences are significant.
    """

    difference: float
    mean: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    p_sacrebleu: float | None


def resampled_scores(
    method: ResamplingMethodName,
    replicates: Mapping[str, Integers],
    sums: Mapping[str, Sequence[int]],
    metric: Metric,
    units: int,
    pairs: Sequence[tuple[str, str]] = (),
) -> tuple[dict[str, ResampledScore], dict[tuple[str, str], ResampledDifference]]:
    """Judges each pair's difference, and for the bootstrap each system's score, by `replicates`,
    int64 (replicates, W); `sums` are those of the corpus itself.
    """
    whole = {system: np.array(sums[system], np.int64) for system in replicates}
    scores = metric.values(np.stack([*whole.values()])).tolist()
    score = dict(zip(whole, scores, strict=True))
    drawn: dict[str, Scores] = {}
    if method == "bootstrap":
        drawn = {system: metric.values(of_system) for system, of_system in replicates.items()}
    differences = {}
    for system, baseline in pairs:
        difference = score[system] - score[baseline]
        if drawn:
            differences[system, baseline] = bootstrap_difference(
                difference, drawn[system] - drawn[baseline], units
            )
            continue
        moved = replicates[baseline] - replicates[system]
        swapped = metric.values(whole[system] + moved) - metric.values(whole[baseline] - moved)
        sizes, size = np.abs(swapped), abs(difference)
        differences[system, baseline] = ResampledDifference(
            difference, None, None, _share(sizes >= size), _share(sizes > size)
        )
    spread = {
        system: ResampledScore(
            _mean(of_system), percentile_interval(of_system) if units >= FEWEST_UNITS else None
        )
        for system, of_system in drawn.items()
    }
    return spread, differences


def bootstrap_difference(difference: float, drawn: Scores, units: int) -> ResampledDifference:
    mean = _mean(drawn)
    if units < FEWEST_UNITS:
        p_value = None if difference or drawn.any() else 1.0
        return ResampledDifference(difference, mean, None, p_value, None)
    sizes = np.abs(drawn)
    return ResampledDifference(
        difference,
        mean,
        percentile_interval(drawn),
        _share(np.abs(drawn - mean) >= abs(difference)),
        _share(sizes - _mean(sizes) > abs(difference)),
    )


def percentile_interval(scores: Scores) -> tuple[float, float]:
    ordered = np.sort(scores)
    outside = len(ordered) // _OUTSIDE
    return float(ordered[outside]), float(ordered[-1 - outside])


def _mean(values: Scores) -> float:
    # Rounded only once, so that it is the same on each machine.
    return math.fsum(values.tolist()) / len(values)


def _share(is_counted: np.ndarray) -> float:
    return (int(np.count_nonzero(is_counted)) + 1) / (len(is_counted) + 1)
