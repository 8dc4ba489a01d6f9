"""The section of the page about several results: what changed, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.display.row_order import decimals_of
from beam_bleu.pipeline.display.score_tables import score_number
from beam_bleu.pipeline.display.table import Cell, Table
from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.report.figures import Figure, series_of
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.score.shown_numbers import Number, counted, p_value, rounded, signed

if TYPE_CHECKING:
    from beam_bleu.pipeline.history.history import History, NightScore, Series

_MOST_ROWS = 400
"""More rows are left out, from the oldest on. `beam-bleu history` shows all of them."""


def past(history: History) -> Iterator[Figure]:
    """The scores of the whole corpus on each night, and where the history is not continuous."""
    metrics: dict[str, list[Series]] = {}
    for series in history.series:
        metrics.setdefault(series.key.metric, []).append(series)
    for systems in metrics.values():
        yield _metric(history, systems)
    if history.gaps:
        rows = [[gap.night, gap.until, gap.text] for gap in history.gaps[-_MOST_ROWS:]]
        table = Table(["Gaps in the history"], ["night", "until", "what"], rows)
        yield Figure("Gaps", f"The history has {counted(len(history.gaps), 'gap')}.", table)


def _metric(history: History, systems: Sequence[Series]) -> Figure:
    """The scores of a metric; one series for each system."""
    name = systems[0].name
    scores = {
        series.key.system: {score.night: score for score in series.scores} for series in systems
    }
    told = [
        nights[night]
        for night in reversed(history.nights)
        for nights in scores.values()
        if night in nights
    ]
    decimals = decimals_of(systems[0].key.metric, [score.row.standard_error for score in told])
    missing = [gap.night for gap in history.gaps if gap.kind == "missing"]
    nights = sorted([*history.nights, *missing])  # dates and times as texts have the order of time
    series = {}
    for system, found in scores.items():
        line = [found.get(night) for night in nights]
        breaks = {number for number, score in enumerate(line) if _is_break(score)}
        series[system] = series_of([None if score is None else score.row for score in line], breaks)
    chart = charts.curves(nights, series, name)
    rows = [_row(score, decimals) for score in told]
    note = "p says how probable such a change is if nothing has changed in truth."
    if len(rows) > _MOST_ROWS:
        note += f" These are the last {_MOST_ROWS} of {len(rows)} rows; beam-bleu history has all."
    header = ["night", "system", name, "change", "p", "remark"]
    table = Table([f"{name}, the last night first"], header, rows[:_MOST_ROWS], [note])
    return Figure(f"{name} by night", _sentence(systems, decimals), table, chart)


def _is_break(score: NightScore | None) -> bool:
    """Whether a score must not be compared with the one before it."""
    return score is not None and score.change is not None and score.change.difference is None


def _row(score: NightScore, decimals: int) -> list[Cell]:
    names: list[Cell] = [score.night, score.row.system, score_number(score.row, decimals)]
    change = score.change
    if change is None:
        return [*names, Number(), Number(), ""]
    difference = "" if change.difference is None else signed(change.difference, decimals)
    remark = score.verdict or change.reason
    return [*names, Number(difference), Number(p_value(change.p_value)), remark]


def _sentence(systems: Sequence[Series], decimals: int) -> str:
    """What changed last in the first series, and which changes were for the worse."""
    name, last = systems[0].name, systems[0].scores[-1]
    system, score, change = last.row.system, last.row.score, last.change
    if score is None:
        return f"{system} has no {name} on {last.night}."
    text = f"On {last.night}, {system} has {rounded(score, decimals)} {name}"
    if change is None:
        return f"{text}."
    if change.difference is None:
        text += f", which cannot be compared with {change.against}: {change.reason}"
    else:
        text += f", {signed(change.difference, decimals)} since {change.against}"
        if change.p_value is not None:
            sure = f"which is {last.verdict}" if last.verdict else "which may be chance"
            text += f", {sure} ({sentences.p_text(change.p_value)})"
    losses = [
        f"{score.row.system} on {score.night}"
        for series in systems
        for score in series.scores
        if score.verdict == "worse"
    ]
    worse = f" Significantly worse than the night before: {joined(losses, 8)}." if losses else ""
    return f"{text}.{worse}"
