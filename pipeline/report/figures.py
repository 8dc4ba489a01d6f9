"""The figures of a result: who is best and is it real, where systems differ, and why."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Sequence

from beam_bleu.pipeline.display.printable import value_text
from beam_bleu.pipeline.display.row_order import View, is_significant, verdict
from beam_bleu.pipeline.display.score_tables import (
    Slice,
    ranks_of,
    score_numbers,
    slice_tables,
    slices_of,
)
from beam_bleu.pipeline.display.table import Cell, Table
from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.report.sentences import Measure, measure_of
from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, ComparisonRow, Result, ScoreRow
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.known_metrics import metric_type
from beam_bleu.transforms.score.shown_numbers import Number, p_value, rounded, signed

_MOST_ROWS = 200
"""A table of differences has no more rows. scores.json has all of them."""

_DRAWN = 24
"""A chart of slices has no more rows."""

_DIFFERENCE = ("difference", "95 % interval", "p", "p (Holm)")

_MEANINGS = {"worse": "loss", "better": "gain", "": "chance"}


@dataclasses.dataclass(frozen=True)
class Figure:
    """A fact: a sentence that says it, a chart that shows it, and a table with its numbers.

    Attributes:
      title: its heading.
      sentence: what a reader should see in the chart.
      table: its numbers, with one sentence as its caption.
      chart: the chart; None if there is too little to draw.
    """

    title: str
    sentence: str
    table: Table
    chart: charts.Chart | None = None


def standing(result: Result) -> Iterator[Figure]:
    """The scores and differences on the whole corpus, and those of means."""
    for measure in map(measure_of, result.metrics):
        means = dataclasses.replace(measure, name=f"mean {measure.name}")
        compared = result.compared(measure.metric)
        for shown, rows, group in (
            (measure, result.whole(measure.metric), None),
            (means, result.averages(measure.metric), MACRO_AVERAGE),
        ):
            differences = [row for row in compared if row.group == group]
            if rows:
                yield _scores(result, shown.of(rows), rows, differences)
            if differences:
                yield _differences(shown.of(differences), differences)


def _scores(
    result: Result,
    measure: Measure,
    rows: Sequence[ScoreRow],
    differences: Sequence[ComparisonRow],
) -> Figure:
    ranked = measure.best_first(rows)
    numbers: list[list[Cell]] = [[*score_numbers(ranked, measure.decimals)]]
    header, hidden = ["system", measure.name], []
    clusters = []
    if rows[0].group is None:
        score_type = metric_type(measure.metric).score_type
        cells = [score_type.cells(row.parts, score_type.DECIMALS) for row in ranked]
        header += cells[0]
        numbers += [[Number(own[name]) for own in cells] for name in cells[0]]
        clusters = [own for own in result.clusters or () if own["metric"] == measure.metric]
    else:
        header.append("languages" if result.languages_of(measure.metric) else "tasks")
        numbers.append([Number(str(row.segments)) for row in ranked])
        hidden.append("Each of them counts as much as any other.")
    if ranks := ranks_of(clusters):
        header.append("rank")
        numbers.append([Number(ranks.get(row.system, "")) for row in ranked])
        hidden.append("Rank: each system is significantly better than every one of a later rank.")
    caption = [f"{measure.name}, the best system first"]
    systems = [row.system for row in ranked]
    table = Table(caption, header, list(zip(systems, *numbers, strict=True)), hidden)
    known = [row for row in ranked if row.score is not None]
    dots = [charts.Dot(row.system, row.score or 0.0, row.interval) for row in known]
    unit = f"{measure.name} (lower is better)" if measure.lower_is_better else measure.name
    sentence = sentences.best(measure, rows, differences)
    return Figure(measure.name, sentence, table, charts.dots(dots, unit) if len(dots) > 1 else None)


def _differences(measure: Measure, rows: Sequence[ComparisonRow]) -> Figure:
    """The differences from the first baseline, and a table of those from all baselines."""
    table = Table(
        [f"Differences in {measure.name}: system minus the one it is compared with"],
        ["system", "compared with", *_DIFFERENCE],
        [[row.system, row.baseline, *_numbers(measure, row)] for row in rows[:_MOST_ROWS]],
        _left_out(rows, "p (Holm) is adjusted for the number of comparisons."),
    )
    baseline = rows[0].baseline
    shown = [row for row in rows if row.baseline == baseline]
    dots = [_dot(row.system, row) for row in measure.best_first(shown)]
    return Figure(
        f"{measure.name}: differences from {baseline}",
        sentences.differences(measure, shown),
        table,
        charts.dots(dots, f"points of {measure.name} above {baseline}", from_zero=True),
    )


def _numbers(measure: Measure, row: ComparisonRow) -> list[Number]:
    ends = [signed(end, measure.decimals) for end in row.interval or ()]
    return [
        Number(signed(row.difference, measure.decimals)),
        Number(" to ".join(ends)),
        Number(p_value(row.p_value)),
        Number(p_value(row.p_value_holm)),
    ]


def _dot(label: str, row: ComparisonRow) -> charts.Dot:
    """A difference in a chart: a gain, a loss, or not significant."""
    return charts.Dot(label, row.difference, row.interval, _MEANINGS[verdict(row)])


def _left_out(rows: Sequence[object], note: str) -> list[str]:
    """What stands below a table of differences."""
    if len(rows) <= _MOST_ROWS:
        return [note]
    return [f"{note} These are {_MOST_ROWS} of {len(rows)}; scores.json has all of them."]


def places(result: Result) -> Iterator[Figure]:
    """The scores of slices, and the differences in them."""
    for metric in result.metrics:
        items = slices_of(result, metric.metric).values()
        tables = slice_tables(View(result), metric)
        for slices, table in zip(items, tables, strict=True):
            yield from _of_item(result, measure_of(metric), slices, table)


def _of_item(
    result: Result, measure: Measure, slices: Sequence[Slice], table: Table
) -> Iterator[Figure]:
    """The figures of an item of --slice_by."""
    labels = list(slices[0].group)
    scores = {_name(own): own.scores for own in slices}
    rows = [row for own in scores.values() for row in own.values()]
    measure = measure.of(rows)
    whole = result.whole(measure.metric) or result.averages(measure.metric)
    systems = list(dict.fromkeys(row.system for row in (*measure.best_first(whole), *rows)))
    best = {name: own[systems[0]] for name, own in scores.items() if systems[0] in own}
    found = [(_name(own), row) for own in slices for row in own.differences]
    differences = [(name, row) for name, row in found if row.baseline == found[0][1].baseline]
    title = f"{measure.name} by {' and '.join(labels)}"
    chart = None
    if labels == [LENGTH] and len(scores) > 1:
        series = {
            system: series_of([own.get(system) for own in scores.values()]) for system in systems
        }
        below = "tokens of the references"
        chart = charts.curves([*scores], series, measure.name, title=below)
    elif not differences and len(best) > 1:
        dots = [
            charts.Dot(name, best[name].score or 0.0, best[name].interval)
            for name in sorted(best, key=lambda name: measure.gain(best[name]))
        ]
        unit = f"{measure.name} of {systems[0]}, the worst slices first"
        chart = charts.dots(dots[:_DRAWN], unit)
    sentence = sentences.over(measure, " and ".join(labels), systems[0], best)
    yield Figure(title, sentence, dataclasses.replace(table, caption=[title]), chart)
    if differences:
        measure = measure.of(row for _, row in differences)
        yield _differences_in_slices(measure, title, differences)


def series_of(rows: Sequence[ScoreRow | None], breaks: Collection[int] = ()) -> charts.Series:
    """The scores of a system in a chart, in some of whose categories it has none."""
    scores = [row.score if row else None for row in rows]
    return charts.Series(scores, [row.interval if row else None for row in rows], breaks)


def _differences_in_slices(
    measure: Measure, title: str, differences: Sequence[tuple[str, ComparisonRow]]
) -> Figure:
    """The differences in the slices of an item: the significant ones first, from the worst loss."""
    ranked = sorted(differences, key=lambda own: (not is_significant(own[1]), measure.gain(own[1])))
    baseline = differences[0][1].baseline
    title = f"{title}: differences from {baseline}"
    table = Table(
        [title],
        ["slice", "system", "segments", *_DIFFERENCE],
        [
            [name, row.system, Number(str(row.segments)), *_numbers(measure, row)]
            for name, row in ranked[:_MOST_ROWS]
        ],
        _left_out(ranked, "Significant differences come first, beginning with the worst loss."),
    )
    dots = [_dot(f"{name}: {row.system}", row) for name, row in ranked if row.interval]
    chart = None
    if dots:
        unit = f"points of {measure.name} above {baseline}"
        chart = charts.dots(dots, unit, from_zero=True)
    return Figure(title, sentences.in_slices(measure, differences), table, chart)


def _name(own: Slice) -> str:
    return ", ".join(map(value_text, own.group.values()))


def reasons(result: Result) -> Iterator[Figure]:
    """What the scores are made of: their parts, and the scores of segments."""
    for measure in map(measure_of, result.metrics):
        score_type = metric_type(measure.metric).score_type
        ranked = measure.best_first(result.whole(measure.metric))
        parts = {row.system: score_type.chart_parts(row.parts) for row in ranked}
        names = list(dict.fromkeys(name for own in parts.values() for name in own))
        if names:
            rows: list[list[Cell]] = [
                [system, *(Number(rounded(own[name], 1) if name in own else "") for name in names)]
                for system, own in parts.items()
            ]
            title = f"The parts of {measure.name}"
            series = {
                system: charts.Series([own.get(name) for name in names])
                for system, own in parts.items()
            }
            # The last word of a name tells it from the others.
            labels = [name.rpartition(" ")[2] for name in names]
            yield Figure(
                title,
                f"What the {measure.name} of each system is made of.",
                Table([title], ["system", *names], rows),
                charts.curves(labels, series, "%", connected=False),
            )
        yield from _distributions(result, measure)


def _distributions(result: Result, measure: Measure) -> Iterator[Figure]:
    """How many segments have which score. Systems can have buckets of their own."""
    by_edges: dict[tuple[float | None, ...], dict[str, Sequence[int]]] = {}
    for entry in result.distributions or ():
        if entry["metric"] == measure.metric:
            by_edges.setdefault(tuple(entry["edges"]), {})[entry["system"]] = entry["counts"]
    for edges, counts in by_edges.items():
        buckets = [sentences.bucket(low, high) for low, high in itertools.pairwise(edges)]
        rows: list[list[Cell]] = [
            [bucket, *(Number(f"{number:,}") for number in numbers)]
            for bucket, *numbers in zip(buckets, *counts.values(), strict=True)
        ]
        title = f"{measure.name} of segments"
        if len(by_edges) > 1:
            title += f" of {joined([*counts])}"
        sentence = f"How many segments have a {measure.name} in each range."
        series = {
            system: charts.Series([100 * number / (sum(own) or 1) for number in own])
            for system, own in counts.items()
        }
        below = f"{measure.name} of a segment"
        chart = charts.curves(buckets, series, "% of segments", title=below)
        yield Figure(title, sentence, Table([title], ["score", *counts], rows), chart)
