"""The third section of the page: why? The parts of the scores, and the scores of segments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.report.entries import of_whole
from beam_bleu.pipeline.report.figures import Figure, Section, Table
from beam_bleu.pipeline.report.sentences import Measure
from beam_bleu.transforms.known_metrics import presentation_of
from beam_bleu.transforms.score.shown_numbers import rounded

Part = Mapping[str, Any]


def reasons(metrics: Sequence[tuple[Part, Measure]]) -> Section | None:
    """What the scores are made of; None if the result does not say it."""
    figures = [figure for part, measure in metrics for figure in _of_metric(part, measure)]
    return Section("why", "Why?", figures) if figures else None


def _of_metric(part: Part, measure: Measure) -> Iterator[Figure]:
    parts = {
        score["system"]: presentation_of(part["metric"]).parts(score)
        for score in measure.best_first(of_whole(part))
    }
    if any(parts.values()):
        yield _parts(measure, parts)
    if distributions := part.get("distributions", ()):
        order = list(parts)
        ranked = sorted(
            distributions,
            key=lambda entry: order.index(entry["system"]) if entry["system"] in order else 0,
        )
        yield from _distributions(measure, ranked)


def _parts(measure: Measure, parts: Mapping[str, Mapping[str, float]]) -> Figure:
    """The parts of the scores of the whole corpus, for each system."""
    names = list(dict.fromkeys(name for of_system in parts.values() for name in of_system))
    rows = [
        [system, *(rounded(of_system[name], 1) if name in of_system else "" for name in names)]
        for system, of_system in parts.items()
    ]
    title = f"The parts of {measure.name}"
    table = Table(title, [["system", *names], *rows])
    best, *others = parts
    text = (
        sentences.parts(others[-1], best, parts[others[-1]], parts[best])
        if others
        else f"The {measure.name} of {best} is made of these parts."
    )
    lines = {system: [of_system.get(name) for name in names] for system, of_system in parts.items()}
    chart = charts.curves([_abbreviated(name) for name in names], lines, "%", connected=False)
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
        rows = [
            [bucket, *(f"{number:,}" for number in of_bucket)]
            for bucket, of_bucket in zip(buckets, counts, strict=True)
        ]
        title = f"{measure.name} of segments"
        if len(by_edges) > 1:
            title += f" of {sentences.listed([*shares])}"
        table = Table(f"{title}: how many have a score in each range", [["score", *shares], *rows])
        first = entries[0]
        text = sentences.half_of_segments(first["system"], edges, first["counts"])
        chart = charts.curves(
            buckets, shares, "% of segments", title=f"{measure.name} of a segment"
        )
        yield Figure(title, text, table, chart)
