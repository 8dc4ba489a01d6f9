"""The tables of comparisons: is the difference between two systems real?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.row_order import (
    USUAL_ROWS,
    Facts,
    RowChoice,
    by_score,
    chosen_rows,
    verdict,
)
from beam_bleu.pipeline.display.score_tables import (
    ranks_of,
    score_number,
    segments_of,
    slices_of,
)
from beam_bleu.pipeline.display.table import Cell, Number, Table
from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, ComparisonRow, MetricNames, Result
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    counted,
    estimate,
    p_value,
    rounded,
    signed,
)
from beam_bleu.transforms.score.uncertainty import TWO_SIDED_95

_OF_SACREBLEU = {
    "bootstrap": "which finds too many differences",
    "randomization": "which counts only larger differences, not those of the same size",
}
"""What a reader of sacreBLEU's p-value must know, by method."""


def comparison_tables(
    result: Result,
    metric: MetricNames,
    asked: int | None,
    choice: RowChoice = USUAL_ROWS,
    most: int | None = None,
) -> Iterator[Table]:
    """The tables of comparisons by a metric, in the order in which they are shown.

    Args:
      result: the result.
      metric: the metric.
      asked: how many decimals scores and differences have; None if that depends on their standard
        errors.
      choice: which differences are shown, and in which order.
      most: the largest number of rows of a table; None for all. With it, all pairs of systems are a
        matrix.
    """
    word = metric.metric
    clusters = [cluster for cluster in result.clusters or () if cluster["metric"] == word]
    if sum(len(cluster["systems"]) for cluster in clusters) > 1:
        yield _clusters(result, metric, clusters, asked)
    # Without a standard error a difference says no more than the two scores.
    families = {
        family["family"]: family["comparisons"]
        for family in result.families
        if family["metric"] == word and family["comparisons"]
    }
    compared = [row for row in result.compared(word) if row.family in families]
    whole = [row for row in compared if row.group is None]
    if whole and len(_baselines(whole)) > 1 and most is not None and choice == USUAL_ROWS:
        yield _matrix(result, whole, families["corpus"], asked)
    elif whole:
        common = whole[0].segments
        on = "on the whole corpus"
        if common != result.segments:
            on += f", over the {common} segments that all systems have"
        yield _differences(result, whole, families["corpus"], on, asked, choice, most)
    if averages := [row for row in compared if row.group == MACRO_AVERAGE]:
        adjusted = families["macro_average"]
        on = "on the macro average"
        yield _differences(result, averages, adjusted, on, asked, choice, most)
    if "slices" in families:
        yield from _slices(result, metric, families["slices"], asked, choice, most)
    yield from resampled_tables(result, metric, asked, most)


def _differences(
    result: Result,
    compared: Sequence[ComparisonRow],
    adjusted: int,
    on: str,
    asked: int | None,
    choice: RowChoice,
    most: int | None,
) -> Table:
    """The comparisons on the whole corpus, or of macro averages: a row for each one.

    Args:
      result: the result.
      compared: the comparisons.
      adjusted: the number of p-values that are adjusted together.
      on: what the systems are compared on.
      asked: how many decimals differences have.
      choice: which ones are shown, and in which order.
      most: the largest number of rows.
    """
    metric = compared[0].metric
    scores = {score.system: score for score in result.whole(metric)}

    def facts(row: ComparisonRow) -> Facts:
        return Facts([row], [scores[row.system]] if row.system in scores else [])

    shown, hidden = chosen_rows(compared, facts, choice, most, "comparison")
    decimals = decimals_of(metric, asked, [row.standard_error for row in shown])
    several = adjusted > 1  # the only p-value of a family stays as it is
    holm = f"; Holm p: p adjusted for {adjusted} comparisons" if several else ""
    baselines = _baselines(compared)
    caption = [f"{_subject(baselines)}, {on}; {HALF_INTERVAL}{holm}"]
    header = [_heading(baselines), "difference", "p", *(["Holm p"] if several else [])]
    is_detectable = any(row.detectable is not None for row in shown)
    if is_detectable:
        caption.append(
            "detectable: the smallest true difference that such a test set would usually find "
            f"(p < {SIGNIFICANCE_LEVEL} in 80 % of cases)"
        )
        header.append("detectable")
    rows: list[list[Cell]] = [
        [
            _name(row.system, row.baseline, baselines),
            difference_number(row, decimals),
            Number(p_value(row.p_value)),
            *([Number(p_value(row.p_value_holm))] if several else []),
            *([Number(*estimate(row.detectable, None, decimals))] if is_detectable else []),
        ]
        for row in shown
    ]
    return Table(caption, header, rows, hidden)


