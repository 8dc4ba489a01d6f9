"""The third section of the page: why? The parts of the scores, and the scores of segments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.table import Cell, Number, Table
from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.report.figures import Figure, Section
from beam_bleu.pipeline.report.sentences import Measure, measure_of
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.known_metrics import metric_type
from beam_bleu.transforms.score.shown_numbers import rounded


def reasons(result: Result) -> Section | None:
    """What the scores are made of; None if the result does not say it."""
    measures = map(measure_of, result.metrics)
    figures = [figure for measure in measures for figure in _figures(result, measure)]
    return Section("why", "Why?", figures) if figures else None


def _figures(result: Result, measure: Measure) -> Iterator[Figure]:
    score_type = metric_type(measure.metric).score_type
    parts = {
        row.system: score_type.chart_parts(row.parts)
        for row in measure.best_first(result.whole(measure.metric))
    }
    if any(parts.values()):
        yield _parts(measure, parts)
    distributions = [own for own in result.distributions or () if own["metric"] == measure.metric]
    order = list(parts)
    ranked = sorted(
        distributions, key=lambda own: order.index(own["system"]) if own["system"] in order else 0
    )
    yield from _distributions(measure, ranked)


def _parts(measure: Measure, parts: Mapping[str, Mapping[str, float]]) -> Figure:
    """The parts of the scores of the whole corpus, for each system."""
    names = list(dict.fromkeys(name for own in parts.values() for name in own))
    rows: list[list[Cell]] = [
        [system, *(Number(rounded(own[name], 1) if name in own else "") for name in names)]
        for system, own in parts.items()
    ]
    title = f"The parts of {measure.name}"
    table = Table([title], ["system", *names], rows)
    best, *others = parts
    text = (
        sentences.parts(others[-1], best, parts[others[-1]], parts[best])
        if others
        else f"The {measure.name} of {best} is made of these parts."
    )
    series = {
        system: charts.Series([own.get(name) for name in names]) for system, own in parts.items()
    }
    chart = charts.curves([_abbreviated(name) for name in names], series, "%", connected=False)
    return Figure(title, text, table, chart)


def _abbreviated(name: str) -> str:
    """The last word of a name, which tells it from the others."""
    return name.rpartition(" ")[2]


def _distributions(
    measure: Measure, distributions: Sequence[Mapping[str, Any]]
) -> Iterator[Figure]:
    """How many segments have which score. Systems can have buckets of their own."""
    by_edges: dict[tuple[float | None, ...], list[Mapping[str, Any]]] = {}
    for entry in distributions:
        by_edges.setdefault(tuple(entry["edges"]), []).append(entry)
    for edges, entries in by_edges.items():
        buckets = [sentences.bucket(low, high) for low, high in itertools.pairwise(edges)]
        shares = {
            entry["system"]: [100 * n / (sum(entry["counts"]) or 1) for n in entry["counts"]]
            for entry in entries
        }
        counts = zip(*(entry["counts"] for entry in entries), strict=True)
        rows: list[list[Cell]] = [
            [bucket, *(Number(f"{number:,}") for number in numbers)]
            for bucket, numbers in zip(buckets, counts, strict=True)
        ]
        title = f"{measure.name} of segments"
        if len(by_edges) > 1:
            title += f" of {sentences.listed([*shares])}"
        caption = f"{title}: how many have a score in each range"
        table = Table([caption], ["score", *shares], rows)
        first = entries[0]
        text = sentences.half_of_segments(first["system"], edges, first["counts"])
        series = {system: charts.Series(values) for system, values in shares.items()}
        chart = charts.curves(
            buckets, series, "% of segments", title=f"{measure.name} of a segment"
        )
        yield Figure(title, text, table, chart)
