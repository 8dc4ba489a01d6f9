"""The thresholds of a command line: which scores they are for, and what they say."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from beam_bleu.pipeline.gates.results import GatedResult, GatedResults
from beam_bleu.transforms.definition.choices import require_choice, table
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.known_metrics import is_metric, row_of

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

DropRuleName = Literal["not_excluded", "proven"]


@dataclasses.dataclass(frozen=True)
class DropRule:
    """A row of `DROP_RULES`: which drops fail.

    Attributes:
      name: its name.
      description: which drops fail, for --help.
      use: when to choose it, for docs/terminal.md.
      bound: the bound of the difference's interval that is compared with the largest drop: 0 for
        the worse one, 1 for the better one.
      missed: what a message says of a drop that fails.
      kept: what it says of a difference that passes.
    """

    name: DropRuleName
    description: str
    use: str
    bound: Literal[0, 1]
    missed: str
    kept: str


DROP_RULES: Mapping[DropRuleName, DropRule] = table(
    DropRule(
        "not_excluded",
        "fail unless the difference's 95 % interval excludes such a drop",
        "if a worse system must not pass. The test set must be large, because noise alone can fail",
        0,
        "is not excluded",
        "is excluded",
    ),
    DropRule(
        "proven",
        "fail only if the whole 95 % interval is below such a drop",
        "if a false alarm costs more than a small drop that stays unseen",
        1,
        "is proven",
        "is not proven",
    ),
)
"""The rules, in the order in which they are shown. The first one is the default."""

DEFAULT_DROP_RULE = next(iter(DROP_RULES))


_OVER = {"--fail_over": "--fail_under", "--warn_over": "--warn_under"}
"""The flags of the largest scores, for metrics where a lower score is better. Each one has a
flag of the least scores, for the other metrics."""

_UNDER = {under: over for over, under in _OVER.items()}


@dataclasses.dataclass(frozen=True)
class Threshold:
    """A number that scores are compared with.

    Attributes:
      flag: the flag that gives it.
      text: the value of the flag, as it was typed.
      number: of points of the score.
      metric: the metric; "" for the only one.
      name: the scores for which it is: "" for all systems on the whole corpus, or SYSTEM,
        [SLICE] or SYSTEM[SLICE].
    """

    flag: str
    text: str
    number: float
    metric: str = ""
    name: str = ""

    @classmethod
    def of(cls, flag: str, text: str) -> Threshold:
        """The threshold of a flag's value: NUMBER or NAME=NUMBER, maybe with METRIC= before it.

        A name can have a "=". A system with the name of a metric must have the metric before it.

        Raises:
          ValueError: there is no number, or no name before the "=".
        """
        metric, equals, rest = text.partition("=")
        if not equals or not is_metric(metric):
            metric, rest = "", text
        name, equals, number = rest.rpartition("=")
        if equals and not name:
            raise ValueError(f"there is no name before the = in {text!r}")
        # float() also takes "1_0" for 10.
        value = float(number) if _NUMBER.fullmatch(number) else math.nan
        least, most, possible = _range(flag, metric)
        if not least <= value <= most:
            of_metric, colon, value_of_metric = text.partition(":")
            if colon and is_metric(of_metric):
                raise ValueError(f"write {of_metric}={value_of_metric}, got {text!r}")
            raise ValueError(f"must be {possible}, or NAME=NUMBER, got {text!r}")
        return cls(flag, text, value, metric, name)

    @property
    def typed_number(self) -> str:
        """The number as it was typed, with all of its digits."""
        return self.text.rpartition("=")[2]

    @property
    def shown(self) -> str:
        """The flag and its value."""
        return f"{self.flag} {self.text}"


def _range(flag: str, metric: str) -> tuple[float, float, str]:
    """The smallest and the largest number of a threshold, and both in words."""
    largest = sys.float_info.max
    if metric and row_of(metric).can_be_negative and flag != "--max_drop":
        return -largest, largest, "a number"
    if flag in _OVER or (metric and row_of(metric).can_be_negative):
        return 0, largest, "a number, 0 or more"
    return 0, 100, "a number from 0 to 100"


@dataclasses.dataclass(frozen=True)
class Gates:
    """All thresholds of a command line. They are sent with the job.

    Attributes:
      fail_under: the least scores.
      warn_under: the scores below which there is a warning.
      max_drop: the largest drops, compared with `old`.
      drop: which drops fail.
      fail_over: the largest scores of metrics of which a lower score is better.
      warn_over: the scores of these metrics above which there is a warning.
      old: the metrics of the result with which the new one is compared; None if there is no
        `max_drop`, or no earlier night.

    Raises:
      ValueError: two thresholds of a flag have the same name, or the rule is unknown.
    """

    fail_under: tuple[Threshold, ...] = ()
    warn_under: tuple[Threshold, ...] = ()
    max_drop: tuple[Threshold, ...] = ()
    drop: DropRuleName = DEFAULT_DROP_RULE
    fail_over: tuple[Threshold, ...] = ()
    warn_over: tuple[Threshold, ...] = ()
    old: GatedResults | None = None

    def __post_init__(self) -> None:
        require_choice("drop", self.drop, DROP_RULES)
        for thresholds in self._by_flag.values():
            seen: dict[tuple[str, str], Threshold] = {}
            for threshold in thresholds:
                former = seen.setdefault((threshold.metric, threshold.name), threshold)
                if former is not threshold:
                    raise ValueError(
                        f"{former.shown} and {threshold.shown} are for the same scores"
                    )

    def __bool__(self) -> bool:
        return bool(self.thresholds)

    @property
    def _by_flag(self) -> dict[str, tuple[Threshold, ...]]:
        names = ("fail_under", "fail_over", "warn_under", "warn_over", "max_drop")
        return {name: getattr(self, name) for name in names}

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """The thresholds of all flags."""
        return tuple(itertools.chain(*self._by_flag.values()))

    def of_metric(self, metric: str, *, is_only: bool) -> Gates:
        """The thresholds for the scores of one metric.

        Args:
          metric: the metric.
          is_only: whether the result has no other one.
        """
        names = (metric, "") if is_only else (metric,)
        of_metric: dict[str, Any] = {
            flag: tuple(threshold for threshold in thresholds if threshold.metric in names)
            for flag, thresholds in self._by_flag.items()
        }
        return dataclasses.replace(self, **of_metric)


NO_GATES = Gates()
"""The gates of a command line without thresholds: everything passes."""


@dataclasses.dataclass(frozen=True)
class Targets:
    """The scores that thresholds are for.

    Attributes:
      thresholds: for each score, its threshold. A threshold for a system or a slice takes the
        place of a more general one. Keys are the slice's text, "" for the whole corpus, and the
        system.
      missing: for each threshold that names something which is not there, what is missing.
    """

    thresholds: Mapping[tuple[str, str], Threshold]
    missing: Mapping[Threshold, str]


def impossible(name: str, systems: Sequence[str], slicing: Slicing) -> tuple[str, str] | None:
    """Why no result of a run can have the score that a threshold names, and what to do.

    It is None if a result can have it.

    Args:
      name: the name.
      systems: all systems; none if they are known only when the input is read. Then everything is
        possible, because a system's name can look like that of a slice.
      slicing: the slices. Their labels are known, but not their values.
    """
    if not name or not systems or name in systems:
        return None
    for system in ("", *systems):
        if name.startswith(f"{system}[") and name.endswith("]"):
            of_slice = name.removeprefix(f"{system}[")
            if any(of_slice.startswith(f"{item[0]}=") for item in slicing.items):
                return None
            known = ", ".join(map(slicing.name_of_item, range(len(slicing.items))))
            cause = f"the slices of this run are by {known}" if known else "this run has no slices"
            return cause, "choose the slices with --slice_by, or change the threshold"
    return "there is no such system", f"choose one of {', '.join(systems)}"


def impossible_metric(threshold: Threshold, metrics: Collection[str]) -> tuple[str, str] | None:
    """Why no result with these metrics can have the score of a threshold, and what to do.

    It is None if a result can have it, and the threshold is on the right side.
    """
    if threshold.metric in metrics or (not threshold.metric and len(metrics) == 1):
        (metric,) = (threshold.metric,) if threshold.metric else metrics
        return _on_wrong_side(threshold, metric)
    if threshold.metric:
        return f"there are no scores of {threshold.metric}", f"choose from {', '.join(metrics)}"
    meant, _, rest = threshold.text.partition("=")
    named = [metric for metric in metrics if metric.startswith(f"{meant}:")]
    if named and rest:
        written = " or ".join(
            f"{_right_flag(threshold.flag, metric)} {metric}={rest}" for metric in named
        )
        return f"it does not say for which {row_of(named[0]).parameter}", f"write {written}"
    flags = {metric: _right_flag(threshold.flag, metric) for metric in metrics}
    # Metrics that need another flag are named only if all of them do.
    fitting = [metric for metric in metrics if flags[metric] == threshold.flag] or metrics
    written = " or ".join(f"{flags[metric]} {metric}={threshold.text}" for metric in fitting)
    return "it does not say for which metric", f"write {written}"


def _on_wrong_side(threshold: Threshold, metric: str) -> tuple[str, str] | None:
    right = _right_flag(threshold.flag, metric)
    if right == threshold.flag:
        return None
    direction = "lower" if row_of(metric).lower_is_better else "higher"
    return f"a {direction} {metric} is better", f"write {right} {threshold.text}"


def _right_flag(flag: str, metric: str) -> str:
    """The flag of thresholds of a metric that means the same: the flag itself, or its opposite."""
    lower_is_better = row_of(metric).lower_is_better
    return (_UNDER if lower_is_better else _OVER).get(flag, flag)


def targets(thresholds: tuple[Threshold, ...], result: GatedResult) -> Targets:
    """The scores of a result that thresholds are for."""
    chosen: dict[tuple[str, str], tuple[int, Threshold]] = {}
    missing: dict[Threshold, str] = {}
    for threshold in thresholds:
        rank, keys, lacking = _named(threshold.name, result)
        if not keys:
            missing[threshold] = lacking
        for key in keys:
            if key not in chosen or chosen[key][0] < rank:
                chosen[key] = (rank, threshold)
    ordered = [key for key in result.keys if key in chosen]
    return Targets({key: chosen[key][1] for key in ordered}, missing)


def _named(name: str, result: GatedResult) -> tuple[int, list[tuple[str, str]], str]:
    """How specific a name is, the scores that it names, and what is missing if there are none."""
    if not name:
        return 0, result.keys_of(""), "it has no score of the whole corpus"
    # Names are compared as a whole, because both systems and slices can have brackets in theirs.
    if ("", name) in result.scores:
        return 1, [("", name)], ""
    for key in result.keys:
        of_slice, system = key
        if of_slice and name == f"{system}[{of_slice}]":
            return 2, [key], ""
    if name.startswith("[") and name.endswith("]"):
        return 1, result.keys_of(name[1:-1]), f"it has no slice {name[1:-1]}"
    if "[" in name and name.endswith("]"):
        return 2, [], f"it has no score of {name}"
    return 1, [], f"it has no system {name}"
