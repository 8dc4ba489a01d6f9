"""The tables of comparisons: is the difference between two systems real?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.row_order import Part, View, chosen_rows, verdict
from beam_bleu.pipeline.display.score_tables import (
    Slice,
    ranks_of,
    score_number,
    segments_of,
    slices_of,
)
from beam_bleu.pipeline.display.table import Cell, Table, table_of
from beam_bleu.pipeline.result.rows import FAMILIES, ComparisonRow, DifferenceRow, MetricNames
from beam_bleu.transforms.known_metrics import metric_type
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL, TWO_SIDED_95
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    Number,
    counted,
    decimals_for,
    estimate,
    p_value,
    rounded,
    signed,
)


def comparison_tables(view: View, metric: MetricNames) -> Iterator[Table]:
    """The tables of comparisons by a metric, in the order in which they are shown."""
    result = view.result
    clusters = [own for own in result.clusters or () if own["metric"] == metric.metric]
    if sum(len(cluster["systems"]) for cluster in clusters) > 1:
        yield _clusters(view, metric, clusters)
    for rows in (
        [row for row in result.compared(metric.metric) if row.family == family]
        for family in ("corpus", "macro_average")
    ):
        if table := differences_table(view, rows):
            yield table
    for item, slices in slices_of(result, metric.metric).items():
        if table := differences_in_slices(view, item, slices):
            yield table
    yield from resampled_tables(view, metric)


def differences_table(view: View, compared: Sequence[ComparisonRow]) -> Table | None:
    """The differences on the whole corpus, or of macro averages: a row for each one.

    None without a p-value: then a difference says no more than the two scores.
    """
    adjusted = _adjusted(view, compared)
    if not adjusted:
        return None
    metric, segments = compared[0].metric, compared[0].segments
    scores = {score.system: score for score in view.result.whole(metric)}

    def parts(row: ComparisonRow) -> list[Part]:
        return [row, scores[row.system]] if row.system in scores else [row]

    shown, hidden = chosen_rows(compared, parts, view.choice, "comparison")
    decimals = view.decimals_of(metric, shown)
    baselines = list(dict.fromkeys(row.baseline for row in compared))
    subject, heading, names = _named([(row.system, row.baseline) for row in shown], baselines)
    on = FAMILIES[compared[0].family]
    if compared[0].family == "corpus" and segments != view.result.segments:
        on += f", over the {segments} segments that all systems have"
    columns: dict[str, list[Cell]] = {
        heading: [*names],
        "difference": [difference_number(row, decimals) for row in shown],
        "p": [Number(p_value(row.p_value)) for row in shown],
    }
    caption = f"{subject}, {on}; {HALF_INTERVAL}"
    if adjusted > 1:  # the only p-value of a family stays as it is
        caption += f"; Holm p: p adjusted for {adjusted} comparisons"
        columns["Holm p"] = [Number(p_value(row.p_value_holm)) for row in shown]
    meaning = []
    if any(row.detectable is not None for row in shown):
        meaning.append(
            "detectable: the smallest true difference that such a test set would usually find "
            f"(p < {SIGNIFICANCE_LEVEL} in 80 % of cases)"
        )
        columns["detectable"] = [estimate(row.detectable, None, decimals) for row in shown]
    return table_of(columns.items(), [caption, *meaning], hidden)


def differences_in_slices(view: View, item: str, slices: Sequence[Slice]) -> Table | None:
    """The differences from the baseline in the slices of an item: a column for each system.

    None without a p-value.
    """
    compared = [row for own in slices for row in own.differences]
    adjusted = _adjusted(view, compared)
    if all(row.p_value is None for row in compared):
        return None
    choice = dataclasses.replace(view.choice, sort=view.choice.sort or "difference")
    systems = list(dict.fromkeys(row.system for row in compared))
    shown, hidden = chosen_rows(slices, lambda own: own.parts, choice, "slice")
    lines = [{row.system: row for row in own.differences} for own in shown]
    decimals = view.decimals_of(
        compared[0].metric, [row for line in lines for row in line.values()]
    )
    rows: list[list[Cell]] = [
        [
            own.name,
            segments_of(line.values()),
            *(difference_number(line.get(system), decimals) for system in systems),
        ]
        for own, line in zip(shown, lines, strict=True)
    ]
    caption = (
        f"differences from {compared[0].baseline}, in slices by {item}; {HALF_INTERVAL}; worse or "
        f"better where p < {SIGNIFICANCE_LEVEL}, adjusted by Holm for "
        f"{counted(adjusted, 'comparison')}"
    )
    return Table([caption], [item, "segments", *systems], rows, hidden)


def _adjusted(view: View, compared: Sequence[ComparisonRow]) -> int:
    """How many p-values of the family of these comparisons are adjusted together."""
    names = {(row.metric, row.family) for row in compared}
    return sum(
        row.p_value is not None
        for row in view.result.comparisons
        if (row.metric, row.family) in names
    )


def _clusters(view: View, metric: MetricNames, clusters: Sequence[Mapping[str, Any]]) -> Table:
    """The systems from the best to the worst, with their ranks."""
    scores = {score.system: score for score in view.result.whole(metric.metric)}
    decimals = view.decimals_of(metric.metric, scores.values())
    caption = [
        "clusters: each system is better than each one of a later rank "
        f"(p < {SIGNIFICANCE_LEVEL}, adjusted by Holm)"
    ]
    rows: list[list[Cell]] = [
        [system, rank, score_number(scores[system], decimals)]
        for system, rank in ranks_of(clusters).items()
    ]
    return Table(caption, ["system", "rank", metric.name], rows)


def resampled_tables(view: View, metric: MetricNames) -> Iterator[Table]:
    """The tables of what random replicates say of scores and differences."""
    resampling = view.result.resampling
    if resampling is None:
        return
    resamples = counted(resampling["resamples"], "resample")
    drawn = (
        f"{resampling['method']}, {resamples} of {resampling['unit']}s, seed {resampling['seed']}"
    )
    scores, compared = (
        [entry for entry in resampling[kind] if entry["metric"] == metric.metric]
        for kind in ("scores", "comparisons")
    )

    def columns_of(
        entries: Sequence[Mapping[str, Any]],
        names: Sequence[str],
        write: Callable[[float, int], str],
    ) -> dict[str, list[Cell]]:
        """The numbers of these names, and the intervals, which stand for standard errors."""
        ends = [entry["interval"] for entry in entries]
        errors = [own and (own[1] - own[0]) / (2 * TWO_SIDED_95) for own in ends]
        decimals = view.decimals
        if decimals is None:
            decimals = decimals_for(errors, metric_type(metric.metric).score_type.DECIMALS)
        columns: dict[str, list[Cell]] = {
            name: [estimate(entry[name], None, decimals, write) for entry in entries]
            for name in names
        }
        if any(ends):
            columns["95 % interval"] = [interval_number(own, decimals, write) for own in ends]
        return columns

    if scores:
        systems: list[Cell] = [entry["system"] for entry in scores]
        columns = {"system": systems, **columns_of(scores, ["mean"], rounded)}
        yield table_of(columns.items(), [f"{drawn}: scores"])
    if compared:
        baselines = list(dict.fromkeys(entry["baseline"] for entry in compared))
        pairs = [(entry["system"], entry["baseline"]) for entry in compared]
        subject, heading, names = _named(pairs, baselines)
        caption = [f"{drawn}: {subject}"]
        numbers = ["difference", "mean"] if scores else ["difference"]
        columns = {heading: [*names], **columns_of(compared, numbers, signed)}
        if any(entry["p_value"] is not None for entry in compared):
            columns["p"] = [Number(p_value(entry["p_value"])) for entry in compared]
            if len(compared) > 1:
                caption.append("p: not adjusted for the number of comparisons")
        if any(entry["p_sacrebleu"] is not None for entry in compared):
            columns["p of sacreBLEU"] = [
                Number(p_value(entry["p_sacrebleu"])) for entry in compared
            ]
            caption.append("p of sacreBLEU: as sacreBLEU computes it")
        yield table_of(columns.items(), caption)


def difference_number(row: DifferenceRow | None, decimals: int) -> Number:
    """A difference, marked if it is significant. A slice can lack a system."""
    if row is None:
        return Number()
    return estimate(row.difference, row.interval, decimals, signed, verdict(row))


def interval_number(
    interval: Sequence[float] | None, decimals: int, write: Callable[[float, int], str] = signed
) -> Number:
    """The ends of an interval, if there is one."""
    return Number(" to ".join(write(end, decimals) for end in interval or ()))


def _named(
    pairs: Sequence[tuple[str, str]], baselines: Sequence[str]
) -> tuple[str, str, list[str]]:
    """What is compared, in words; the heading of its names; the names of systems and baselines.

    If all comparisons have one baseline, the caption names it.
    """
    if len(baselines) == 1:
        return f"differences from {baselines[0]}", "system", [system for system, _ in pairs]
    subject = "differences between systems (system minus baseline)"
    return subject, "system vs baseline", [f"{system} vs {base}" for system, base in pairs]
