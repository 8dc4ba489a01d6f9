"""The history of scores: what changed from one night to the next, and where it cannot be known.

A series is the scores of one system by one metric, on the whole corpus or on a slice. A score is
compared with that of the night before. Where scores must not be compared, because the definition or
the references have changed, the series has a break: it is named, and there is no difference.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from beam_bleu.pipeline.display.row_order import Verdict
from beam_bleu.pipeline.history.changes import Break, BreakKind, Change, Changes
from beam_bleu.pipeline.history.nights import Night
from beam_bleu.pipeline.result.rows import ScoreRow
from beam_bleu.pipeline.result.saved_result import SavedResult
from beam_bleu.pipeline.result.series import Key, labels_of
from beam_bleu.pipeline.saved.dates import Period, missing_between
from beam_bleu.transforms.known_metrics import MetricWord, row_of

GapKind = Literal["missing", "failed", "absent"] | BreakKind


@dataclasses.dataclass(frozen=True)
class NightScore:
    """The score of a series on one night.

    Attributes:
      night: the date, such as 2026-11-19, or the start of the run.
      path: the folder or the file of the result.
      row: the score.
      change: what changed; None on the first night.
    """

    night: str
    path: str
    row: ScoreRow
    change: Change | None

    @property
    def verdict(self) -> Verdict:
        """Whether the score is significantly worse or better than before; "" if neither."""
        change = self.change
        if change is None or not change.is_significant or not change.difference:
            return ""
        return (
            "worse"
            if (change.difference > 0) == row_of(self.row.metric).lower_is_better
            else "better"
        )


@dataclasses.dataclass(frozen=True)
class Series:
    """The scores of a system by a metric, night by night.

    Attributes:
      key: what it is of.
      name: the metric for readers.
      scores: one for each night with such a score, in their order.
    """

    key: Key
    name: str
    scores: tuple[NightScore, ...]

    @property
    def labels(self) -> Mapping[str, str | None]:
        """The labels of the slice and their values; none for the whole corpus."""
        return labels_of(self.scores[0].row)

    @property
    def lower_is_better(self) -> bool:
        """Whether a lower score is better."""
        return row_of(self.key.metric).lower_is_better


@dataclasses.dataclass(frozen=True)
class Gap:
    """A place where the history is not continuous.

    Attributes:
      kind: "missing" (there is no result), "failed" (the last run was not successful), "absent"
        (the result does not have this series), or a break after which scores must not be compared
        with earlier ones: "definition" or "references".
      night: the first night that it is about; of a break, the first night after it.
      until: the last night that it is about.
      text: what it is, in words.
      metric: the metric; None for all.
      of_slice: the text of the slice; None for all.
      system: the system; None for all.
      labels: the labels of the slice and their values; none for the whole corpus, and for all.
    """

    kind: GapKind
    night: str
    until: str
    text: str
    metric: MetricWord | None = None
    of_slice: str | None = None
    system: str | None = None
    labels: Mapping[str, str | None] = dataclasses.field(default_factory=dict)

    @property
    def is_break(self) -> bool:
        """Whether scores must not be compared with those before it."""
        return self.kind in ("definition", "references")

    def is_of(self, series: Series) -> bool:
        """Whether it is about this series."""
        return (
            self.metric in (None, series.key.metric)
            and self.of_slice in (None, series.key.of_slice)
            and self.system in (None, series.key.system)
        )


@dataclasses.dataclass(frozen=True)
class History:
    """What several nights say.

    Attributes:
      nights: all nights, in their order, also those without a result.
      series: metric by metric, first the whole corpus and then the slices, system by system.
      gaps: in the order of their nights.
    """

    nights: tuple[str, ...]
    series: tuple[Series, ...]
    gaps: tuple[Gap, ...]


def history(
    nights: Sequence[Night],
    changes: Changes,
    chooses: Callable[[Key], bool] = lambda key: True,
    last: int | None = None,
) -> History:
    """The history of some nights.

    Args:
      nights: the nights, in their order.
      changes: what compares the scores of two nights.
      chooses: which series are wanted.
      last: how many of the last nights are wanted; None for all. The first one of them is compared
        with the night before, too.
    """
    # As texts, dates and times are in the order of time.
    wanted = [night.moment.text for night in nights[-(last or len(nights)) :]]
    rows: dict[Key, list[NightScore]] = {}
    names: dict[MetricWord, str] = {}
    breaks: dict[tuple[str, Break], Gap] = {}
    former: dict[Key, tuple[str, SavedResult]] = {}
    for night in nights:
        if night.saved is None:
            continue
        for key, row in night.scores.items():
            if not chooses(key):
                continue
            earlier = former.get(key)
            former[key] = night.moment.text, night.saved
            if night.moment.text < wanted[0]:
                continue
            change = None
            if earlier is not None:
                change = changes.change(*earlier, night.saved, key)
                if isinstance(change.cause, Break):
                    gap = _of_break(change.cause, night)
                    breaks.setdefault((gap.night, change.cause), gap)
            names[key.metric] = night.saved.result.metric(key.metric).name
            score = NightScore(night.moment.text, night.path, row, change)
            rows.setdefault(key, []).append(score)
    ordered = sorted(rows, key=lambda key: ([*names].index(key.metric), key.of_slice != ""))
    series = tuple(Series(key, names[key.metric], tuple(rows[key])) for key in ordered)
    gaps = [*_without_results(nights), *_absent(nights, series), *breaks.values()]
    shown = [gap for gap in gaps if gap.until >= wanted[0]]
    shown.sort(key=lambda gap: gap.night)
    return History(tuple(wanted), series, tuple(shown))


def _of_break(cause: Break, night: Night) -> Gap:
    at = night.moment.text
    return Gap(cause.kind, at, at, cause.text, cause.metric, cause.of_slice)


def _without_results(nights: Sequence[Night]) -> Iterator[Gap]:
    """The nights whose runs failed, and those that are missing."""
    for night in nights:
        if night.failure:
            yield Gap("failed", night.moment.text, night.moment.text, night.failure)
    periods = [night.moment.period or _day(night) for night in nights]
    if len({*periods}) < len(periods):
        return  # several runs a day, so no rule says which of them is missing
    missing = {*missing_between(periods)}
    for period in sorted(missing):
        if period.later(-1) in missing:
            continue  # it is one of the nights of an earlier gap
        count = next(number for number in itertools.count(1) if period.later(number) not in missing)
        noun = "month" if period.is_month else "night"
        what = f"no result of this {noun}" if count == 1 else f"no results of {count} {noun}s"
        yield Gap("missing", period.text(), period.later(count - 1).text(), what)


def _day(night: Night) -> Period:
    """The day on which a run started, in UTC."""
    return Period(
        datetime.datetime.fromtimestamp(night.moment.place, datetime.timezone.utc).toordinal()
    )


def _absent(nights: Sequence[Night], series: Sequence[Series]) -> Iterator[Gap]:
    """The nights whose results lack a series that an earlier night has."""
    names = [night.moment.text for night in nights if night.saved is not None]
    for of_key in series:
        having = {score.night for score in of_key.scores}
        start: str | None = None
        first = names.index(of_key.scores[0].night)
        for number, name in enumerate(names[first:], first):
            if name in having:
                start = None
                continue
            start = start or name
            is_last = number + 1 == len(names) or names[number + 1] in having
            if is_last:
                yield Gap(
                    "absent",
                    start,
                    name,
                    f"the results have no {of_key.name} of {of_key.key.shown}",
                    *of_key.key,
                    of_key.labels,
                )
