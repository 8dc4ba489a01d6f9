"""The second section of the page: where do systems differ? Slices, languages, lengths."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.printable import value_text
from beam_bleu.pipeline.display.score_tables import slice_tables
from beam_bleu.pipeline.display.table import cell_texts
from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.report.entries import Item, is_significant, items_of, of_whole
from beam_bleu.pipeline.report.figures import Chart, Figure, Section, Table
from beam_bleu.pipeline.report.sentences import Measure
from beam_bleu.pipeline.report.standing import dot, numbers
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.score.uncertainty import FEWEST_UNITS

_MOST_DIFFERENCES = 100
"""A table of differences in slices has no more rows. scores.json has all of them."""

_DRAWN = 16
"""How many differences a chart has: significant ones, and then others; more losses than gains."""

_DRAWN_SLICES = 24

_FEW_ROWS = 12
"""A table that is no longer is open at first, if it stands beside a chart and has none itself."""

Part = Mapping[str, Any]
Compared = Sequence[tuple[str, Mapping[str, Any]]]
"""Comparisons of slices, with the names of the slices."""


def places(metrics: Sequence[tuple[Part, Measure]], result: Result) -> Section | None:
    """The scores of slices, and the differences in them; None if there are no slices."""
    figures = [figure for part, measure in metrics for figure in _of_metric(part, measure, result)]
    return Section("where", "Where?", figures) if figures else None


def _of_metric(part: Part, measure: Measure, result: Result) -> Iterator[Figure]:
    items = list(items_of(part["scores"]))
    of_items = {item.labels: list(_compared(item)) for item in items_of(_comparisons(part))}
    tables = slice_tables(result, result.metric(measure.metric), None)
    for item, shown in zip(items, tables, strict=True):
        columns = zip(shown.header, shown.columns, strict=True)
        texts = [[heading, *map(str.strip, cell_texts(column))] for heading, column in columns]
        rows = list(zip(*texts, strict=True))
        name = f"{measure.name} by {' and '.join(item.labels)}"
        compared = of_items.get(item.labels, [])
        measure = measure.of(score for _, entries in item.slices for score in entries.values())
        is_by_length = item.labels == (LENGTH,)
        is_open = not compared or (not is_by_length and len(rows) <= _FEW_ROWS)
        table = Table(name, rows, is_open=is_open)
        if is_by_length:
            yield _by_length(part, measure, item, name, table)
        elif compared:
            yield Figure(name, _lowest(part, measure, item), table)
        else:
            chart = _slices_of_systems(part, measure, item)
            yield Figure(name, _lowest(part, measure, item), table, chart)
        if compared:
            yield _differences(measure, item, compared)


def _comparisons(part: Part) -> list[Mapping[str, Any]]:
    return [entry for entry in part.get("comparisons", ()) if entry["slice"] is not None]


def _compared(item: Item) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for values, of_slice in item.slices:
        for comparison in of_slice.values():
            if comparison["difference"] is not None:
                yield _name(values), comparison


def _name(values: Sequence[str | None]) -> str:
    return ", ".join(map(value_text, values))


def _scores(item: Item, system: str) -> dict[str, Mapping[str, Any] | None]:
    """The scores of a system by the names of the slices; None for those that it lacks."""
    return {_name(values): of_slice.get(system) for values, of_slice in item.slices}


def _values(item: Item, system: str) -> dict[str, float | None]:
    return {
        name: None if score is None else score["score"]
        for name, score in _scores(item, system).items()
    }


def _systems(part: Part, measure: Measure) -> list[str]:
    """All systems, the best one first."""
    ranked = measure.best_first(of_whole(part) or part.get("macro_average", ()))
    in_slices = (score["system"] for score in part["scores"])
    return list(dict.fromkeys([*(score["system"] for score in ranked), *in_slices]))


def _lowest(part: Part, measure: Measure, item: Item) -> str:
    system = _systems(part, measure)[0]
    known = {name: score for name, score in _scores(item, system).items() if score is not None}
    # The best and the worst scores of all are often those of a few segments, by chance. But a large
    # slice without an interval, such as one in which nothing matches, is worth telling.
    sure = {name: score for name, score in known.items() if score["segments"] >= FEWEST_UNITS}
    told = sure if len(sure) > 1 else known
    values = {name: score["score"] for name, score in told.items()}
    return sentences.over(measure, " and ".join(item.labels), system, values)


def _by_length(part: Part, measure: Measure, item: Item, name: str, table: Table) -> Figure:
    """The curve of scores over the lengths of the references."""
    systems = _systems(part, measure)
    lines = {system: list(_values(item, system).values()) for system in systems}
    intervals = {
        system: [
            None if score is None else score.get("interval")
            for score in _scores(item, system).values()
        ]
        for system in systems
    }
    buckets = [_name(values) for values, _ in item.slices]
    chart = charts.curves(
        buckets, lines, measure.name, title="tokens of the references", intervals=intervals
    )
    return Figure(name, _lowest(part, measure, item), table, chart if len(buckets) > 1 else None)


def _slices_of_systems(part: Part, measure: Measure, item: Item) -> Chart | None:
    """The slices in which the best system scores worst, from the worst one."""
    system = _systems(part, measure)[0]
    known = [(name, score) for name, score in _scores(item, system).items() if score is not None]
    worst = sorted(known, key=lambda one: one[1]["score"], reverse=measure.lower_is_better)
    drawn = [charts.Dot(name, score["score"], score.get("interval")) for name, score in worst]
    if len(drawn) < 2:
        return None
    return charts.dots(drawn[:_DRAWN_SLICES], f"{measure.name} of {system}, the worst slices first")


def _differences(measure: Measure, item: Item, compared: Compared) -> Figure:
    """The differences in the slices of an item: first the worst losses that are significant."""

    def worst_first(entry: tuple[str, Mapping[str, Any]]) -> tuple[bool, float]:
        size = entry[1]["difference"]
        return not is_significant(entry[1]), -size if measure.lower_is_better else size

    measure = measure.of(entry for _, entry in compared)
    ranked = sorted(compared, key=worst_first)
    several = len({entry["system"] for _, entry in compared}) > 1
    baseline = compared[0][1]["baseline"]
    header = ["slice", "system", "segments", "difference", "95 % interval", "p", "p (Holm)"]
    rows = [
        [name, entry["system"], str(entry["segments"]), *numbers(measure, entry)]
        for name, entry in ranked[:_MOST_DIFFERENCES]
    ]
    note = "Significant differences come first, beginning with the worst loss."
    if len(rows) < len(ranked):
        note += f" These are {len(rows)} of {len(ranked)}; scores.json has all of them."
    title = f"{measure.name} by {' and '.join(item.labels)}: differences from {baseline}"
    table = Table(title, [header, *rows], texts=frozenset([1]), note=note)
    tested = [(name, entry) for name, entry in compared if entry["interval"] is not None]
    by_size = sorted(tested, key=lambda one: worst_first(one)[1])
    drawn = [
        dot(measure, f"{name}: {entry['system']}" if several else name, entry)
        for name, entry in _drawn(by_size)
    ]
    chart = (
        charts.dots(drawn, f"points of {measure.name} above {baseline}", from_zero=True)
        if drawn
        else None
    )
    if chart is not None and len(drawn) < len(tested):
        chart = dataclasses.replace(
            chart,
            note=f"The chart shows {len(drawn)} of {len(tested)}; "
            "significant ones are chosen first.",
        )
    return Figure(title, sentences.in_slices(measure, compared), table, chart)


def _drawn(by_size: Compared) -> Compared:
    """The differences that a chart has: the significant ones, and then the largest others."""
    real = [place for place, (_, entry) in enumerate(by_size) if is_significant(entry)]
    others = [place for place in range(len(by_size)) if place not in real]
    places = _ends(real, _DRAWN)
    places += _ends(others, _DRAWN - len(places))
    return [by_size[place] for place in sorted(places)]


def _ends(places: Sequence[int], most: int) -> list[int]:
    """The first and the last places, three of the first for each one of the last."""
    if len(places) <= most:
        return [*places]
    first = -(-most * 3 // 4)
    return [*places[:first], *places[len(places) - (most - first) :]]
