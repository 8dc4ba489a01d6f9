"""The figures of a result: who is best and is it real, where systems differ, and why."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from beam_bleu.pipeline.display.comparison_tables import differences_in_slices, differences_table
from beam_bleu.pipeline.display.row_order import (
    View,
    by_difference,
    decimals_of,
    gain,
    is_significant,
    verdict,
)
from beam_bleu.pipeline.display.score_tables import (
    Slice,
    score_number,
    slice_tables,
    slices_of,
    systems_table,
)
from beam_bleu.pipeline.display.table import Cell, Table
from beam_bleu.pipeline.report.charts import Chart, Curves, Dot, Dots, Series
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
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import HALF_INTERVAL, Number, estimates

UNCERTAINTY = (
    f"{HALF_INTERVAL}: another test set of the same kind would usually give a score within it. "
    f"A difference is significant if p < {SIGNIFICANCE_LEVEL}, adjusted for the number of "
    "comparisons (Holm)."
)
"""What a reader must know about all intervals and p-values."""

_NAMED = 8
"""A sentence names no more systems."""


@dataclasses.dataclass(frozen=True)
class Figure:
    """A fact: a chart that shows it, tables with its numbers, and perhaps a sentence.

    Attributes:
      title: its heading.
      tables: its numbers. The first sentence of a caption is the name of the table.
      chart: the chart; None if there is too little to draw.
      sentence: what a reader must not overlook; or "".
    """

    title: str
    tables: Sequence[Table] = ()
    chart: Chart | None = None
    sentence: str = ""


def standing(result: Result) -> Iterator[Figure]:
    """The scores and differences on the whole corpus, and those of means."""
    view = View(result)
    if table := systems_table(view, for_paper=True):
        yield Figure("Scores", [table])
    for metric in result.metrics:
        word = metric.metric
        for name, rows, group in (
            (metric.name, result.whole(word), None),
            (f"mean {metric.name}", result.averages(word), MACRO_AVERAGE),
        ):
            compared = [row for row in result.compared(word) if row.group == group]
            if rows:
                dots = [
                    Dot(row.system, row.score, row.interval)
                    for row in _best_first(rows)
                    if row.score is not None
                ]
                unit = f"{name} (lower is better)" if row_of(word).lower_is_better else name
                chart = Dots(dots, unit) if len(dots) > 1 else None
                yield Figure(name, chart=chart, sentence=best(name, rows, compared))
            if table := differences_table(view, compared):
                # Of all pairs, the chart has those with the first baseline.
                from_first = [row for row in compared if row.baseline == compared[0].baseline]
                named = [("", row) for row in _best_first(from_first)]
                yield _differences(name, name, named, table)


def best(name: str, scores: Sequence[ScoreRow], comparisons: Sequence[ComparisonRow] = ()) -> str:
    """Who has the best score, and who cannot be told apart from it.

    Args:
      name: the metric for readers.
      scores: one for each system, in any order.
      comparisons: the differences between two systems that are known.
    """
    ranked = [row for row in _best_first(scores) if row.score is not None]
    if not ranked:
        return f"No system has a score of the whole corpus by {name}."
    first = ranked[0]
    (number,) = estimates([score_number(first, decimals_of(first.metric, scores))])
    if len(scores) == 1:
        return f"{first.system} has {number} {name}."
    leaders = [row.system for row in ranked if row.score == first.score]
    kind = "lowest, and so the best," if row_of(first.metric).lower_is_better else "best"
    verb = "has" if len(leaders) == 1 else "have"
    text = f"{joined(leaders, _NAMED)} {verb} the {kind} {name}: {number}."
    tested = [
        (row, row.baseline if row.system == first.system else row.system)
        for row in comparisons
        if first.system in (row.system, row.baseline) and row.p_value_holm is not None
    ]
    if unsure := [system for row, system in tested if not is_significant(row)]:
        return (
            f"{text} This test set does not separate {first.system} from {joined(unsure, _NAMED)}."
        )
    if len(tested) == len(scores) - 1:
        text += " It is significantly better than each of the others."
    return text


Row = TypeVar("Row", ScoreRow, ComparisonRow)


def _best_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=gain, reverse=True)


def _differences(
    name: str, title: str, compared: Sequence[tuple[str, ComparisonRow]], table: Table
) -> Figure:
    """The differences from a baseline, on the whole corpus or in slices, in the chart's order."""
    baseline = compared[0][1].baseline
    dots = [
        Dot(
            f"{where}: {row.system}" if where else row.system,
            row.difference,
            row.interval,
            verdict(row) or "chance",
        )
        for where, row in compared
    ]
    chart = Dots(dots, f"points of {name} above {baseline}", from_zero=True)
    return Figure(f"{title}: differences from {baseline}", [table], chart)


