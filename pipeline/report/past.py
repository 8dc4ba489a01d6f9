"""The section of the page about several results: what changed, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.report.figures import Figure, Section, Table
from beam_bleu.transforms.score.shown_numbers import p_value, rounded, signed

if TYPE_CHECKING:
    from beam_bleu.pipeline.history.history import History, NightScore, Series

_MOST_ROWS = 400
"""More rows are left out, from the oldest on. `beam-bleu history` shows all of them."""


def past(history: History) -> Section:
    """The scores of the whole corpus on each night, and where the history is not continuous."""
    metrics = dict.fromkeys(series.metric for series in history.series)
    figures = [
        _of_metric(history, [series for series in history.series if series.metric == metric])
        for metric in metrics
    ]
    figures += _gaps(history)
    last = history.nights[-1]
    lead = f"{len(history.nights)} nights. The sections below are about the last result, of {last}."
    return Section("history", "What has changed, and since when?", figures, lead)


def _of_metric(history: History, of_systems: Sequence[Series]) -> Figure:
    name = of_systems[0].name
    scores = {series.system: {row.night: row for row in series.scores} for series in of_systems}
    errors = [row.standard_error for rows in scores.values() for row in rows.values()]
    decimals = decimals_of(of_systems[0].metric, None, errors)
    missing = [gap.night for gap in history.gaps if gap.kind == "missing"]
    nights = sorted([*history.nights, *missing])  # dates and times as texts have the order of time
    values = {
        system: [rows[night].score if night in rows else None for night in nights]
        for system, rows in scores.items()
    }
    intervals = {
        system: [rows[night].interval if night in rows else None for night in nights]
        for system, rows in scores.items()
    }
    breaks = {
        system: {number for number, night in enumerate(nights) if _is_break(rows.get(night))}
        for system, rows in scores.items()
    }
    chart = charts.curves(nights, values, name, intervals=intervals, breaks=breaks)
    told = [(night, series) for night in reversed(history.nights) for series in of_systems]
    rows = [
        _row(series, row, decimals)
        for night, series in told
        if (row := scores[series.system].get(night)) is not None
    ]
    note = "p says how probable such a change is if nothing has changed in truth."
    if len(rows) > _MOST_ROWS:
        note += f" These are the last {_MOST_ROWS} of {len(rows)} rows; beam-bleu history has all."
    table = Table(
        f"{name}, the last night first",
        [["night", "system", name, "change", "p", "remark"], *rows[:_MOST_ROWS]],
        texts=frozenset([1, 5]),
        note=note,
    )
    return Figure(f"{name} by night", _sentence(of_systems, decimals), table, chart)


def _is_break(row: NightScore | None) -> bool:
    """Whether a score must not be compared with the one before it."""
    return row is not None and row.change is not None and row.change.difference is None


def _row(series: Series, row: NightScore, decimals: int) -> list[str]:
    change = row.change
    difference = None if change is None else change.difference
    half = (
        "" if row.interval is None else f" ± {(row.interval[1] - row.interval[0]) / 2:.{decimals}f}"
    )
    return [
        row.night,
        series.system,
        "" if row.score is None else f"{rounded(row.score, decimals)}{half}",
        "" if difference is None else signed(difference, decimals),
        "" if change is None else p_value(change.p_value),
        series.verdict(row) or ("" if change is None else change.reason),
    ]


def _sentence(of_systems: Sequence[Series], decimals: int) -> str:
    """What changed last in the first series, and how many significant changes there were."""
    series = of_systems[0]
    last = series.scores[-1]
    if last.score is None:
        return f"{series.system} has no {series.name} on {last.night}."
    text = f"On {last.night}, {series.system} has {rounded(last.score, decimals)} {series.name}"
    change = last.change
    if change is None:
        return f"{text}, its first score."
    if change.difference is None:
        return f"{text}, which cannot be compared with {change.against}: {change.reason}."
    side = "above" if change.difference > 0 else "below"
    size = rounded(abs(change.difference), decimals)
    text += (
        f", {size} {side} {change.against}" if change.difference else f", as on {change.against}"
    )
    if change.difference and change.p_value is not None:
        sure = series.verdict(last)
        text += f", which is {sure}" if sure else ", which may be chance"
        text += f" ({sentences.p_text(change.p_value)})"
    losses = [
        f"{one.system} on {row.night}"
        for one in of_systems
        for row in one.scores
        if one.verdict(row) == "worse"
    ]
    worse = (
        f" Significantly worse than the night before: {sentences.listed(losses)}." if losses else ""
    )
    return f"{text}.{worse}"


def _gaps(history: History) -> Iterator[Figure]:
    """The nights without a result, and those since which scores cannot be compared."""
    if not history.gaps:
        return
    rows = [["night", "until", "what"]]
    rows += [[gap.night, gap.until, gap.text] for gap in history.gaps[-_MOST_ROWS:]]
    table = Table("Gaps in the history", rows, texts=frozenset([1, 2]), is_open=True)
    count = len(history.gaps)
    text = f"The history has {count} {'gap' if count == 1 else 'gaps'}."
    yield Figure("Gaps", text, table)
