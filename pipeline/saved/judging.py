"""Judges a result by the thresholds of gates, and says in words which of them it misses."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparedRow,
    Key,
    Result,
    ScoreRow,
    definition_of,
    series_of,
)
from beam_bleu.pipeline.saved.comparing import changed_conditions, compared_series
from beam_bleu.pipeline.scoring.thresholds import THRESHOLD_FLAGS, Gates, Threshold
from beam_bleu.transforms.errors import GateError
from beam_bleu.transforms.known_metrics import MetricWord, row_of
from beam_bleu.transforms.score.differences import newcombe

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.paired_runs import Paired

_LOGGER = logging.getLogger("beam_bleu.gates")

_MOST_REASONS = 5

_EXACT = ".8g"  # digits enough to see that 29.99997 is below 30

_ONLY_ONE = "what a run has added up is not compared with saved totals"

GATE_REMEDY = "find out what has changed, or change the threshold"

Verdict = Literal["passed", "warned", "failed"]


def targets(
    thresholds: Iterable[Threshold], keys: Collection[Key]
) -> tuple[dict[Key, Threshold], list[Threshold]]:
    """The most specific threshold for each score, and the thresholds that apply to no score."""
    chosen: dict[Key, Threshold] = {}
    without: list[Threshold] = []
    # Longer names last: of two names that fit a score, the longer one is more specific.
    for threshold in sorted(thresholds, key=lambda threshold: len(threshold.name)):
        named = _named(threshold.name, keys)
        without += [] if named else [threshold]
        chosen |= dict.fromkeys(named, threshold)
    return {key: chosen[key] for key in keys if key in chosen}, without


def _named(name: str, keys: Collection[Key]) -> list[Key]:
    whole = [key for key in keys if not key.slice_text]
    if not name:
        return whole
    # Whole names are compared, not split, because names of systems and slices can have brackets.
    return (
        [key for key in whole if key.system == name]
        or [key for key in keys if key.shown == name]
        or [key for key in keys if key.slice_text and f"[{key.slice_text}]" == name]
    )


class Check(NamedTuple):
    verdict: Verdict
    text: str


def judge(
    new: Result, gates: Gates, name: str = "the result", pairs: Paired | str = _ONLY_ONE
) -> list[Check]:
    """Compares a result with all thresholds. What cannot be compared fails.

    `pairs` compares the result with the old one in pairs of segments, or is the reason why not.
    """
    checks: list[Check] = []
    changes: Mapping[Key, ComparedRow] = {}
    if gates.old is not None:
        if not isinstance(pairs, str) and not pairs.has_intervals:
            pairs = "randomization gives no intervals"
        changes = compared_series(gates.old, new, pairs)
        if conditions := changed_conditions(gates.old, new):
            checks.append(Check("warned", f"{conditions} since {gates.old_name}"))
    for metric in new.metrics:
        fail, warn, drop = (
            gates.of_kind(kind, metric.metric, new.words) for kind in ("fail", "warn", "drop")
        )
        scores = _scores(new, metric.metric)
        found = [*_beyond(scores, fail, name, "failed"), *_beyond(scores, warn, name, "warned")]
        if drop and gates.old is not None:
            found += _drops(new, gates.old, metric.metric, drop, gates, name, changes)
        if all(_are_shares(each, metric.metric) for each in (new, gates.old) if each):
            found += _beyond_shares([*fail, *drop, *warn], metric.metric)
        named = f"{metric.name}: " if len(new.metrics) > 1 else ""
        checks += (Check(check.verdict, named + check.text) for check in found)
    return checks


def _scores(result: Result, metric: MetricWord) -> dict[Key, ScoreRow]:
    return {key: row for key, row in series_of(result).items() if key.metric == metric}


def _are_shares(result: Result, metric: MetricWord) -> bool:
    own = [row for row in result.scores if row.metric == metric and row.slice != MACRO_AVERAGE]
    return bool(row_of(metric).parameter) and all(row.wilson_interval is not None for row in own)


def _beyond_shares(thresholds: Sequence[Threshold], metric: MetricWord) -> Iterator[Check]:
    for threshold in thresholds:
        kind = THRESHOLD_FLAGS[threshold.flag].kind
        if not 0 <= threshold.number <= 1 or (kind == "drop" and threshold.number == 1):
            yield Check(
                # Numbers of errors can be 0 or 1 everywhere in a good night.
                "warned" if kind == "warn" or row_of(metric).lower_is_better else "failed",
                f"{threshold.shown} would always pass or always fail: each segment scores 0 or 1, "
                "so the scale is from 0 to 1, and 3 % is 0.03",
            )


def _lacking(name: str, threshold: Threshold) -> str:
    score = threshold.name or "the whole corpus"
    return f"{name}: it has no score of {score} ({threshold.shown})"


def gate_error(checks: Sequence[Check], remedy: str = GATE_REMEDY) -> GateError | None:
    reasons = [check.text for check in checks if check.verdict == "failed"]
    if not reasons:
        return None
    cause = "; ".join(reasons[:_MOST_REASONS])
    if len(reasons) > _MOST_REASONS:
        cause += f"; and {len(reasons) - _MOST_REASONS} more"
    if len(reasons) > 1:
        cause = f"{len(reasons)} checks failed: {cause}"
    return GateError(cause, remedy)


def _beyond(
    scores: Mapping[Key, ScoreRow], thresholds: Sequence[Threshold], name: str, missed: Verdict
) -> Iterator[Check]:
    chosen, without = targets(thresholds, scores)
    for threshold in without:
        yield Check(missed, _lacking(name, threshold))
    for key, threshold in chosen.items():
        score, worst = scores[key].score, threshold.number
        if score is None:
            yield Check(missed, f"{key.shown} has no score ({threshold.shown})")
            continue
        lower_is_better = row_of(key.metric).lower_is_better
        is_worse = score > worst if lower_is_better else score < worst
        side = ("" if is_worse else "not ") + ("above" if lower_is_better else "below")
        limit = f"{threshold.typed_number} ({threshold.flag})"
        verdict = missed if is_worse else "passed"
        yield Check(verdict, f"{key.shown} scores {score:{_EXACT}}, {side} {limit}")


def _drops(
    new: Result,
    old: Result,
    metric: MetricWord,
    thresholds: Sequence[Threshold],
    gates: Gates,
    name: str,
    changes: Mapping[Key, ComparedRow],
) -> Iterator[Check]:
    before, now = definition_of(old, metric), definition_of(new, metric)
    if now.shown != before.shown:
        yield Check(
            "failed",
            f"the scores of {gates.old_name} are of another definition, so they cannot be "
            f"compared: {before.shown} there, {now.shown} here (--against)",
        )
        return
    former, scores = _scores(old, metric), _scores(new, metric)
    chosen, without = targets(thresholds, former)
    for threshold in without:
        yield Check("failed", _lacking(gates.old_name, threshold))
    for key in former:
        if key not in scores:
            yield Check("failed", f"{name} has no {key.shown}, but {gates.old_name} has it")
        elif key in chosen and not key.slice_text and now.whole != before.whole:
            # One more language in a mean could hide that the others have dropped.
            yield Check(
                "failed",
                f"{key.shown} has {before.whole} in {gates.old_name}, and {now.whole} now: they "
                f"cannot be compared ({chosen[key].flag})",
            )
        elif key in chosen:
            yield _drop(scores[key], former[key], changes.get(key), chosen[key], gates)


def _drop(
    new: ScoreRow, old: ScoreRow, change: ComparedRow | None, threshold: Threshold, gates: Gates
) -> Check:
    lower_is_better = row_of(new.metric).lower_is_better
    name, flags = new.key.shown, f"({threshold.flag}, --drop {gates.drop})"
    drop = f"a {'rise' if lower_is_better else 'drop'} of more than {threshold.typed_number}"
    if change is not None and change.method == "unchanged":
        return Check("passed", f"{name} has the same counts as in {gates.old_name} {flags}")
    cannot = f"so {drop} cannot be judged {flags}"
    if change is None:
        return Check("failed", f"{name}: a score is missing, {cannot}")
    ends = change.interval
    how = "of paired segments" if change.method == "paired" else "with independent standard errors"
    if change.method == "independent" and new.wilson_interval and old.wilson_interval:
        # A share has no standard error if no segment is right; if all are, it is 0.
        ends = newcombe(change.new, change.old, new.wilson_interval, old.wilson_interval)
        how = "by Wilson's intervals"
    if ends is None:
        return Check("failed", f"{name}: {change.reason}, {cannot}")
    low, high = ends
    largest, smallest = (high, low) if lower_is_better else (-low, -high)
    is_excluded, is_proven = largest <= threshold.number, smallest > threshold.number
    if gates.drop == "proven":
        failed, finding = is_proven, f"is {'' if is_proven else 'not '}proven"
    else:
        failed, finding = not is_excluded, f"is {'' if is_excluded else 'not '}excluded"
    return Check(
        "failed" if failed else "passed",
        f"{name} scores {change.new:{_EXACT}}, {abs(change.difference):{_EXACT}} "
        f"{'below' if change.difference < 0 else 'above'} the {change.old:{_EXACT}} of "
        f"{gates.old_name} (difference {low:+{_EXACT}} to {high:+{_EXACT}} {how}): {drop} "
        f"{finding} {flags}",
    )


def gate_outcome(gates: Gates, result: Result, output: str) -> tuple[GateError | None, list[str]]:
    checks = judge(result, gates) if gates else []
    remedy = GATE_REMEDY
    if output:
        remedy = f"the result in {output} is complete: beam-bleu gate {output} can judge it again"
    warnings = [check.text for check in checks if check.verdict == "warned"]
    return gate_error(checks, remedy), warnings


def enforce(gates: Gates, result: Result, output: str) -> None:
    """Logs the warnings of `gate_outcome` and raises its error, the same one at each call."""
    error, warnings = gate_outcome(gates, result, output)
    for warning in warnings:
        _LOGGER.warning("%s", warning)
    if error is not None:
        raise error
