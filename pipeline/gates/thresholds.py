"""The thresholds of a command line: which scores they are for, and what they say."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.result.series import Key
from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.known_metrics import METRICS, is_metric, row_of

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

_FORM = "write [METRIC=][NAME=]NUMBER"

DropRuleName = Literal["not_excluded", "proven"]


@dataclasses.dataclass(frozen=True)
class DropRule:
    """A row of `DROP_RULES`: which drops fail.

    Attributes:
      name: its name.
      description: which drops fail, for --help.
      bound: the bound of the difference's interval that is compared with the largest drop: 0 for
        the worse one, 1 for the better one.
      missed: what a message says of a drop that fails.
      kept: what it says of a difference that passes.
    """

    name: DropRuleName
    description: str
    bound: Literal[0, 1]
    missed: str
    kept: str


DROP_RULES: Mapping[DropRuleName, DropRule] = table(
    DropRule(
        "not_excluded",
        "fail unless the difference's 95 % interval excludes such a drop",
        0,
        "is not excluded",
        "is excluded",
    ),
    DropRule(
        "proven",
        "fail only if the whole 95 % interval is below such a drop",
        1,
        "is proven",
        "is not proven",
    ),
)
"""The rules, in the order in which they are shown. The first one is the default."""

DEFAULT_DROP_RULE = next(iter(DROP_RULES))


@dataclasses.dataclass(frozen=True)
class ThresholdFlag:
    """A row of `THRESHOLD_FLAGS`.

    Attributes:
      name: the flag.
      kind: what a score is that misses its threshold: a failure, a warning, or a failure if it is
        so much worse than an earlier score.
      help: what it does, for --help.
      lower_is_better: whether it is for metrics where a lower score is better; None for all.
    """

    name: str
    kind: Literal["fail", "warn", "drop"]
    help: str
    lower_is_better: bool | None

    @property
    def number(self) -> str:
        """What its number is."""
        return "POINTS" if self.kind == "drop" else "SCORE"


THRESHOLD_FLAGS: Mapping[str, ThresholdFlag] = table(
    ThresholdFlag(
        "--fail_under",
        "fail",
        "exit code 4 if a score is below SCORE; a run writes its result first. METRIC is "
        "needed if there are several. NAME is a system, a slice such as [domain=news], or both: "
        "SYSTEM[domain=news]; default: each system, on the whole corpus. Repeat the flag for more "
        "thresholds",
        lower_is_better=False,
    ),
    ThresholdFlag("--warn_under", "warn", "warn if a score is below SCORE; NAME as above", False),
    ThresholdFlag(
        "--fail_over",
        "fail",
        "exit code 4 if a score is above SCORE, for metrics where a lower score is better: "
        f"{', '.join(row.word for row in METRICS.values() if row.lower_is_better)}; NAME as above",
        lower_is_better=True,
    ),
    ThresholdFlag(
        "--warn_over",
        "warn",
        "warn if a score of such a metric is above SCORE; NAME as above",
        lower_is_better=True,
    ),
    ThresholdFlag(
        "--max_drop",
        "drop",
        "exit code 4 if a score can be more than POINTS worse than that of --against: --drop "
        "says when; NAME as above",
        lower_is_better=None,
    ),
)
"""The flags of thresholds, in the order of --help."""


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
          UsageError: there is no number, or no name before the "=".
        """
        metric, equals, rest = text.partition("=")
        if not equals or not is_metric(metric):
            metric, rest = "", text
        name, equals, number = rest.rpartition("=")
        if equals and not name:
            raise UsageError(f"{flag}: there is no name before the = in {text!r}", _FORM)
        # float() also takes "1_0" for 10.
        value = float(number) if _NUMBER.fullmatch(number) else math.nan
        least, most, possible = _range(THRESHOLD_FLAGS[flag], metric)
        if not least <= value <= most:
            raise UsageError(f"{flag}: must be {possible}, or NAME=NUMBER, got {text!r}", _FORM)
        return cls(flag, text, value, metric, name)

    @property
    def typed_number(self) -> str:
        """The number as it was typed, with all of its digits."""
        return self.text.rpartition("=")[2]

    @property
    def shown(self) -> str:
        """The flag and its value."""
        return f"{self.flag} {self.text}"


