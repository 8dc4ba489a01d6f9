"""The second section of the page: where do systems differ? Slices, languages, lengths."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.display.printable import value_text
from beam_bleu.pipeline.display.row_order import is_significant
from beam_bleu.pipeline.display.score_tables import Slice, slice_tables, slices_of
from beam_bleu.pipeline.display.table import Cell, Number, Table
from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.report.charts import Chart
from beam_bleu.pipeline.report.figures import Figure, Section
from beam_bleu.pipeline.report.sentences import Difference, Measure, measure_of
from beam_bleu.pipeline.report.standing import DIFFERENCE, dot, numbers
from beam_bleu.pipeline.result.rows import Result, ScoreRow
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.score.uncertainty import FEWEST_UNITS

_MOST_DIFFERENCES = 100
"""A table of differences in slices has no more rows. scores.json has all of them."""

_DRAWN = 16
"""How many differences a chart has: significant ones, and then others; more losses than gains."""

_DRAWN_SLICES = 24

_FEW_ROWS = 12
"""A table that is no longer is open at first, if it stands beside a chart and has none itself."""


@dataclasses.dataclass(frozen=True)
class _Item:
    """An item of --slice_by.

    Attributes:
      measure: the metric.
      labels: its labels, in words.
      scores: by the names of the slices and then the systems.
      systems: all systems, the best one first.
    """

    measure: Measure
    labels: str
    scores: dict[str, dict[str, ScoreRow]]
    systems: list[str]

    def of(self, system: str) -> dict[str, ScoreRow]:
        """The scores of a system by the names of the slices that it has."""
        return {name: own[system] for name, own in self.scores.items() if system in own}

    def lowest(self) -> str:
        """Where the best system scores best and worst."""
        known = self.of(self.systems[0])
        # The best and the worst scores of all are often those of a few segments, by chance. But a
        # large slice without an interval, such as one in which nothing matches, is worth telling.
        sure = {name: row for name, row in known.items() if row.segments >= FEWEST_UNITS}
        values = {name: row.score for name, row in (sure if len(sure) > 1 else known).items()}
        return sentences.over(self.measure, self.labels, self.systems[0], values)


def places(result: Result) -> Section | None:
    """The scores of slices, and the differences in them; None if there are no slices."""
    figures = [
        figure
        for metric in result.metrics
        for slices, table in zip(
            slices_of(result, metric.metric).values(),
            slice_tables(result, metric, None),
            strict=True,
        )
        for figure in _figures(result, measure_of(metric), slices, table)
    ]
    return Section("where", "Where?", figures) if figures else None


def _figures(
    result: Result, measure: Measure, slices: Sequence[Slice], table: Table
) -> Iterator[Figure]:
    labels = list(slices[0].group)
    rows = [row for own in slices for row in own.scores.values()]
    whole = result.whole(measure.metric) or result.averages(measure.metric)
    systems = list(dict.fromkeys(row.system for row in (*measure.best_first(whole), *rows)))
    scores = {_name(own): own.scores for own in slices}
    item = _Item(measure.of(rows), " and ".join(labels), scores, systems)
    known = [
        (_name(own), row) for own in slices for row in own.differences if row.difference is not None
    ]
    differences = [(name, row) for name, row in known if row.baseline == known[0][1].baseline]
    title = f"{measure.name} by {item.labels}"
    table = dataclasses.replace(table, caption=[title])
    chart = None
    if labels == [LENGTH]:
        chart = _by_length(item)
    elif not differences:
        chart = _worst_slices(item)
    is_open = not differences or (labels != [LENGTH] and len(table.rows) < _FEW_ROWS)
    yield Figure(title, item.lowest(), table, chart, is_open)
    if differences:
        yield _differences(item, title, differences)


def _name(own: Slice) -> str:
    return ", ".join(map(value_text, own.group.values()))


def _by_length(item: _Item) -> Chart | None:
    """The curve of scores over the lengths of the references."""
    if len(item.scores) < 2:
        return None
    series = {}
    for system in item.systems:
        rows = [own.get(system) for own in item.scores.values()]
        series[system] = charts.Series(
            [row.score if row else None for row in rows],
            [row.interval if row else None for row in rows],
        )
    title = "tokens of the references"
    return charts.curves([*item.scores], series, item.measure.name, title=title)


def _worst_slices(item: _Item) -> Chart | None:
    """The slices in which the best system scores worst, from the worst one."""
    system = item.systems[0]
    names = {id(row): name for name, row in item.of(system).items()}
    ranked = item.measure.best_first(item.of(system).values())[::-1]
    drawn = [charts.Dot(names[id(row)], row.score or 0.0, row.interval) for row in ranked]
    if len(drawn) < 2:
        return None
    unit = f"{item.measure.name} of {system}, the worst slices first"
    return charts.dots(drawn[:_DRAWN_SLICES], unit)


def _differences(item: _Item, title: str, differences: Sequence[Difference]) -> Figure:
    """The differences in the slices of an item: first the worst losses that are significant."""
    measure = item.measure.of(row for _, row in differences)

    def gain(difference: Difference) -> float:
        points = difference[1].difference or 0.0
        return -points if measure.lower_is_better else points

    by_gain = sorted(differences, key=gain)
    ranked = sorted(by_gain, key=lambda difference: not is_significant(difference[1]))
    rows: list[list[Cell]] = [
        [name, row.system, Number(str(row.segments)), *numbers(measure, row)]
        for name, row in ranked[:_MOST_DIFFERENCES]
    ]
    note = "Significant differences come first, beginning with the worst loss."
    if len(rows) < len(ranked):
        note += f" These are {len(rows)} of {len(ranked)}; scores.json has all of them."
    baseline = differences[0][1].baseline
    title = f"{title}: differences from {baseline}"
    table = Table([title], ["slice", "system", "segments", *DIFFERENCE], rows, [note])
    tested = [(name, row) for name, row in by_gain if row.interval is not None]
    several = len({row.system for _, row in differences}) > 1
    drawn = [dot(f"{name}: {row.system}" if several else name, row) for name, row in _drawn(tested)]
    chart = None
    if drawn:
        chart = charts.dots(drawn, f"points of {measure.name} above {baseline}", from_zero=True)
        if len(drawn) < len(tested):
            note = f"The chart shows {len(drawn)} of {len(tested)}; "
            chart = dataclasses.replace(chart, note=f"{note}significant ones are chosen first.")
    return Figure(title, sentences.in_slices(measure, differences), table, chart)


def _drawn(by_gain: Sequence[Difference]) -> Sequence[Difference]:
    """The differences that a chart has: the significant ones, and then the largest others."""
    significant = [place for place, (_, row) in enumerate(by_gain) if is_significant(row)]
    chance = [place for place, (_, row) in enumerate(by_gain) if not is_significant(row)]
    shown = _ends(significant, _DRAWN)
    shown += _ends(chance, _DRAWN - len(shown))
    return [by_gain[place] for place in sorted(shown)]


def _ends(places: Sequence[int], most: int) -> list[int]:
    """The first and the last places, three of the first for each one of the last."""
    if len(places) <= most:
        return [*places]
    first = -(-most * 3 // 4)
    return [*places[:first], *places[len(places) - (most - first) :]]