def places(result: Result) -> Iterator[Figure]:
    """The scores of slices, and the differences in them."""
    view = View(result)
    for metric in result.metrics:
        items = slices_of(result, metric.metric).items()
        tables = slice_tables(view, metric, for_paper=True)
        for (item, slices), table in zip(items, tables, strict=True):
            title = f"{metric.name} by {item}"
            yield Figure(title, [table], _chart_of_slices(result, metric, item, slices))
            if differences := differences_in_slices(view, item, slices):
                compared = [(own.name, row) for own in slices for row in own.differences]
                compared.sort(key=lambda named: by_difference(named[1]))
                yield _differences(metric.name, title, compared, differences)


def _chart_of_slices(
    result: Result, metric: MetricNames, item: str, slices: Sequence[Slice]
) -> Chart | None:
    """The curves of all systems by length; otherwise the dots of the best system."""
    whole = result.whole(metric.metric) or result.averages(metric.metric)
    rows = [row for own in slices for row in own.scores.values()]
    systems = list(dict.fromkeys(row.system for row in (*_best_first(whole), *rows)))
    if item == LENGTH and len(slices) > 1:
        series = {
            system: series_of([own.scores.get(system) for own in slices]) for system in systems
        }
        names = [own.name for own in slices]
        return Curves(names, series, metric.name, "tokens of the references")
    own_scores = {own.name: own.scores[systems[0]] for own in slices if systems[0] in own.scores}
    dots = [
        Dot(name, row.score or 0.0, row.interval)
        for name, row in sorted(own_scores.items(), key=lambda named: gain(named[1]))
    ]
    unit = f"{metric.name} of {systems[0]}, the worst slices first"
    return Dots(dots, unit) if len(dots) > 1 else None


def series_of(rows: Sequence[ScoreRow | None], breaks: Collection[int] = ()) -> Series:
    """The scores of a system in a chart, in some of whose categories it has none."""
    scores = [row.score if row else None for row in rows]
    return Series(scores, [row.interval if row else None for row in rows], breaks)


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
                system: Series([own.get(name) for name in names]) for system, own in parts.items()
            }
            # The last word of a name tells it from the others.
            labels = [name.rpartition(" ")[2] for name in names]
            chart = Curves(labels, series, "%", connected=False) if names else None
            yield Figure(title, [Table([title], ["system", *cells[0]], rows)], chart)
        yield from _distributions(result, metric)


def _distributions(result: Result, metric: MetricNames) -> Iterator[Figure]:
    """How many segments have which score. Systems can have buckets of their own."""
    by_edges: dict[tuple[float | None, ...], dict[str, Sequence[int]]] = {}
    for entry in result.distributions or ():
        if entry["metric"] == metric.metric:
            by_edges.setdefault(tuple(entry["edges"]), {})[entry["system"]] = entry["counts"]
    for edges, counts in by_edges.items():
        buckets = [_bucket(low, high) for low, high in itertools.pairwise(edges)]
        rows: list[list[Cell]] = [
            [bucket, *(Number(f"{number:,}") for number in numbers)]
            for bucket, *numbers in zip(buckets, *counts.values(), strict=True)
        ]
        title = f"{metric.name} of segments"
        if len(by_edges) > 1:
            title += f" of {joined([*counts])}"
        series = {
            system: Series([100 * number / (sum(own) or 1) for number in own])
            for system, own in counts.items()
        }
        chart = Curves(buckets, series, "% of segments", f"{metric.name} of a segment")
        yield Figure(title, [Table([title], ["score", *counts], rows)], chart)


def _bucket(low: float | None, high: float | None) -> str:
    """A range of scores in words; an end that is None is open."""
    if low is None:
        return "anything" if high is None else f"below {high:g}"
    return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"
