"""Compares a result with thresholds, and ends a job with an error if one is missed.

It sees only results, no files. The last step of a job calls `enforce`, because there may be no
launcher that waits for the result. The launcher calls `judged`, for the warnings.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.gates.results import GatedResult, GatedResults, GatedScore, gated
from beam_bleu.pipeline.gates.thresholds import (
    DROP_RULES,
    DropRule,
    Gates,
    Threshold,
    targets,
)
from beam_bleu.transforms.errors import GateError
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.uncertainty import interval

_LOGGER = logging.getLogger("beam_bleu.gates")

_MOST_REASONS = 5
"""How many reasons an error has: it is one line."""

_FEWEST_DECIMALS = 2
"""How many decimals a score has in messages, unless its standard error asks for more."""

_INDEPENDENT = "with independent standard errors"

Paired = Mapping[str, tuple[float, float]]
"""By system, the interval of the new score minus the old one, on the whole corpus."""

NOT_PAIRED: Mapping[str, Paired] = {}
"""No system of two results is known to have the same segments in both."""


@dataclasses.dataclass(frozen=True)
class Check:
    """What a threshold says of a score.

    Attributes:
      passed: whether the score reaches it.
      text: the numbers, and the flag.
      only_warns: whether it is a warning if the score does not reach it.
    """

    passed: bool
    text: str
    only_warns: bool = False

    @property
    def fails(self) -> bool:
        """Whether the result does not pass because of it."""
        return not self.passed and not self.only_warns

    @property
    def warns(self) -> bool:
        """Whether it is a warning."""
        return not self.passed and self.only_warns


def judge(
    new: GatedResults, gates: Gates, paired: Mapping[str, Paired] = NOT_PAIRED
) -> list[Check]:
    """Compares a result with all thresholds.

    What cannot be compared fails: a system or a slice that is missing, and a score without a
    standard error if the threshold needs it.

    Args:
      new: the metrics of the result.
      gates: the thresholds, each of which is possible for these metrics (`impossible_metric`).
      paired: for each metric the intervals of the systems for which both results have the same
        segments. The other differences are those of independent results.
    """
    checks: list[Check] = []
    for name, result in new.items():
        of_metric = gates.of_metric(name, is_only=len(new) == 1)
        failing, warning = of_metric.fail_under, of_metric.warn_under
        if _lower_is_better(name):
            failing, warning = of_metric.fail_over, of_metric.warn_over
        own_checks = [
            *_beyond(name, result, failing),
            *(
                dataclasses.replace(check, only_warns=True)
                for check in _beyond(name, result, warning)
            ),
            *_drops(name, result, of_metric, paired.get(name, {})),
        ]
        named = f"{result.metric}: " if len(new) > 1 else ""
        checks += [dataclasses.replace(check, text=named + check.text) for check in own_checks]
    return checks


def gate_error(checks: Sequence[Check], remedy: str) -> GateError | None:
    """The error for the checks that failed; None if none did.

    Args:
      checks: all checks of a result.
      remedy: what to do.
    """
    reasons = [check.text for check in checks if check.fails]
    if not reasons:
        return None
    cause = "; ".join(reasons[:_MOST_REASONS])
    if len(reasons) > _MOST_REASONS:
        cause += f"; and {len(reasons) - _MOST_REASONS} more"
    if len(reasons) > 1:
        cause = f"{len(reasons)} checks failed: {cause}"
    return GateError(cause, remedy)


def _lower_is_better(metric: str) -> bool:
    return row_of(metric).lower_is_better


def _decimals(metric: str, *standard_errors: float | None) -> int:
    return max(_FEWEST_DECIMALS, decimals_of(metric, None, standard_errors))


def _beyond(metric: str, new: GatedResult, thresholds: tuple[Threshold, ...]) -> Iterator[Check]:
    """Compares scores with the worst ones that are allowed."""
    side = "above" if _lower_is_better(metric) else "below"
    asked = targets(thresholds, new)
    for threshold, lacking in asked.missing.items():
        yield Check(False, f"{_subject(new)}: {lacking} ({threshold.shown})")
    for key, threshold in asked.thresholds.items():
        score = new.scores[key].score
        if score is None:
            yield Check(False, f"{_shown(key, new.means_of)} has no score ({threshold.shown})")
            continue
        worst = threshold.number
        is_worse = score > worst if side == "above" else score < worst
        yield Check(
            not is_worse,
            f"{_shown(key, new.means_of)} scores "
            f"{exact_enough(score, worst, _decimals(metric, new.scores[key].standard_error))}, "
            f"{side if is_worse else f'not {side}'} {threshold.typed_number} ({threshold.flag})",
        )


def _drops(metric: str, new: GatedResult, gates: Gates, paired: Paired) -> Iterator[Check]:
    if gates.old is None or not gates.max_drop:
        return
    if metric not in gates.old:
        yield Check(False, f"the result of --against has no {metric} ({gates.max_drop[0].shown})")
        return
    old = gates.old[metric]
    if new.definition != old.definition or new.references != old.references:
        yield Check(
            False,
            f"the scores of {old.name} are of another definition, so they cannot be compared: "
            f"{_made(old)} there, {_made(new)} here (--against)",
        )
        return
    asked = targets(gates.max_drop, old)
    for threshold, lacking in asked.missing.items():
        yield Check(False, f"{old.name}: {lacking} ({threshold.shown})")
    for key in old.keys:
        if key not in new.scores:
            yield Check(False, f"{_subject(new)} has no {_shown(key)}, but {old.name} has it")
        elif key in asked.thresholds and not key[0] and new.whole != old.whole:
            # A language more in a mean can hide a drop of the others.
            yield Check(
                False,
                f"{_shown(key)} has {old.whole} in {old.name}, and {new.whole} now: they cannot be "
                f"compared ({asked.thresholds[key].flag})",
            )
        elif key in asked.thresholds:
            bounds = None if key[0] else paired.get(key[1])
            shown = _shown(key, new.means_of)
            rule = DROP_RULES[gates.drop]
            one, other = new.scores[key], old.scores[key]
            threshold = asked.thresholds[key]
            yield _drop(shown, metric, one, other, old.name, threshold, rule, bounds)


def _drop(
    name: str,
    metric: str,
    new: GatedScore,
    old: GatedScore,
    where_old: str,
    threshold: Threshold,
    rule: DropRule,
    bounds: tuple[float, float] | None,
) -> Check:
    """Compares the difference of two scores with the largest drop that is allowed.

    `name` is that of the score in messages, `where_old` is the name of the old result, and `bounds`
    is the interval of the difference if it is known of pairs of segments. If a lower score is
    better, a rise is what a drop is otherwise.
    """
    lower_is_better = _lower_is_better(metric)
    decimals = _decimals(metric, new.standard_error, old.standard_error)
    drop, sign = ("rise", 1) if lower_is_better else ("drop", -1)
    such = f"a {drop} of more than {threshold.typed_number}"
    flags = f"{threshold.flag}, --drop {rule.name}"
    if new.score is None or old.score is None:
        where = "now" if new.score is None else f"in {where_old}"
        return Check(False, f"{name} has no score {where}: {such} cannot be judged ({flags})")
    difference = new.score - old.score
    relation = "below" if difference < 0 else "above"
    scores = (
        f"{name} scores {new.score:.{decimals}f}, {abs(difference):.{decimals}f} "
        f"{relation} the {old.score:.{decimals}f} of {where_old}"
    )
    if new.counts and new.counts == old.counts:
        # Intervals of independent test sets would not exclude a drop where nothing has changed.
        return Check(True, f"{name} has the same counts as in {where_old} ({flags})")
    how = "of paired segments"
    if bounds is None and (new.standard_error is None or old.standard_error is None):
        where = "now" if new.standard_error is None else f"in {where_old}"
        return Check(
            False, f"{scores}, without a standard error {where}: {such} cannot be judged ({flags})"
        )
    if bounds is None:
        assert new.standard_error is not None
        assert old.standard_error is not None
        how = _INDEPENDENT
        bounds = interval(difference, math.hypot(new.standard_error, old.standard_error))
    compared = 1 - rule.bound if lower_is_better else rule.bound
    passed = sign * bounds[compared] <= threshold.number
    shown = [f"{bound:+.{decimals}f}" for bound in bounds]
    missed = rule.missed
    unchanged = interval(0.0, math.hypot(new.standard_error or 0, old.standard_error or 0))
    by_chance = sign * unchanged[compared]
    if not passed and how == _INDEPENDENT and by_chance > threshold.number:
        missed += (
            f"; on other segments, this check fails even if nothing has changed: allow a {drop} of "
            f"{by_chance:.{decimals}f} or more, score the same segments, or choose --drop proven"
        )
    shown[compared] = exact_enough(bounds[compared], sign * threshold.number, decimals, sign="+")
    return Check(
        passed,
        f"{scores} (difference {' to '.join(shown)} {how}): {such} "
        f"{rule.kept if passed else missed} ({flags})",
    )


def exact_enough(value: float, limit: float, fewest: int, sign: str = "") -> str:
    """A number with so many decimals that a reader sees how it compares.

    Args:
      value: the number.
      limit: the number that it is compared with.
      fewest: the smallest number of decimals.
      sign: "+" to write the sign of positive numbers, too.

    >>> exact_enough(29.99997, 30, 2)
    '29.99997'
    """
    for decimals in range(fewest, 18):
        shown = f"{value:{sign}.{decimals}f}"
        if (float(shown) < limit) == (value < limit) and (float(shown) > limit) == (value > limit):
            return shown
    return f"{value:{sign}}"


def _shown(key: tuple[str, str], means_of: str = "") -> str:
    """The system and the slice of a score, and whether it is a mean (`GatedResult.means_of`)."""
    of_slice, system = key
    if of_slice:
        return f"{system}[{of_slice}]"
    return f"{system} ({means_of})" if means_of else system


def _subject(result: GatedResult) -> str:
    return result.name or "the result"


def _made(result: GatedResult) -> str:
    return (
        f"nrefs:{result.references}|{result.definition}" if result.references else result.definition
    )


@dataclasses.dataclass(frozen=True)
class Judged:
    """What thresholds say of a result.

    Attributes:
      error: the error if one of them fails.
      warnings: what a reader of the result must know.
    """

    error: GateError | None = None
    warnings: tuple[str, ...] = ()


def judged(gates: Gates, document: Mapping[str, Any], output: str) -> Judged:
    """What thresholds say of a result.

    Args:
      gates: the thresholds.
      document: the result document.
      output: the folder where it is; "" if it is not kept.
    """
    if not gates:
        return Judged()
    checks = judge(gated(document), gates)
    remedy = "find out what has changed, or change the threshold"
    if output:
        remedy = f"the result in {output} is complete: beam-bleu gate {output} can judge it again"
    warnings = tuple(check.text for check in checks if check.warns)
    return Judged(gate_error(checks, remedy), warnings)


def enforce(gates: Gates, document: Mapping[str, Any], output: str, *, warn: bool) -> None:
    """Raises an error if a result misses a threshold.

    A repeated call raises the same error: it depends only on the result and on the thresholds.

    Args:
      gates: the thresholds.
      document: the result document. It has been written.
      output: the folder where it is; "" if it is not kept.
      warn: whether to write warnings into the worker's log.

    Raises:
      GateError: the result misses a threshold.
    """
    verdict = judged(gates, document, output)
    if warn:
        for warning in verdict.warnings:
            _LOGGER.warning("%s", warning)
    if verdict.error is not None:
        raise verdict.error
