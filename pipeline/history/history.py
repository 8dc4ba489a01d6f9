"""The history of scores: what changed from one night to the next, and where it cannot be known.

A series is the scores of one system by one metric, on the whole corpus or on a slice. A score is
compared with that of the night before. Where scores must not be compared, because the definition or
the references have changed, the series has a break: it is named, and there is no difference.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from beam_bleu.pipeline.display.row_order import Verdict
from beam_bleu.pipeline.history.nights import Night
from beam_bleu.pipeline.result.comparing import compare, pairing
from beam_bleu.pipeline.result.rows import ComparedRow, Method, ScoreRow
from beam_bleu.pipeline.result.saved_result import SavedResult
from beam_bleu.pipeline.result.series import Definition, Key, definition_of, key_of, labels_of
from beam_bleu.pipeline.saved.dates import missing_between
from beam_bleu.transforms.known_metrics import MetricWord, row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.paired_runs import Paired

GapKind = Literal["missing", "failed", "absent", "definition", "references"]

_IF_NEW = "if each night has texts of its own, say so with --partition or --new_texts"


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

    def is_of(self, key: Key) -> bool:
        """Whether it is about this series."""
        own = self.metric, self.of_slice, self.system
        return all(value in (None, of_key) for value, of_key in zip(own, key, strict=True))


@dataclasses.dataclass(frozen=True)
class Change:
    """A score minus that of an earlier night.

    Attributes:
      against: the earlier night.
      difference: the score minus the earlier one; None if they must not be compared.
      standard_error: of the difference; None if it is not known.
      interval: the 95 % interval of the difference; None if it is not known.
      p_value: how probable such a difference is if there is none in truth; None if it is not known.
      method: how the p-value was found; None without one.
      reason: why the difference or the p-value is None, or is an upper bound; "" otherwise.
      gap: the break, if there is one between the two nights.
    """

    against: str
    difference: float | None = None
    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    method: Method | None = None
    reason: str = ""
    gap: Gap | None = None


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
        if change is None or change.p_value is None or not change.difference:
            return ""
        if change.p_value >= SIGNIFICANCE_LEVEL:
            return ""
        is_worse = (change.difference > 0) == row_of(self.row.metric).lower_is_better
        return "worse" if is_worse else "better"


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
    chooses: Callable[[Key], bool] = lambda key: True,
    last: int | None = None,
    *,
    new_texts: bool = False,
) -> History:
    """The history of some nights.

    Args:
      nights: the nights, in their order.
      chooses: which series are wanted.
      last: how many of the last nights are wanted; None for all. The first one of them is compared
        with the night before, too.
      new_texts: whether all nights are known to have different segments.

    Raises:
      InputError: saved totals are damaged.
    """
    # As texts, dates and times are in the order of time.
    wanted = [night.name for night in nights[-(last or len(nights)) :]]
    rows: dict[Key, list[NightScore]] = {}
    names: dict[MetricWord, str] = {}
    former: dict[Key, tuple[str, SavedResult]] = {}
    gaps = [*_without_results(nights)]
    for night in nights:
        if night.saved is None:
            continue
        name, compared = night.name, dict[str, _Nights]()
        saved = dataclasses.replace(night.saved)  # so the totals that it reads are forgotten
        for key, row in filter(lambda item: chooses(item[0]), night.scores.items()):
            earlier, former[key] = former.get(key), (name, saved)
            if name < wanted[0]:
                continue
            change = None
            if earlier is not None:
                against, old = earlier
                if against not in compared:
                    compared[against] = _nights(old, saved, name, new_texts=new_texts)
                change = compared[against].change(key, against)
                if change.gap is not None and change.gap not in gaps:
                    gaps.append(change.gap)
            names[key.metric] = saved.result.metric(key.metric).name
            rows.setdefault(key, []).append(NightScore(name, night.path, row, change))
    ordered = sorted(rows, key=lambda key: ([*names].index(key.metric), key.of_slice != ""))
    series = tuple(Series(key, names[key.metric], tuple(rows[key])) for key in ordered)
    gaps += _absent(nights, series)
    shown = [gap for gap in gaps if gap.until >= wanted[0]]
    # Of the same night, breaks come last.
    shown.sort(key=lambda gap: (gap.night, gap.is_break))
    return History(tuple(wanted), series, tuple(shown))


@dataclasses.dataclass(frozen=True)
class _Nights:
    """Two nights that are compared.

    Attributes:
      breaks: why scores must not be compared.
      has_same_segments: whether their segments are the same; a break if a test set that should be
        the same has changed; why they are not compared, if nothing says it.
      pairs: what compares systems in pairs, or why nothing does.
      rows: the scores that both have.
    """

    breaks: Sequence[Gap]
    has_same_segments: bool | Gap | str
    pairs: Paired | str
    rows: Mapping[Key, ComparedRow]

    def change(self, key: Key, against: str) -> Change:
        """What changed in a series since the night of this name."""
        for gap in self.breaks:
            if gap.is_of(key):
                return Change(against, reason=gap.text, gap=gap)
        row = self.rows.get(key)
        if row is None:
            return Change(against, reason="there is no score")
        if row.method == "unchanged":
            return Change(against, 0.0, 0.0, (0.0, 0.0), 1.0, row.method)
        if isinstance(self.has_same_segments, str):
            return Change(against, row.difference, reason=self.has_same_segments)
        numbers = row.difference, row.standard_error, row.interval, row.p_value
        if row.p_value is None:
            return Change(against, *numbers, reason=row.reason)
        reason = ""
        if self.has_same_segments is True and row.method == "independent":
            reason = "only scores of the whole corpus are compared in pairs"
            if row.group is None and isinstance(self.pairs, str):
                reason = self.pairs
        return Change(against, *numbers, row.method, reason)


def _nights(old: SavedResult, new: SavedResult, night: str, *, new_texts: bool) -> _Nights:
    breaks = [
        gap
        for word in new.result.words
        if word in old.result.words
        for gap in _new_definition(
            word, definition_of(old.result, word), definition_of(new.result, word), night
        )
    ]
    segments = _segments(old, new, night, new_texts)
    if isinstance(segments, Gap):
        breaks.append(segments)
    pairs = pairing(old, new) if segments is True else "the segments are others"
    rows = {key_of(row): row for row in compare(old.result, new.result, pairs)}
    return _Nights(breaks, segments, pairs, rows)


def _new_definition(
    metric: MetricWord, old: Definition, new: Definition, night: str
) -> Iterator[Gap]:
    """The break if the scores of two nights are made in different ways."""
    if old.shown != new.shown:
        kind: GapKind = "definition" if old.chosen != new.chosen else "references"
        text = f"the definition of {new.name} changed from {old.shown} to {new.shown}"
        yield Gap(kind, night, night, text, metric)
    elif old.whole != new.whole:
        text = f"the scores of {new.name} changed from {old.whole} to {new.whole}"
        yield Gap("definition", night, night, text, metric, "")


def _segments(old: SavedResult, new: SavedResult, night: str, new_texts: bool) -> bool | Gap | str:
    """Whether two nights have the same segments."""
    references, records = (
        [saved.digests(role) for saved in (old, new)] for role in ("references", "records")
    )
    if any(before == after != () for before, after in (references, records)):
        return True
    if new_texts or old.result.partitions != new.result.partitions:
        return False
    before, after = old.result.segments, new.result.segments
    what = f"number of segments changed from {before} to {after}" if before != after else ""
    what = "references changed" if all(references) else what
    if what:
        return Gap("references", night, night, f"the {what}; {_IF_NEW}")
    if any(records):
        return f"records do not show whether their references are the same; {_IF_NEW}"
    return f"there is no manifest.json that says what was read; {_IF_NEW}"


def _without_results(nights: Sequence[Night]) -> Iterator[Gap]:
    """The nights whose runs failed, and those that are missing."""
    for night in nights:
        if night.failure:
            yield Gap("failed", night.name, night.name, night.failure)
    periods = [night.period for night in nights]
    if len({*periods}) < len(periods):
        return  # several runs a day, so no rule says which of them is missing
    missing = enumerate(missing_between(periods))
    for _, numbered in itertools.groupby(missing, lambda item: item[1].place - item[0]):
        gap = [period for _, period in numbered]
        noun = "month" if gap[0].is_month else "night"
        what = f"no result of this {noun}"
        if len(gap) > 1:
            what = f"no results of {len(gap)} {noun}s"
        yield Gap("missing", gap[0].text(), gap[-1].text(), what)


def _absent(nights: Sequence[Night], series: Sequence[Series]) -> Iterator[Gap]:
    """The nights whose results lack a series that an earlier night has."""
    names = [night.name for night in nights if night.saved is not None]
    for of_key in series:
        having = {score.night for score in of_key.scores}
        since = names.index(of_key.scores[0].night)
        for is_there, group in itertools.groupby(names[since:], having.__contains__):
            absent = [*group]
            if not is_there:
                text = f"the results have no {of_key.name} of {of_key.key.shown}"
                yield Gap("absent", absent[0], absent[-1], text, *of_key.key, of_key.labels)
