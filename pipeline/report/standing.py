"""The first section of the page: who is best, and is it real?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.score_tables import ranks_of
from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.report.entries import is_significant, of_whole
from beam_bleu.pipeline.report.figures import Figure, Section, Table
from beam_bleu.pipeline.report.sentences import Measure
from beam_bleu.transforms.known_metrics import presentation_of
from beam_bleu.transforms.score.shown_numbers import p_value, signed

_MOST_COMPARISONS = 200
"""More rows make the page large, and nobody reads them. scores.json has all of them."""

Part = Mapping[str, Any]


def standing(metrics: Sequence[tuple[Part, Measure]]) -> Section:
    """The scores and differences on the whole corpus.

    Args:
      metrics: what the result document says about each metric, and how to speak of it.
    """
    figures = [figure for part, measure in metrics for figure in _of_metric(part, measure)]
    has_intervals = any(score.get("interval") for part, _ in metrics for score in part["scores"])
    lead = sentences.UNCERTAINTY if has_intervals else ""
    return Section("best", "Who is best, and is it real?", figures, lead)


def _of_metric(part: Part, measure: Measure) -> Iterator[Figure]:
    compared = [entry for entry in part.get("comparisons", ()) if entry["slice"] is None]
    if whole := of_whole(part):
        yield _scores(part, measure.of(whole), whole, compared)
    if compared:
        yield _differences(measure.of(compared), compared)
    if averages := part.get("macro_average", ()):
        yield _averages(measure.of(averages), averages)
    if compared := part.get("macro_average_comparisons", ()):
        of_means = dataclasses.replace(measure, name=f"mean {measure.name}")
        yield _differences(of_means.of(compared), compared)


def _scores(
    part: Part,
    measure: Measure,
    whole: Sequence[Mapping[str, Any]],
    compared: Sequence[Mapping[str, Any]],
) -> Figure:
    ranked = measure.best_first(whole)
    clusters = part.get("clusters", ())
    rank = ranks_of(clusters)
    others = [
        presentation_of(part["metric"]).cells(score, presentation_of(part["metric"]).DECIMALS)
        for score in ranked
    ]
    names = list(dict.fromkeys(name for cells in others for name in cells))
    header = ["system", *(["rank"] if rank else []), measure.name, *names]
    rows = [
        [
            score["system"],
            *([rank.get(score["system"], "")] if rank else []),
            measure.estimate(score),
            *(cells.get(name, "") for name in names),
        ]
        for score, cells in zip(ranked, others, strict=True)
    ]
    best = [number for number, score in enumerate(ranked) if score["score"] == ranked[0]["score"]]
    note = (
        "Rank: each system is significantly better than every system of a later rank."
        if rank
        else ""
    )
    table = Table(
        f"{measure.name} of the whole corpus, the best system first",
        [header, *rows],
        best=frozenset(best if len(ranked) > 1 else ()),
        note=note,
        is_open=True,
    )
    drawn = [charts.Dot(score["system"], score["score"], score.get("interval")) for score in ranked]
    chart = charts.dots(drawn, _with_direction(measure)) if len(ranked) > 1 else None
    sentence = sentences.best(measure, whole, clusters, compared)
    return Figure(measure.name, sentence, table, chart)


def _averages(measure: Measure, averages: Sequence[Mapping[str, Any]]) -> Figure:
    """The macro averages over languages or tasks."""
    ranked = measure.best_first(averages)
    kind = "languages" if "languages" in ranked[0] else "tasks"
    rows = [
        [
            average["system"],
            "" if average["score"] is None else measure.estimate(average),
            str(average[kind]),
        ]
        for average in ranked
    ]
    name = f"mean {measure.name} of all {kind}"
    table = Table(
        f"{name}, the best system first",
        [["system", f"mean {measure.name}", kind], *rows],
        note=f"Each of the {kind} counts as much as any other. "
        f"A system that lacks one of them has no mean.",
        is_open=True,
    )
    drawn = [
        charts.Dot(average["system"], average["score"], average.get("interval"))
        for average in ranked
        if average["score"] is not None
    ]
    chart = charts.dots(drawn, _with_direction(measure)) if len(drawn) > 1 else None
    of_means = dataclasses.replace(measure, name=f"mean {measure.name}")
    return Figure(name, sentences.best(of_means, averages), table, chart)


def _differences(measure: Measure, compared: Sequence[Mapping[str, Any]]) -> Figure:
    """The differences from the first baseline, and a table of those from all baselines."""
    shown = compared[:_MOST_COMPARISONS]
    header = ["system", "compared with", "difference", "95 % interval", "p", "p (Holm)"]
    rows = [[entry["system"], entry["baseline"], *numbers(measure, entry)] for entry in shown]
    note = "p (Holm) is adjusted for the number of comparisons."
    if len(shown) < len(compared):
        note += (
            f" These are the first {len(shown)} of {len(compared)}; scores.json has all of them."
        )
    table = Table(
        f"Differences in {measure.name}: system minus the one it is compared with",
        [header, *rows],
        texts=frozenset([1]),
        note=note,
    )
    baseline = compared[0]["baseline"]
    of_baseline = [entry for entry in compared if entry["baseline"] == baseline]
    ranked = sorted(
        of_baseline, key=lambda entry: entry["difference"], reverse=not measure.lower_is_better
    )
    drawn = [dot(measure, entry["system"], entry) for entry in ranked]
    return Figure(
        f"{measure.name}: differences from {baseline}",
        sentences.differences(measure, of_baseline),
        table,
        charts.dots(drawn, f"points of {measure.name} above {baseline}", from_zero=True),
    )


def numbers(measure: Measure, comparison: Mapping[str, Any]) -> list[str]:
    """The cells of a comparison: the difference, its interval, and the p-values."""
    interval = comparison["interval"]
    return [
        signed(comparison["difference"], measure.decimals),
        "" if interval is None else " to ".join(signed(end, measure.decimals) for end in interval),
        p_value(comparison["p_value"]),
        p_value(comparison["p_value_holm"]),
    ]


def dot(measure: Measure, label: str, comparison: Mapping[str, Any]) -> charts.Dot:
    """A difference in a chart: a gain, a loss, or not significant."""
    meaning = "chance"
    if is_significant(comparison):
        meaning = "gain" if measure.is_better(comparison["difference"]) else "loss"
    return charts.Dot(label, comparison["difference"], comparison["interval"], meaning)


def _with_direction(measure: Measure) -> str:
    return f"{measure.name} (lower is better)" if measure.lower_is_better else measure.name
