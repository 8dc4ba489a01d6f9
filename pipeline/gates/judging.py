"""Compares a result with thresholds, and ends a job with an error if one is missed.

The last step of a job calls `enforce`, because there may be no launcher that waits for the result.
The launcher calls `judged`, for the warnings.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from beam_bleu.pipeline.display.row_order import decimals_of
from beam_bleu.pipeline.gates.thresholds import (
    DROP_RULES,
    DropRule,
    Gates,
    Threshold,
    targets,
)
from beam_bleu.pipeline.result.comparing import compared_series
from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, ComparedRow, Result, ScoreRow
from beam_bleu.pipeline.result.series import Definition, Key, definition_of, series_of
from beam_bleu.transforms.errors import GateError
from beam_bleu.transforms.known_metrics import MetricWord, row_of

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.paired_runs import Paired

_LOGGER = logging.getLogger("beam_bleu.gates")

_MOST_REASONS = 5
"""How many reasons an error has: it is one line."""

_FEWEST_DECIMALS = 2
"""How many decimals a score has in messages, unless its standard error asks for more."""

_ONLY_ONE = "what a run has added up is not compared with saved totals"


@dataclasses.dataclass(frozen=True)
class Check:
    """What a threshold says of a score.

    Attributes:
      verdict: whether the score reaches it, and what it is if it does not.
      text: the numbers, and the flag.
    """

    verdict: Literal["passed", "warned", "failed"]
    text: str


def _check(passed: bool, text: str, missed: Literal["warned", "failed"] = "failed") -> Check:
    return Check("passed" if passed else missed, text)


@dataclasses.dataclass(frozen=True)
class _Metric:
    """A metric of a result that is judged.

    Attributes:
      word: the metric, as commands write it.
      result: what the result is called in messages.
      definition: how its scores were made.
      scores: its scores.
    """

    word: MetricWord
    result: str
    definition: Definition
    scores: Mapping[Key, ScoreRow]

    def shown(self, key: Key) -> str:
        """The system and the slice of a score, and whether it is a mean."""
        is_mean = self.scores[key].group == MACRO_AVERAGE
        return f"{key.system} ({self.definition.mean})" if is_mean else key.shown


def judge(
    new: Result, gates: Gates, name: str = "the result", pairs: Paired | str = _ONLY_ONE
) -> list[Check]:
    """Compares a result with all thresholds.

    What cannot be compared fails: a system or a slice that is missing, and a score without a
    standard error if the threshold needs it.

    Args:
      new: the result.
      gates: the thresholds, each of which is possible for its metrics (`impossible_metric`).
      name: what it is called in messages.
      pairs: what compares it with the old result in pairs of segments, or why nothing does.
    """
    metrics, is_only = _metrics(new, name), len(new.metrics) == 1
    former, changes = {}, {}
    if gates.old is not None:
        former = _metrics(gates.old, gates.old_name)
        if not isinstance(pairs, str) and not pairs.has_intervals:
            pairs = "randomization gives no intervals"
        changes = compared_series(gates.old, new, pairs)
    checks: list[Check] = []
    for word, metric in metrics.items():
        failures, warnings, drops = (
            gates.of_metric(kind, word, is_only=is_only) for kind in ("fail", "warn", "drop")
        )
        found = [*_beyond(metric, failures), *_beyond(metric, warnings, missed="warned")]
        if drops and gates.old is not None:
            found += _drops(metric, former[word], drops, DROP_RULES[gates.drop], changes)
        named = "" if is_only else f"{metric.definition.name}: "
        checks += (Check(check.verdict, named + check.text) for check in found)
    return checks


def _metrics(result: Result, name: str) -> dict[MetricWord, _Metric]:
    scores = series_of(result)
    return {
        word: _Metric(
            word,
            name,
            definition_of(result, word),
            {key: row for key, row in scores.items() if key.metric == word},
        )
        for word in result.words
    }


def gate_error(checks: Sequence[Check], remedy: str) -> GateError | None:
    """The error for the checks that failed; None if none did. `remedy` is what to do."""
    reasons = [check.text for check in checks if check.verdict == "failed"]
    if not reasons:
        return None
    cause = "; ".join(reasons[:_MOST_REASONS])
    if len(reasons) > _MOST_REASONS:
        cause += f"; and {len(reasons) - _MOST_REASONS} more"
    if len(reasons) > 1:
        cause = f"{len(reasons)} checks failed: {cause}"
    return GateError(cause, remedy)


def _decimals(metric: MetricWord, *rows: ScoreRow) -> int:
    errors = [row.standard_error for row in rows]
    return max(_FEWEST_DECIMALS, decimals_of(metric, errors))


def _beyond(
    new: _Metric, thresholds: Sequence[Threshold], missed: Literal["warned", "failed"] = "failed"
) -> Iterator[Check]:
    """Compares scores with the worst ones that are allowed."""
    lower_is_better = row_of(new.word).lower_is_better
    chosen, missing = targets(thresholds, new.scores)
    for threshold, lacking in missing.items():
        yield Check(missed, f"{new.result}: {lacking} ({threshold.shown})")
    for key, threshold in chosen.items():
        row, worst, name = new.scores[key], threshold.number, new.shown(key)
        if row.score is None:
            yield Check(missed, f"{name} has no score ({threshold.shown})")
            continue
        is_worse = row.score > worst if lower_is_better else row.score < worst
        score = exact_enough(row.score, worst, _decimals(new.word, row))
        side = ("" if is_worse else "not ") + ("above" if lower_is_better else "below")
        limit = f"{threshold.typed_number} ({threshold.flag})"
        yield _check(not is_worse, f"{name} scores {score}, {side} {limit}", missed)


def _drops(
    new: _Metric,
    old: _Metric,
    thresholds: Sequence[Threshold],
    rule: DropRule,
    changes: Mapping[Key, ComparedRow],
) -> Iterator[Check]:
    """Compares scores with those of an older result, all of which the new one must have.

    Args:
      new: the metric in the new result.
      old: the metric in the old one.
      thresholds: the largest drops.
      rule: which drops fail.
      changes: the scores of both results.
    """
    before, now = old.definition, new.definition
    if now.shown != before.shown:
        yield _check(
            False,
            f"the scores of {old.result} are of another definition, so they cannot be compared: "
            f"{before.shown} there, {now.shown} here (--against)",
        )
        return
    chosen, missing = targets(thresholds, old.scores)
    for threshold, lacking in missing.items():
        yield _check(False, f"{old.result}: {lacking} ({threshold.shown})")
    for key in old.scores:
        if key not in new.scores:
            yield _check(False, f"{new.result} has no {old.shown(key)}, but {old.result} has it")
        elif key in chosen and not key.of_slice and now.whole != before.whole:
            # A language more in a mean can hide a drop of the others.
            yield _check(
                False,
                f"{key.shown} has {before.whole} in {old.result}, and {now.whole} now: they cannot "
                f"be compared ({chosen[key].flag})",
            )
        elif key in chosen:
            yield _drop(new, old, key, changes.get(key), chosen[key], rule)


def _drop(
    new: _Metric,
    old: _Metric,
    key: Key,
    change: ComparedRow | None,
    threshold: Threshold,
    rule: DropRule,
) -> Check:
    """Compares a change with the largest drop that is allowed, or rise if lower is better.

    `change` is the score of the series `key` in both results; None if one has none.
    """
    lower_is_better = row_of(new.word).lower_is_better
    name, flags = new.shown(key), f"({threshold.flag}, --drop {rule.name})"
    drop = f"a {'rise' if lower_is_better else 'drop'} of more than {threshold.typed_number}"
    if change is not None and change.method == "unchanged":
        return _check(True, f"{name} has the same counts as in {old.result} {flags}")
    if change is None or change.interval is None:
        row = new.scores[key]
        noun, own = (
            ("score", row.score) if change is None else ("standard error", row.standard_error)
        )
        where = "now" if own is None else f"in {old.result}"
        return _check(False, f"{name} has no {noun} {where}: {drop} cannot be judged {flags}")
    decimals = _decimals(new.word, new.scores[key], old.scores[key])
    scores = (
        f"{name} scores {change.new:.{decimals}f}, {abs(change.difference):.{decimals}f} "
        f"{'below' if change.difference < 0 else 'above'} the {change.old:.{decimals}f} of "
        f"{old.result}"
    )
    sign, place = (1, 1 - rule.bound) if lower_is_better else (-1, rule.bound)
    bound = change.interval[place]
    passed = sign * bound <= threshold.number
    bounds = [f"{end:+.{decimals}f}" for end in change.interval]
    bounds[place] = exact_enough(bound, sign * threshold.number, decimals, sign="+")
    is_paired = change.method == "paired"
    how = "of paired segments" if is_paired else "with independent standard errors"
    difference = f"(difference {' to '.join(bounds)} {how})"
    verdict = rule.kept if passed else rule.missed
    return _check(passed, f"{scores} {difference}: {drop} {verdict} {flags}")


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
    shown = f"{value:{sign}.{fewest}f}"
    is_clear = (float(shown) < limit, float(shown) > limit) == (value < limit, value > limit)
    return shown if is_clear else f"{value:{sign}}"


def judged(gates: Gates, result: Result, output: str) -> tuple[GateError | None, list[str]]:
    """The error if a result misses a threshold, and what a reader of it must know.

    Args:
      gates: the thresholds.
      result: the result.
      output: the folder where it is; "" if it is not kept.
    """
    checks = judge(result, gates) if gates else []
    remedy = "find out what has changed, or change the threshold"
    if output:
        remedy = f"the result in {output} is complete: beam-bleu gate {output} can judge it again"
    warnings = [check.text for check in checks if check.verdict == "warned"]
    return gate_error(checks, remedy), warnings


def enforce(gates: Gates, result: Result, output: str, *, warn: bool) -> None:
    """Raises an error if a result misses a threshold.

    A repeated call raises the same error: it depends only on the result and on the thresholds.

    Args:
      gates: the thresholds.
      result: the result. It has been written.
      output: the folder where it is; "" if it is not kept.
      warn: whether to write warnings into the worker's log.

    Raises:
      GateError: the result misses a threshold.
    """
    error, warnings = judged(gates, result, output)
    if warn:
        for warning in warnings:
            _LOGGER.warning("%s", warning)
    if error is not None:
        raise error
