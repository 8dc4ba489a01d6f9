"""The thresholds of a command line: which scores they are for, and what they say."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Literal

from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.result.series import Key
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
      thresholds: those of all flags.
      drop: which drops fail.
      old: the result with which drops compare the new one; None if there is no --max_drop, or no
        earlier night.
      old_name: its path, for messages.

    Raises:
      ValueError: two thresholds of a flag have the same name, or the rule is unknown.
    """

    thresholds: tuple[Threshold, ...] = ()
    drop: DropRuleName = DEFAULT_DROP_RULE
    old: Result | None = None
    old_name: str = ""

    def __post_init__(self) -> None:
        require_choice("drop", self.drop, DROP_RULES)
        seen: dict[tuple[str, str, str], Threshold] = {}
        for threshold in self.thresholds:
            former = seen.setdefault((threshold.flag, threshold.metric, threshold.name), threshold)
            if former is not threshold:
                raise ValueError(f"{former.shown} and {threshold.shown} are for the same scores")

    def __bool__(self) -> bool:
        return bool(self.thresholds)

    def of_metric(self, flags: Container[str], metric: str, *, is_only: bool) -> list[Threshold]:
        """The thresholds of some flags for the scores of a metric.

        Args:
          flags: the flags.
          metric: the metric.
          is_only: whether the result has no other one.
        """
        metrics = (metric, "") if is_only else (metric,)
        return [
            threshold
            for threshold in self.thresholds
            if threshold.flag in flags and threshold.metric in metrics
        ]


NO_GATES = Gates()
"""The gates of a command line without thresholds: everything passes."""


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


def targets(
    thresholds: Iterable[Threshold], keys: Collection[Key]
) -> tuple[dict[Key, Threshold], dict[Threshold, str]]:
    """The scores that thresholds are for.

    Args:
      thresholds: the thresholds of a flag for a metric.
      keys: the series of the metric, in the order of the result.

    Returns:
      the threshold of each score: one for a system or a slice takes the place of a more general
      one; and for each threshold that names something which is not there, what is missing.
    """
    chosen: dict[Key, tuple[int, Threshold]] = {}
    missing: dict[Threshold, str] = {}
    for threshold in thresholds:
        rank, named, lacking = _named(threshold.name, keys)
        if not named:
            missing[threshold] = lacking
        for key in named:
            if key not in chosen or chosen[key][0] < rank:
                chosen[key] = (rank, threshold)
    return {key: chosen[key][1] for key in keys if key in chosen}, missing


def _named(name: str, keys: Collection[Key]) -> tuple[int, list[Key], str]:
    """How specific a name is, the series that it names, and what is missing if there are none."""
    whole = [key for key in keys if not key.of_slice]
    if not name:
        return 0, whole, "it has no score of the whole corpus"
    # Names are compared as a whole, because both systems and slices can have brackets in theirs.
    if systems := [key for key in whole if key.system == name]:
        return 1, systems, ""
    if slices := [key for key in keys if key.of_slice and key.shown == name]:
        return 2, slices, ""
    if name.startswith("[") and name.endswith("]"):
        systems = [key for key in keys if key.of_slice == name[1:-1]]
        return 1, systems, f"it has no slice {name[1:-1]}"
    return 1, [], f"it has no {'score of' if name.endswith(']') else 'system'} {name}"