def _matrix(
    result: Result, compared: Sequence[ComparisonRow], adjusted: int, asked: int | None
) -> Table:
    """All pairs of systems: the difference of the system of a row from that of a column."""
    metric = compared[0].metric
    ranked = sorted(result.whole(metric), key=by_score, reverse=True)
    pairs = {(row.system, row.baseline): row for row in compared}
    pairs |= {
        (row.baseline, row.system): dataclasses.replace(
            row, difference=None if row.difference is None else -row.difference
        )
        for row in compared
    }
    decimals = decimals_of(metric, asked, [row.standard_error for row in compared])
    systems = [score.system for score in ranked]
    rows: list[list[Cell]] = [
        [
            system,
            *(
                dataclasses.replace(difference_number(pairs.get((system, base)), decimals), half="")
                for base in systems
            ),
        ]
        for system in systems
    ]
    caption = [
        "differences between systems, on the whole corpus: that of a row minus that of a column; "
        f"{_meaning(adjusted)}"
    ]
    return Table(caption, ["system", *systems], rows)


def _slices(
    result: Result,
    metric: MetricNames,
    adjusted: int,
    asked: int | None,
    choice: RowChoice,
    most: int | None,
) -> Iterator[Table]:
    """A table for each baseline and item of --slice_by, with a column for each system."""
    choice = dataclasses.replace(choice, sort=choice.sort or "difference")
    items = slices_of(result, metric.metric)
    in_slices = [row for own in items.values() for each in own for row in each.differences]
    for base in _baselines(in_slices):
        systems = list(dict.fromkeys(row.system for row in in_slices if row.baseline == base))
        for item, slices in items.items():
            if all(row.p_value is None for own in slices for row in own.differences):
                continue
            shown, hidden = chosen_rows(slices, lambda own: own.facts, choice, most, "slice")
            lines = [
                {row.system: row for row in own.differences if row.baseline == base}
                for own in shown
            ]
            errors = [row.standard_error for line in lines for row in line.values()]
            decimals = decimals_of(metric.metric, asked, errors)
            rows: list[list[Cell]] = [
                [
                    own.name,
                    segments_of(line.values()),
                    *(difference_number(line.get(system), decimals) for system in systems),
                ]
                for own, line in zip(shown, lines, strict=True)
            ]
            caption = [
                f"differences from {base}, in slices by {item}; {HALF_INTERVAL}; "
                f"{_meaning(adjusted)}"
            ]
            yield Table(caption, [item, "segments", *systems], rows, hidden)


def _clusters(
    result: Result,
    metric: MetricNames,
    clusters: Sequence[Mapping[str, Any]],
    asked: int | None,
) -> Table:
    """The systems from the best to the worst, with their ranks."""
    scores = {score.system: score for score in result.whole(metric.metric)}
    decimals = decimals_of(
        metric.metric, asked, [score.standard_error for score in scores.values()]
    )
    caption = [
        "clusters: each system is better than each one of a later rank "
        f"(p < {SIGNIFICANCE_LEVEL}, adjusted by Holm)"
    ]
    rows: list[list[Cell]] = [
        [system, rank, score_number(scores[system], decimals)]
        for system, rank in ranks_of(clusters).items()
    ]
    return Table(caption, ["system", "rank", metric.name], rows)


