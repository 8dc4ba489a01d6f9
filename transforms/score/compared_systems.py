"""The scores of several systems on the same segments, and which differences are real."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.differences import clusters, holm, paired_difference
from beam_bleu.transforms.score.metric_kind import Score
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.system_sums import SystemSums


@dataclasses.dataclass(frozen=True)
class SystemComparison:
    """A system compared with a baseline on the same segments.

    Attributes:
      system: the system.
      baseline: the system whose score is subtracted.
      segments: the number of segments.
      difference: in points of the score, -100..100.
      standard_error: of the difference; None if there is none.
      interval: the 95 % interval of the difference; None if there is no standard error.
      p_value: how probable a difference at least so large, up or down, would be if there were no
        difference in truth; None if there is no standard error.
      p_value_holm: the same, adjusted by Holm for all comparisons of the element.
      detectable: the true difference that would be found significant with a probability of 80 %.
      reason: why one of these is None; "" if none is.
    """

    system: str
    baseline: str
    segments: int
    difference: float
    standard_error: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    p_value_holm: float | None
    detectable: float | None
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class ComparedSystems:
    """The scores and comparisons of several systems.

    Attributes:
      scores: the score of each system by its name: a `BleuScore` or a `ChrfScore`.
      comparisons: the comparisons with the baseline, or of all pairs.
      clusters: with all pairs, the names of the systems in clusters, best first: each system is
        significantly better than all systems of later clusters. Systems without a standard error
        are in none. Otherwise empty.
    """

    scores: Mapping[str, Any]
    comparisons: tuple[SystemComparison, ...]
    clusters: tuple[tuple[str, ...], ...] = ()


def compared_systems(
    sums: SystemSums,
    systems: Sequence[str],
    metric: Metric,
    score: Callable[[CorpusSums], Score],
    *,
    all_pairs: bool,
) -> ComparedSystems:
    """The scores and comparisons of systems.

    Args:
      sums: those of one or more segments.
      systems: the systems' names, in the order of the sums.
      metric: how sums become a score.
      score: gives the score of the sums of a system, with its parts.
      all_pairs: whether the sums have all pairs, and clusters are asked for.
    """
    scores = {
        system: score(of_system) for system, of_system in zip(systems, sums.systems, strict=True)
    }
    found = [paired_difference(sums.of_pair(number), metric) for number in range(len(sums.pairs))]
    adjusted = holm([each.p_value for each in found])
    comparisons = tuple(
        SystemComparison(
            systems[system],
            systems[baseline],
            each.segments,
            each.difference,
            each.standard_error,
            each.interval,
            each.p_value,
            p_value_holm,
            each.detectable,
            each.reason,
        )
        for (system, baseline), each, p_value_holm in zip(sums.pairs, found, adjusted, strict=True)
    )
    if not all_pairs:
        return ComparedSystems(scores, comparisons)
    p_values = {(each.system, each.baseline): each.p_value_holm for each in comparisons}
    known = [system for system in systems if scores[system].standard_error is not None]
    ranked = sorted(known, key=lambda system: -scores[system].score)
    return ComparedSystems(scores, comparisons, tuple(map(tuple, clusters(ranked, p_values))))
