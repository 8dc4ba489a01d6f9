"""Makes the history of scores: what changed from one night to the next, and where that is unknown.

A score is compared with that of the night before. Where the definition or the references changed,
the series has a break, which the history names, and no difference.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from beam_bleu.pipeline.display.row_order import Verdict, decimals_of, verdict_by
from beam_bleu.pipeline.display.score_tables import score_number
from beam_bleu.pipeline.display.table import LOWER, Cell, Table, as_lines, as_text
from beam_bleu.pipeline.errors.printable import json_text
from beam_bleu.pipeline.folder.manifest import digests_of, reference_digests
from beam_bleu.pipeline.history.nights import Night, dates_in, missing_days
from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparedRow,
    Key,
    ScoreRow,
    series_of,
)
from beam_bleu.pipeline.saved.comparing import (
    changed_conditions,
    common_definitions,
    compared_series,
    pairing,
)
from beam_bleu.pipeline.saved.saved_result import SavedResult
from beam_bleu.transforms.known_metrics import MetricWord, row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    Number,
    counted,
    estimate,
    p_value,
    signed,
)

GapKind = Literal["missing", "failed", "absent", "definition", "references", "gate"]

_IF_NEW = "if each night has texts of its own, say so with --partition or --new_texts"


class Gap(NamedTuple):
    """Where the history is not continuous: nights without a score, a break before `night`, or one
    whose gate failed.

    Nights are missing from `night` to `until`. None as metric, system or labels means all of them.
    """

    kind: GapKind
    night: str
    until: str
    text: str
    metric: MetricWord | None = None
    system: str | None = None
    labels: Mapping[str, str | None] | None = None

    @property
    def has_score(self) -> bool:
        return self.kind in ("definition", "references", "gate")

    def is_of(self, row: ScoreRow) -> bool:
        return (
            self.metric in (None, row.metric)
            and self.system in (None, row.system)
            and self.labels in (None, row.labels)
        )


class Change(NamedTuple):
    """The change of a score since an earlier night; no `row` if the two cannot be compared.

    `reason` says why there is no difference or no p-value, or why the p-value is an upper bound.
    """

    against: str | None = None
    row: ComparedRow | None = None
    reason: str = ""
    gap: Gap | None = None


class NightScore(NamedTuple):
    night: str
    path: str
    row: ScoreRow
    change: Change

    @property
    def verdict(self) -> Verdict:
        row = self.change.row
        return "" if row is None else verdict_by(row, row.p_value)


@dataclasses.dataclass(frozen=True)
class Series:
    key: Key
    name: str
    scores: tuple[NightScore, ...]


@dataclasses.dataclass(frozen=True)
class History:
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
    # Dates and times in this format, sorted as texts, are in order of time.
    wanted = [night.name for night in nights[-(last or len(nights)) :]]
    rows: dict[Key, list[NightScore]] = {}
    names: dict[MetricWord, str] = {}
    former: dict[Key, tuple[str, SavedResult]] = {}
    gaps = [*_of_nights(nights)]
    for night in nights:
        if night.saved is None:
            continue
        compared: dict[str, dict[Key, Change]] = {}
        saved = dataclasses.replace(night.saved)  # a copy, so that the totals it reads are not kept
        for key, row in night.scores.items():
            if not chooses(key):
                continue
            change = Change()
            if key in former and night.name >= wanted[0]:
                against, old = former[key]
                if against not in compared:
                    compared[against] = _changes(
                        old, saved, against, night.name, new_texts=new_texts
                    )
                change = compared[against][key]
                if change.gap is not None and change.gap not in gaps:
                    gaps.append(change.gap)
            former[key] = night.name, saved
            if night.name >= wanted[0]:
                names[key.metric] = saved.result.metric(key.metric).name
                rows.setdefault(key, []).append(NightScore(night.name, night.path, row, change))
    ordered = sorted(rows, key=lambda key: ([*names].index(key.metric), key.slice_text != ""))
    series = tuple(Series(key, names[key.metric], tuple(rows[key])) for key in ordered)
    gaps += _absent(nights, series)
    shown = [gap for gap in gaps if gap.until >= wanted[0]]
    # Within a night, what is said of its scores comes last.
    shown.sort(key=lambda gap: (gap.night, gap.has_score))
    return History(tuple(wanted), series, tuple(shown))


def _changes(
    old: SavedResult, new: SavedResult, against: str, night: str, *, new_texts: bool
) -> dict[Key, Change]:
    breaks: list[Gap] = []
    for word, (before, now) in common_definitions(old.result, new.result).items():
        if before.shown != now.shown:
            kind: GapKind = "definition" if before.chosen != now.chosen else "references"
            text = f"the definition of {now.name} changed from {before.shown} to {now.shown}"
            breaks.append(Gap(kind, night, night, text, word))
        elif before.whole != now.whole:
            text = f"the scores of {now.name} changed from {before.whole} to {now.whole}"
            breaks.append(Gap("definition", night, night, text, word, labels={}))
    if conditions := changed_conditions(old.result, new.result):
        breaks.append(Gap("definition", night, night, conditions))
    segments, why = _segments(old, new, new_texts)
    if segments == "replaced":
        breaks.append(Gap("references", night, night, why))
    pairs = pairing(old, new) if segments == "same" else "the segments are others"
    compared = compared_series(old.result, new.result, pairs)

    def change(key: Key, score: ScoreRow) -> Change:
        gap = next((gap for gap in breaks if gap.is_of(score)), None)
        row = compared.get(key)
        if gap is not None:
            return Change(against, None, gap.text, gap)
        if row is None:
            return Change(against, None, "there is no score")
        if row.method == "unchanged":
            same = dataclasses.replace(row, standard_error=0.0, interval=(0.0, 0.0), p_value=1.0)
            return Change(against, same)
        if segments == "unknown":
            row = dataclasses.replace(row, standard_error=None, interval=None, p_value=None)
            return Change(against, row, why)
        reason = row.reason
        if segments == "same" and row.method == "independent" and row.p_value is not None:
            reason = "only scores of the whole corpus are compared in pairs"
            if row.slice is None and isinstance(pairs, str):
                reason = pairs
        return Change(against, row, reason)

    return {key: change(key, score) for key, score in series_of(new.result).items()}


def _segments(
    old: SavedResult, new: SavedResult, new_texts: bool
) -> tuple[Literal["same", "others", "replaced", "unknown"], str]:
    references = [reference_digests(saved.streams) for saved in (old, new)]
    records = [digests_of(saved.streams, "records") for saved in (old, new)]
    if any(before == after != () for before, after in (references, records)):
        return "same", ""
    if new_texts or old.result.partitions != new.result.partitions:
        return "others", ""
    before, after = old.result.segments, new.result.segments
    if all(references):
        return "replaced", f"the references changed; {_IF_NEW}"
    if before != after:
        return "replaced", f"the number of segments changed from {before} to {after}; {_IF_NEW}"
    if any(records):
        return "unknown", f"records do not show whether their references are the same; {_IF_NEW}"
    return "unknown", f"there is no manifest.json that says what was read; {_IF_NEW}"


def _of_nights(nights: Sequence[Night]) -> Iterator[Gap]:
    for night in nights:
        if night.failure:
            yield Gap("failed", night.name, night.name, night.failure)
        if night.missed:
            yield Gap("gate", night.name, night.name, f"the gate failed: {night.missed}")
    missing = enumerate(missing_days(dates_in(night.name)[0] for night in nights))
    for _, numbered in itertools.groupby(missing, lambda item: item[1].toordinal() - item[0]):
        days = [day.isoformat() for _, day in numbered]
        what = f"no results of {len(days)} nights" if len(days) > 1 else "no result of this night"
        yield Gap("missing", days[0], days[-1], what)


def _absent(nights: Sequence[Night], series: Sequence[Series]) -> Iterator[Gap]:
    names = [night.name for night in nights if night.saved is not None]
    for of_key in series:
        having = {score.night for score in of_key.scores}
        since = names.index(of_key.scores[0].night)
        for is_there, group in itertools.groupby(names[since:], having.__contains__):
            absent, row = [*group], of_key.scores[0].row
            if not is_there:
                text = f"the results have no {of_key.name} of {of_key.key.shown}"
                what = (row.metric, row.system, row.labels)
                yield Gap("absent", absent[0], absent[-1], text, *what)


_WORDS: Mapping[GapKind, str] = {
    "missing": "missing",
    "failed": "failed",
    "absent": "absent",
    "definition": "new definition",
    "references": "new references",
    "gate": "gate failed",
}

_LEGEND = (
    f"{HALF_INTERVAL}; worse or better where p < {SIGNIFICANCE_LEVEL}, which luck alone reaches in "
    "one of 20 nights"
)


def history_text(history: History) -> str:
    tables = [as_text(series_table(series, history.gaps)) for series in history.series]
    lines = [f"{_nights(gap)}: {gap.text}" for gap in history.gaps]
    lines += _reasons(history)
    lines.append(_LEGEND)
    return "\n".join([*tables, as_lines(lines)])


def series_table(series: Series, gaps: Sequence[Gap]) -> Table:
    metric = series.key.metric
    decimals = decimals_of(metric, [score.row for score in series.scores])
    of_changes = decimals_of(metric, [score.change.row for score in series.scores])
    cells: list[list[Cell]] = []
    at_gate = {gap.night: gap for gap in gaps if gap.kind == "gate"}
    for score in series.scores:
        difference, p = Number(), Number()
        if row := score.change.row:
            difference = estimate(row.difference, row.interval, of_changes, signed, score.verdict)
            p = Number(p_value(row.p_value))
        said = filter(None, (score.change.gap, at_gate.get(score.night)))
        words = ", ".join(_WORDS[gap.kind] for gap in said)
        cells.append([score.night, score_number(score.row, decimals), difference, p, words])
    cells += [
        [_nights(gap), Number(), Number(), Number(), _WORDS[gap.kind]]
        for gap in gaps
        if gap.is_of(series.scores[0].row) and not gap.has_score
    ]
    cells.sort(key=lambda row: str(row[0]))
    name = f"{series.name} {LOWER}" if row_of(metric).lower_is_better else series.name
    return Table([series.key.shown], ["night", name, "change", "p", ""], cells)


def _nights(gap: Gap) -> str:
    return gap.night if gap.night == gap.until else f"{gap.night} to {gap.until}"


def _reasons(history: History) -> Iterator[str]:
    reasons = collections.Counter(
        (score.change.reason, score.change.row is None or score.change.row.p_value is None)
        for series in history.series
        for score in series.scores
        if score.change.reason and score.change.gap is None
    )
    for (reason, is_unknown), number in reasons.items():
        what = "without a p-value" if is_unknown else "whose p is an upper bound"
        yield f"{counted(number, 'change')} {what}: {reason}"


def as_json(history: History) -> str:
    document = {
        "nights": history.nights,
        "scores": [*map(_of_score, _scores(history))],
        "gaps": [_of_gap(gap) for gap in history.gaps],
    }
    return json_text(document, indent=1) + "\n"


def as_jsonl(history: History) -> str:
    entries = [
        *({"kind": "score", **_of_score(score)} for score in _scores(history)),
        *({"kind": "gap", **_of_gap(gap)} for gap in history.gaps),
    ]
    entries.sort(key=lambda entry: (entry["night"], entry["kind"] == "score"))
    return "".join(f"{json_text(entry)}\n" for entry in entries)


def _scores(history: History) -> Iterator[NightScore]:
    return itertools.chain.from_iterable(series.scores for series in history.series)


def _of_score(score: NightScore) -> dict[str, Any]:
    row, change = score.row, score.change
    difference = change.row
    return {
        "night": score.night,
        "metric": row.metric,
        "system": row.system,
        "slice": row.labels or None,
        "segments": None if row.slice == MACRO_AVERAGE else row.segments,
        "score": row.score,
        "standard_error": row.standard_error,
        "interval": row.interval,
        "against": change.against,
        "difference": difference and difference.difference,
        "difference_standard_error": difference and difference.standard_error,
        "difference_interval": difference and difference.interval,
        "p_value": difference and difference.p_value,
        "method": None if not difference or difference.p_value is None else difference.method,
        "verdict": score.verdict or None,
        "reason": change.reason or None,
        "path": score.path,
    }


def _of_gap(gap: Gap) -> dict[str, Any]:
    return {
        **{"night": gap.night, "until": gap.until, "gap": gap.kind, "metric": gap.metric},
        **{"system": gap.system, "slice": gap.labels or None, "text": gap.text},
    }


FORMATS: Mapping[str, Callable[[History], str]] = {
    "text": history_text,
    "json": as_json,
    "jsonl": as_jsonl,
}
