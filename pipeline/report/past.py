"""The section of the page about several results: what changed, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.display.table import Table
from beam_bleu.pipeline.history.history import History, Series
from beam_bleu.pipeline.history.shown import series_table
from beam_bleu.pipeline.report.charts import Curves
from beam_bleu.pipeline.report.figures import Figure, series_of
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.score.shown_numbers import counted

_NAMED = 8


def past(history: History) -> Iterator[Figure]:
    """The scores of the whole corpus on each night, and where the history is not continuous."""
    metrics: dict[str, list[Series]] = {}
    for series in history.series:
        metrics.setdefault(series.key.metric, []).append(series)
    for systems in metrics.values():
        yield _metric(history, systems)
    if history.gaps:
        rows = [[gap.night, gap.until, gap.text] for gap in history.gaps]
        table = Table(["Gaps in the history"], ["night", "until", "what"], rows)
        sentence = f"The history has {counted(len(history.gaps), 'gap')}."
        yield Figure("Gaps", [table], sentence=sentence)


def _metric(history: History, systems: Sequence[Series]) -> Figure:
    """The scores of a metric; one series for each system."""
    name = systems[0].name
    missing = [gap.night for gap in history.gaps if gap.kind == "missing"]
    nights = sorted([*history.nights, *missing])  # dates and times as texts have the order of time
    curves = {}
    for series in systems:
        by_night = {score.night: score for score in series.scores}
        line = [by_night.get(night) for night in nights]
        breaks = {
            number
            for number, score in enumerate(line)
            if score and score.change.against and not score.change.row
        }
        curves[series.key.system] = series_of([own.row if own else None for own in line], breaks)
    losses = [
        f"{score.row.system} on {score.night}"
        for series in systems
        for score in series.scores
        if score.verdict == "worse"
    ]
    text = "No night is significantly worse than the one before."
    if losses:
        text = f"Significantly worse than the night before: {joined(losses, _NAMED)}."
    tables = [series_table(series, history.gaps) for series in systems]
    return Figure(f"{name} by night", tables, Curves(nights, curves, name), text)
