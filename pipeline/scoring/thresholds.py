"""Gates: the thresholds that flags such as --fail_under set, and checks of what they name."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.definition.slicing import CROSS, Slicing
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.known_metrics import METRICS, is_metric, row_of

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

DropRuleName = Literal["not_excluded", "proven"]

DROP_RULES: Mapping[DropRuleName, str] = {
    "not_excluded": "fail unless the difference's 95 % interval excludes such a drop",
    "proven": "fail only if the whole 95 % interval is below such a drop",
}
"""Which drops fail; the first rule is the default."""

DEFAULT_DROP_RULE = next(iter(DROP_RULES))


class ThresholdFlag(NamedTuple):
    kind: Literal["fail", "warn", "drop"]
    lower_is_better: bool | None
    help: str


THRESHOLD_FLAGS: Mapping[str, ThresholdFlag] = {
    "--fail_under": ThresholdFlag(
        "fail",
        False,
        "exit code 4 if a score is below SCORE; a run writes its result first. METRIC is "
        "needed if there are several. NAME is a system, a slice such as [domain=news], or both: "
        "SYSTEM[domain=news]; default: each system, on the whole corpus. Repeat the flag for more "
        "thresholds",
    ),
    "--warn_under": ThresholdFlag("warn", False, "warn if a score is below SCORE; NAME as above"),
    "--fail_over": ThresholdFlag(
        "fail",
        True,
        "exit code 4 if a score is above SCORE, for metrics where a lower score is better: "
        f"{', '.join(row.word for row in METRICS.values() if row.lower_is_better)}; NAME as above",
    ),
    "--warn_over": ThresholdFlag(
        "warn", True, "warn if a score of such a metric is above SCORE; NAME as above"
    ),
    "--max_drop": ThresholdFlag(
        "drop",
        None,
        "exit code 4 if a score is, by the rule of --drop, more than POINTS worse than in the "
        "result of --against; NAME as above",
    ),
}


@dataclasses.dataclass(frozen=True)
class Threshold:
    """A number with which scores are compared, its flag, and the value of the flag as typed.

    `metric` is "" for the only one. `name` is SYSTEM, [SLICE] or SYSTEM[SLICE]; "" is all systems.
    """

    flag: str
    text: str
    number: float
    metric: str = ""
    name: str = ""

    @classmethod
    def of(cls, flag: str, text: str) -> Threshold:
        """The threshold in a value of a flag, [METRIC=][NAME=]NUMBER. NAME can contain "="."""
        metric, equals, rest = text.partition("=")
        if not equals or not is_metric(metric):
            metric, rest = "", text
        name, equals, typed = rest.rpartition("=")
        # Checked by a pattern, because float() reads "1_0" as 10.
        number = float(typed) if _NUMBER.fullmatch(typed) else math.nan
        if (equals and not name) or not math.isfinite(number):
            raise UsageError(
                f"{flag}: must be a number, got {text!r}", "write [METRIC=][NAME=]NUMBER"
            )
        if THRESHOLD_FLAGS[flag].kind == "drop" and number < 0:
            raise UsageError(
                f"{flag}: must be 0 or more, got {text!r}", "write POINTS without a sign"
            )
        return cls(flag, text, number, metric, name)

    @property
    def typed_number(self) -> str:
        return self.text.rpartition("=")[2]

    @property
    def shown(self) -> str:
        return f"{self.flag} {self.text}"


@dataclasses.dataclass(frozen=True)
class Gates:
    """All thresholds of a command line. Those of drops compare the new result with `old`."""

    thresholds: tuple[Threshold, ...] = ()
    drop: DropRuleName = DEFAULT_DROP_RULE
    old: Result | None = None
    old_name: str = ""

    def __bool__(self) -> bool:
        return bool(self.thresholds)

    def of_kind(self, kind: str, metric: str, metrics: Collection[str]) -> list[Threshold]:
        """The thresholds of a kind for one metric; a result's only metric need not be named."""
        names = (metric, "") if len(metrics) == 1 else (metric,)
        return [
            threshold
            for threshold in self.thresholds
            if THRESHOLD_FLAGS[threshold.flag].kind == kind and threshold.metric in names
        ]


NO_GATES = Gates()  # the gates of a command line without thresholds: everything passes


def require_systems(gates: Gates, systems: Sequence[str], slicing: Slicing) -> None:
    """Checks, if the systems are known, that the run has the scores that thresholds name."""
    known = ", ".join(map(CROSS.join, slicing.items)) or "none"
    slices = "|".join(
        rf"\[{','.join(f'{re.escape(label)}=.*' for label in item)}\]" for item in slicing.items
    )
    possible = re.compile(f"({'|'.join(map(re.escape, systems))})?({slices})?", re.DOTALL)
    for threshold in gates.thresholds if systems else ():
        if not possible.fullmatch(threshold.name):
            raise UsageError(
                f"{threshold.shown}: this run has no such system or slice",
                f"choose one of {', '.join(systems)}, or a slice; those of this run are by {known} "
                "(--slice_by)",
            )


def require_metrics(gates: Gates, metrics: Collection[str]) -> None:
    known = ", ".join(metrics)
    seen: dict[tuple[str, str, str], Threshold] = {}
    for threshold in gates.thresholds:
        metric = threshold.metric or (known if len(metrics) == 1 else "")
        if metric not in metrics:
            what = (
                f"there are no scores of {metric}" if metric else "it does not say for which metric"
            )
            raise UsageError(
                f"{threshold.shown}: {what}",
                f"write {threshold.flag} METRIC=..., with one of {known}",
            )
        row = row_of(metric)
        lower = row.lower_is_better
        if THRESHOLD_FLAGS[threshold.flag].lower_is_better not in (None, lower):
            direction, side = ("lower", "over") if lower else ("higher", "under")
            right = f"{threshold.flag.partition('_')[0]}_{side}"
            raise UsageError(
                f"{threshold.shown}: a {direction} {metric} is better",
                f"write {right} {threshold.text}",
            )
        # All scores but means are 0 or more and, where higher is better, at most 100.
        if not row.can_be_negative and not 0 <= threshold.number <= (math.inf if lower else 100):
            possible = "0 or more" if lower else "from 0 to 100"
            raise UsageError(
                f"{threshold.shown}: must be {possible}, as all scores of {metric} are",
                "another number would always pass or always fail",
            )
        former = seen.setdefault((threshold.flag, metric, threshold.name), threshold)
        if former is not threshold:
            raise UsageError(
                f"{former.shown} and {threshold.shown} are for the same scores", "give only one"
            )