def resampled_tables(
    result: Result, metric: MetricNames, asked: int | None, most: int | None = None
) -> Iterator[Table]:
    """The tables of what random replicates say. The arguments are those of `comparison_tables`."""
    resampling = result.resampling
    if resampling is None:
        return
    method = resampling["method"]
    resamples = counted(resampling["resamples"], "resample")
    drawn = f"{method}, {resamples} of {resampling['unit']}s, seed {resampling['seed']}"
    scores, compared = (
        [entry for entry in resampling[kind] if entry["metric"] == metric.metric]
        for kind in ("scores", "comparisons")
    )
    if scores:
        decimals = _decimals(metric, asked, scores)
        has_intervals = any(entry["interval"] for entry in scores)
        rows: list[list[Cell]] = [
            [
                entry["system"],
                Number(*estimate(entry["mean"], None, decimals)),
                *([interval_number(entry["interval"], decimals, rounded)] if has_intervals else []),
            ]
            for entry in scores
        ]
        header = ["system", "mean", *(["95 % interval"] if has_intervals else [])]
        yield Table([f"{drawn}: scores"], header, rows)
    if compared:
        shown = compared[:most]
        baselines = list(dict.fromkeys(entry["baseline"] for entry in compared))
        decimals = _decimals(metric, asked, shown)
        columns: dict[str, list[Cell]] = {
            _heading(baselines): [
                _name(entry["system"], entry["baseline"], baselines) for entry in shown
            ],
            "difference": [
                Number(*estimate(entry["difference"], None, decimals, signed)) for entry in shown
            ],
        }
        caption = [f"{drawn}: {_subject(baselines)}"]
        if scores:
            columns["mean"] = [
                Number(*estimate(entry["mean"], None, decimals, signed)) for entry in shown
            ]
        if any(entry["interval"] for entry in compared):
            columns["95 % interval"] = [
                interval_number(entry["interval"], decimals) for entry in shown
            ]
        if any(entry["p_value"] is not None for entry in compared):
            columns["p"] = [Number(p_value(entry["p_value"])) for entry in shown]
            if len(compared) > 1:
                caption.append("p: not adjusted for the number of comparisons")
        if any(entry["p_sacrebleu"] is not None for entry in compared):
            columns["p of sacreBLEU"] = [Number(p_value(entry["p_sacrebleu"])) for entry in shown]
            caption.append(f"p of sacreBLEU: as sacreBLEU computes it, {_OF_SACREBLEU[method]}")
        left_out = len(compared) - len(shown)
        hidden = [f"{left_out} of {len(compared)} comparisons are hidden"] if left_out else []
        yield Table(caption, [*columns], list(zip(*columns.values(), strict=True)), hidden)


def difference_number(row: ComparisonRow | None, decimals: int) -> Number:
    """A difference, marked if it is significant. A slice can lack a system."""
    if row is None:
        return Number()
    return Number(*estimate(row.difference, row.interval, decimals, signed), verdict(row))


def interval_number(
    interval: Sequence[float] | None, decimals: int, write: Callable[[float, int], str] = signed
) -> Number:
    """The ends of an interval, if there is one."""
    return Number(" to ".join(write(end, decimals) for end in interval or ()))


def _decimals(metric: MetricNames, asked: int | None, entries: Sequence[Mapping[str, Any]]) -> int:
    """How many decimals numbers have whose intervals stand for standard errors."""
    intervals = [entry["interval"] for entry in entries]
    errors = [ends and (ends[1] - ends[0]) / (2 * TWO_SIDED_95) for ends in intervals]
    return decimals_of(metric.metric, asked, errors)


def _meaning(adjusted: int) -> str:
    """What the words beside differences mean. `adjusted` is the number of p-values of a family."""
    return (
        f"worse or better where p < {SIGNIFICANCE_LEVEL}, adjusted by Holm for "
        f"{counted(adjusted, 'comparison')}"
    )


def _baselines(compared: Sequence[ComparisonRow]) -> list[str]:
    return list(dict.fromkeys(row.baseline for row in compared))


def _subject(baselines: Sequence[str]) -> str:
    """What is compared, in words."""
    if len(baselines) == 1:
        return f"differences from {baselines[0]}"
    return "differences between systems (system minus baseline)"


def _heading(baselines: Sequence[str]) -> str:
    return "system" if len(baselines) == 1 else "system vs baseline"


def _name(system: str, baseline: str, baselines: Sequence[str]) -> str:
    """The name of a comparison. If all comparisons have one baseline, the caption names it."""
    return system if len(baselines) == 1 else f"{system} vs {baseline}"
