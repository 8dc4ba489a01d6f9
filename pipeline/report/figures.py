"""The figures of a result: who is best and is it real, where systems differ, and why."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from beam_bleu.pipeline.display.comparison_tables import differences_in_slices, differences_table
from beam_bleu.pipeline.display.row_order import View, by_difference, gain, verdict
from beam_bleu.pipeline.display.score_tables import Slice, slice_tables, slices_of, systems_table
from beam_bleu.pipeline.display.table import Cell, Table
from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparisonRow,
    MetricNames,
    Result,
    ScoreRow,
)
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.known_metrics import metric_type, row_of
from beam_bleu.transforms.score.shown_numbers import Number

_MEANINGS = {"worse": "loss", "better": "gain", "": "chance"}


@dataclasses.dataclass(frozen=True)
class Figure:
    """A fact: a sentence that says it, a chart that shows it, and tables with its numbers.

    Attributes:
      title: its heading.
      sentence: what a reader should see in the chart.
      tables: its numbers. The first sentence of a caption is the name of the table.
      chart: the chart; None if there is too little to draw.
    """

    title: str
    sentence: str
    tables: Sequence[Table] = ()
    chart: charts.Chart | None = None


def standing(result: Result) -> Iterator[Figure]:
    """The scores and differences on the whole corpus, and those of means."""
    view = View(result)
    if table := systems_table(view, for_paper=True):
        yield Figure("Scores", table.caption[0], [table])
    for metric in result.metrics:
        word = metric.metric
        for name, rows, group in (
            (metric.name, result.whole(word), None),
            (f"mean {metric.name}", result.averages(word), MACRO_AVERAGE),
        ):
            compared = [row for row in result.compared(word) if row.group == group]
            if rows:
                dots = [
                    charts.Dot(row.system, row.score, row.interval)
                    for row in _best_first(rows)
                    if row.score is not None
                ]
                unit = f"{name} (lower is better)" if row_of(word).lower_is_better else name
                chart = charts.dots(dots, unit) if len(dots) > 1 else None
                yield Figure(name, sentences.best(name, rows, compared), chart=chart)
            if table := differences_table(view, compared):
                # Of all pairs, the chart has those with the first baseline.
                from_first = [row for row in compared if row.baseline == compared[0].baseline]
                named = [("", row) for row in _best_first(from_first)]
                yield _differences(name, name, named, table)


Row = TypeVar("Row", ScoreRow, ComparisonRow)


def _best_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=gain, reverse=True)


def _differences(
    name: str, title: str, compared: Sequence[tuple[str, ComparisonRow]], table: Table
) -> Figure:
    """The differences from a baseline, on the whole corpus or in slices, in the chart's order."""
    baseline = compared[0][1].baseline
    dots = [
        charts.Dot(
            f"{where}: {row.system}" if where else row.system,
            row.difference,
            row.interval,
            _MEANINGS[verdict(row)],
        )
        for where, row in compared
    ]
    return Figure(
        f"{title}: differences from {baseline}",
        sentences.differences(compared),
        [table],
        charts.dots(dots, f"points of {name} above {baseline}", from_zero=True),
    )


def places(result: Result) -> Iterator[Figure]:
    """The scores of slices, and the differences in them."""
    view = View(result)
    for metric in result.metrics:
        items = slices_of(result, metric.metric).items()
        tables = slice_tables(view, metric, for_paper=True)
        for (item, slices), table in zip(items, tables, strict=True):
            yield from _of_item(view, metric, item, slices, table)


def _of_item(
    view: View, metric: MetricNames, item: str, slices: Sequence[Slice], table: Table
) -> Iterator[Figure]:
    """The figures of an item of --slice_by."""
    rows = [row for own in slices for row in own.scores.values()]
    whole = view.result.whole(metric.metric) or view.result.averages(metric.metric)
    systems = list(dict.fromkeys(row.system for row in (*_best_first(whole), *rows)))
    best = {own.name: own.scores[systems[0]] for own in slices if systems[0] in own.scores}
    title, chart = f"{metric.name} by {item}", None
    if item == LENGTH and len(slices) > 1:
        series = {
            system: series_of([own.scores.get(system) for own in slices]) for system in systems
        }
        below = "tokens of the references"
        chart = charts.curves([own.name for own in slices], series, metric.name, title=below)
    elif len(best) > 1:
        dots = [
            charts.Dot(name, best[name].score or 0.0, best[name].interval)
            for name in sorted(best, key=lambda name: gain(best[name]))
        ]
        chart = charts.dots(dots, f"{metric.name} of {systems[0]}, the worst slices first")
    yield Figure(title, sentences.over(metric.name, item, systems[0], best), [table], chart)
    if differences := differences_in_slices(view, item, slices):
        compared = [(own.name, row) for own in slices for row in own.differences]
        compared.sort(key=lambda named: by_difference(named[1]))
        yield _differences(metric.name, title, compared, differences)


def series_of(rows: Sequence[ScoreRow | None], breaks: Collection[int] = ()) -> charts.Series:
    """The scores of a system in a chart, in some of whose categories it has none."""
    scores = [row.score if row else None for row in rows]
    return charts.Series(scores, [row.interval if row else None for row in rows], breaks)


def reasons(result: Result) -> Iterator[Figure]:
    """What the scores are made of: their parts, and the scores of segments."""
    for metric in result.metrics:
        score_type = metric_type(metric.metric).score_type
        ranked = _best_first(result.whole(metric.metric))
        cells = [score_type.cells(row.parts, score_type.DECIMALS) for row in ranked]
        if cells and cells[0]:
            title = f"The parts of {metric.name}"
            rows: list[list[Cell]] = [
                [row.system, *map(Number, own.values())]
                for row, own in zip(ranked, cells, strict=True)
            ]
            parts = {row.system: score_type.chart_parts(row.parts) for row in ranked}
            names = list(dict.fromkeys(name for own in parts.values() for name in own))
            series = {
                system: charts.Series([own.get(name) for name in names])
                for system, own in parts.items()
            }
            # The last word of a name tells it from the others.
            labels = [name.rpartition(" ")[2] for name in names]
            yield Figure(
                title,
                f"What the {metric.name} of each system is made of.",
                [Table([title], ["system", *cells[0]], rows)],
                charts.curves(labels, series, "%", connected=False) if names else None,
            )
        yield from _distributions(result, metric)


def _distributions(result: Result, metric: MetricNames) -> Iterator[Figure]:
    """How many segments have which score. Systems can have buckets of their own."""
    by_edges: dict[tuple[float | None, ...], dict[str, Sequence[int]]] = {}
    for entry in result.distributions or ():
        if entry["metric"] == metric.metric:
            by_edges.setdefault(tuple(entry["edges"]), {})[entry["system"]] = entry["counts"]
    for edges, counts in by_edges.items():
        buckets = [sentences.bucket(low, high) for low, high in itertools.pairwise(edges)]
        numbers_of: list[list[Cell]] = [
            [bucket, *(Number(f"{number:,}") for number in numbers)]
            for bucket, *numbers in zip(buckets, *counts.values(), strict=True)
        ]
        title = f"{metric.name} of segments"
        if len(by_edges) > 1:
            title += f" of {joined([*counts])}"
        series = {
            system: charts.Series([100 * number / (sum(own) or 1) for number in own])
            for system, own in counts.items()
        }
        yield Figure(
            title,
            f"How many segments have a {metric.name} in each range.",
            [Table([title], ["score", *counts], numbers_of)],
            charts.curves(buckets, series, "% of segments", title=f"{metric.name} of a segment"),
        )
