"""The first section of the page: who is best, and is it real?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.display.row_order import verdict
from beam_bleu.pipeline.display.score_tables import ranks_of, score_number
from beam_bleu.pipeline.display.table import Cell, Number, Table
from beam_bleu.pipeline.report import charts, sentences
from beam_bleu.pipeline.report.charts import Chart
from beam_bleu.pipeline.report.figures import Figure, Section
from beam_bleu.pipeline.report.sentences import Measure
from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, ComparisonRow, Result, ScoreRow
from beam_bleu.transforms.known_metrics import metric_type
from beam_bleu.transforms.score.shown_numbers import p_value, signed

_MOST_COMPARISONS = 200
"""More rows make the page large, and nobody reads them. scores.json has all of them."""

_MEANINGS = {"worse": "loss", "better": "gain", "": "chance"}


def standing(result: Result) -> Section:
    """The scores and differences on the whole corpus."""
    figures = [
        figure
        for metric in result.metrics
        for figure in _figures(result, sentences.measure_of(metric))
    ]
    has_intervals = any(row.interval for row in result.scores)
    lead = sentences.UNCERTAINTY if has_intervals else ""
    return Section("best", "Who is best, and is it real?", figures, lead)


def _figures(result: Result, measure: Measure) -> Iterator[Figure]:
    rows = result.compared(measure.metric)
    compared = [row for row in rows if row.group is None and row.difference is not None]
    if whole := result.whole(measure.metric):
        yield _scores(result, measure.of(whole), whole, compared)
    if compared:
        yield _differences(measure, compared)
    means = dataclasses.replace(measure, name=f"mean {measure.name}")
    if averages := result.averages(measure.metric):
        kind = "languages" if result.languages_of(measure.metric) else "tasks"
        yield _averages(means.of(averages), averages, kind)
    compared = [row for row in rows if row.group == MACRO_AVERAGE and row.difference is not None]
    if compared:
        yield _differences(means, compared)


def _scores(
    result: Result,
    measure: Measure,
    whole: Sequence[ScoreRow],
    compared: Sequence[ComparisonRow],
) -> Figure:
    ranked = measure.best_first(whole)
    clusters = [own for own in result.clusters or () if own["metric"] == measure.metric]
    ranks = ranks_of(clusters)
    score_type = metric_type(measure.metric).score_type
    parts = [score_type.cells(row.parts, score_type.DECIMALS) for row in ranked]
    names = list(dict.fromkeys(name for cells in parts for name in cells))
    rows: list[list[Cell]] = [
        [
            row.system,
            *([Number(ranks.get(row.system, ""))] if ranks else []),
            dataclasses.replace(
                score_number(row, measure.decimals),
                is_best=len(ranked) > 1 and row.score == ranked[0].score,
            ),
            *(Number(cells.get(name, "")) for name in names),
        ]
        for row, cells in zip(ranked, parts, strict=True)
    ]
    table = Table(
        [f"{measure.name} of the whole corpus, the best system first"],
        ["system", *(["rank"] if ranks else []), measure.name, *names],
        rows,
        ["Rank: each system is significantly better than every system of a later rank."]
        if ranks
        else [],
    )
    sentence = sentences.best(measure, whole, clusters, compared)
    return Figure(measure.name, sentence, table, _dots(measure, ranked), is_open=True)


def _averages(measure: Measure, averages: Sequence[ScoreRow], kind: str) -> Figure:
    """The macro averages over languages or tasks."""
    ranked = measure.best_first(averages)
    name = f"{measure.name} of all {kind}"
    table = Table(
        [f"{name}, the best system first"],
        ["system", measure.name, kind],
        [
            [row.system, score_number(row, measure.decimals), Number(str(row.segments))]
            for row in ranked
        ],
        [
            f"Each of the {kind} counts as much as any other. "
            "A system that lacks one of them has no mean."
        ],
    )
    known = [row for row in ranked if row.score is not None]
    sentence = sentences.best(measure, averages)
    return Figure(name, sentence, table, _dots(measure, known), is_open=True)


def _dots(measure: Measure, ranked: Sequence[ScoreRow]) -> Chart | None:
    drawn = [charts.Dot(row.system, row.score or 0.0, row.interval) for row in ranked]
    unit = f"{measure.name} (lower is better)" if measure.lower_is_better else measure.name
    return charts.dots(drawn, unit) if len(drawn) > 1 else None


def _differences(measure: Measure, compared: Sequence[ComparisonRow]) -> Figure:
    """The differences from the first baseline, and a table of those from all baselines."""
    measure = measure.of(compared)
    shown = compared[:_MOST_COMPARISONS]
    note = "p (Holm) is adjusted for the number of comparisons."
    if len(shown) < len(compared):
        note += (
            f" These are the first {len(shown)} of {len(compared)}; scores.json has all of them."
        )
    table = Table(
        [f"Differences in {measure.name}: system minus the one it is compared with"],
        ["system", "compared with", *DIFFERENCE],
        [[row.system, row.baseline, *numbers(measure, row)] for row in shown],
        [note],
    )
    baseline = compared[0].baseline
    compared = [row for row in compared if row.baseline == baseline]
    drawn = [dot(row.system, row) for row in measure.best_first(compared)]
    return Figure(
        f"{measure.name}: differences from {baseline}",
        sentences.differences(measure, compared),
        table,
        charts.dots(drawn, f"points of {measure.name} above {baseline}", from_zero=True),
    )


DIFFERENCE = ["difference", "95 % interval", "p", "p (Holm)"]
"""The names of the columns of `numbers`."""


def numbers(measure: Measure, row: ComparisonRow) -> list[Number]:
    """The cells of a comparison: the difference, its interval, and the p-values."""
    ends = [signed(end, measure.decimals) for end in row.interval or ()]
    return [
        Number("" if row.difference is None else signed(row.difference, measure.decimals)),
        Number(" to ".join(ends)),
        Number(p_value(row.p_value)),
        Number(p_value(row.p_value_holm)),
    ]


def dot(label: str, row: ComparisonRow) -> charts.Dot:
    """A difference in a chart: a gain, a loss, or not significant."""
    return charts.Dot(label, row.difference or 0.0, row.interval, _MEANINGS[verdict(row)])