def _range(flag: ThresholdFlag, metric: str) -> tuple[float, float, str]:
    """The smallest and the largest number of a threshold, and both in words."""
    largest, can_be_negative = sys.float_info.max, metric and row_of(metric).can_be_negative
    if can_be_negative and flag.kind != "drop":
        return -largest, largest, "a number"
    if can_be_negative or flag.lower_is_better:
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
    """

    thresholds: tuple[Threshold, ...] = ()
    drop: DropRuleName = DEFAULT_DROP_RULE
    old: Result | None = None
    old_name: str = ""

    def __bool__(self) -> bool:
        return bool(self.thresholds)

    def by_kind(self, metric: str, metrics: Collection[str]) -> dict[str, list[Threshold]]:
        """The thresholds for the scores of a metric, by the kind of their flags.

        Args:
          metric: the metric.
          metrics: those of the result; a threshold need not name the only one.
        """
        kinds: dict[str, list[Threshold]] = {row.kind: [] for row in THRESHOLD_FLAGS.values()}
        for threshold in self.thresholds:
            if threshold.metric == metric or (len(metrics) == 1 and not threshold.metric):
                kinds[THRESHOLD_FLAGS[threshold.flag].kind].append(threshold)
        return kinds


NO_GATES = Gates()
"""The gates of a command line without thresholds: everything passes."""


def require_systems(gates: Gates, systems: Sequence[str], slicing: Slicing) -> None:
    """Checks that a result of a run can have the scores that thresholds name.

    Args:
      gates: the thresholds.
      systems: all systems; none if they are known only when the input is read. Then everything is
        possible, because a system's name can look like that of a slice.
      slicing: the slices. Their labels are known, but not their values.

    Raises:
      UsageError: there is no such system, or no such slice.
    """
    known = ", ".join(map(slicing.name_of_item, range(len(slicing.items)))) or "none"
    begins = [f"{system}[{item[0]}=" for system in ("", *systems) for item in slicing.items]
    for threshold in gates.thresholds if systems else ():
        name = threshold.name
        if name and name not in systems and not name.startswith(tuple(begins)):
            raise UsageError(
                f"{threshold.shown}: this run has no such system or slice",
                f"choose one of {', '.join(systems)}, or a slice; those of this run are by {known} "
                "(--slice_by)",
            )


def require_metrics(gates: Gates, metrics: Collection[str]) -> None:
    """Checks that a result with these metrics can have the scores that thresholds are for.

    Raises:
      UsageError: a threshold is for another metric or for none of several, or on the wrong side.
    """
    for threshold in gates.thresholds:
        metric = threshold.metric or (next(iter(metrics)) if len(metrics) == 1 else "")
        known = ", ".join(metrics)
        if not metric:
            raise UsageError(
                f"{threshold.shown}: it does not say for which metric",
                f"write {threshold.flag} METRIC={threshold.text}, with one of {known}",
            )
        if metric not in metrics:
            raise UsageError(
                f"{threshold.shown}: there are no scores of {metric}", f"choose from {known}"
            )
        lower = row_of(metric).lower_is_better
        if THRESHOLD_FLAGS[threshold.flag].lower_is_better not in (None, lower):
            direction, side = ("lower", "over") if lower else ("higher", "under")
            right = f"{threshold.flag.partition('_')[0]}_{side}"
            raise UsageError(
                f"{threshold.shown}: a {direction} {metric} is better",
                f"write {right} {threshold.text}",
            )


def targets(
    thresholds: Iterable[Threshold], keys: Collection[Key]
) -> tuple[dict[Key, Threshold], dict[Threshold, str]]:
    """The scores that thresholds are for.

    Args:
      thresholds: the thresholds of a kind for a metric.
      keys: the series of the metric, in the order of the result.

    Returns:
      the threshold of each score: one for a system or a slice takes the place of a more general
      one; and for each threshold that names something which is not there, what is missing.
    """
    chosen: dict[Key, Threshold] = {}
    missing: dict[Threshold, str] = {}
    # Of two names for a score, the longer one is more specific.
    for threshold in sorted(thresholds, key=lambda threshold: len(threshold.name)):
        named = _named(threshold.name, keys)
        if not named:
            missing[threshold] = f"it has no score of {threshold.name or 'the whole corpus'}"
        chosen |= dict.fromkeys(named, threshold)
    return {key: chosen[key] for key in keys if key in chosen}, missing


def _named(name: str, keys: Collection[Key]) -> list[Key]:
    """The series with a name."""
    whole = [key for key in keys if not key.of_slice]
    if not name:
        return whole
    # Names are compared as a whole, because both systems and slices can have brackets in theirs.
    return (
        [key for key in whole if key.system == name]
        or [key for key in keys if key.shown == name]
        or [key for key in keys if key.of_slice and f"[{key.of_slice}]" == name]
    )
