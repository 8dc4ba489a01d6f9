"""The differences between two runs as tables."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence

from beam_bleu.pipeline.display.comparison_tables import interval_number
from beam_bleu.pipeline.display.printable import value_text
from beam_bleu.pipeline.display.row_order import Facts, RowChoice, chosen_rows, decimals_of, verdict
from beam_bleu.pipeline.display.score_tables import meaning_of_stars, notes_of, stars
from beam_bleu.pipeline.display.table import LOWER, Column, Table, table_of
from beam_bleu.pipeline.result.compared_results import ComparedResults
from beam_bleu.pipeline.result.rows import (
    FAMILIES,
    MACRO_AVERAGE,
    ComparedRow,
    FamilyName,
    MetricNames,
)
from beam_bleu.pipeline.result.series import labels_of
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    Number,
    estimate,
    p_value,
    rounded,
    signed,
)


def compared_tables(
    compared: ComparedResults,
    metric: MetricNames,
    choice: RowChoice,
    most: int | None = None,
    *,
    for_paper: bool = False,
) -> Iterator[Table]:
    """The tables of differences by a metric: of systems, of averages, and of each item of slices.

    Args:
      compared: the comparison.
      metric: the metric.
      choice: which rows are shown, and in which order. In slices, the worst losses come first.
      most: the largest number of rows of a table; None for all.
      for_paper: whether a table has a caption, stars and definitions, instead of all numbers.
    """
    notes = notes_of(compared.new, metric) if for_paper else []
    for family in FAMILIES:
        rows = compared.family(family, metric.metric)
        if family == "slices":
            choice = dataclasses.replace(choice, sort=choice.sort or "difference")
        for item, group in itertools.groupby(rows, key=lambda row: "*".join(labels_of(row))):
            part = [*group]
            shown, hidden = chosen_rows(
                part, lambda row: Facts([row], [row]), choice, most, "comparison"
            )
            columns = _names(shown, family, item)
            if for_paper:
                columns += _paper_columns(metric, shown)
                caption = _caption(compared, metric, part, hidden)
                hidden = []
            else:
                caption = []
                columns += _columns(metric, shown, has_holm=len(rows) > 1)
            yield table_of(columns, caption, hidden, notes)
            notes = []


def _names(rows: Sequence[ComparedRow], family: FamilyName, item: str) -> list[Column]:
    heading = "macro average" if family == "macro_average" else "system"
    systems: Column = (heading, [row.system for row in rows])
    if family != "slices":
        return [systems]
    slices = ["*".join(map(value_text, labels_of(row).values())) for row in rows]
    return [(item, slices), systems, ("segments", [Number(str(row.segments)) for row in rows])]


def _columns(
    metric: MetricNames, rows: Sequence[ComparedRow], *, has_holm: bool
) -> Iterator[Column]:
    """All that is known about differences."""
    decimals = decimals_of(metric.metric, [row.standard_error for row in rows])
    yield "old", [Number(rounded(row.old, decimals)) for row in rows]
    yield "new", [Number(rounded(row.new, decimals)) for row in rows]
    yield (
        "difference",
        [estimate(row.difference, None, decimals, signed, verdict(row)) for row in rows],
    )
    yield "standard error", [estimate(row.standard_error, None, decimals) for row in rows]
    yield "95 % interval", [interval_number(row.interval, decimals) for row in rows]
    yield "p", [Number(p_value(row.p_value)) for row in rows]
    if has_holm:
        yield "Holm p", [Number(p_value(row.p_value_holm)) for row in rows]


def _paper_columns(metric: MetricNames, rows: Sequence[ComparedRow]) -> Iterator[Column]:
    decimals = decimals_of(metric.metric, [row.standard_error for row in rows])
    arrow = f" {LOWER}" if row_of(metric.metric).lower_is_better else ""
    yield f"old{arrow}", [Number(rounded(row.old, decimals)) for row in rows]
    yield f"new{arrow}", [Number(rounded(row.new, decimals)) for row in rows]
    yield (
        "difference",
        [estimate(row.difference, row.interval, decimals, signed, stars(row)) for row in rows],
    )


def _caption(
    compared: ComparedResults,
    metric: MetricNames,
    rows: Sequence[ComparedRow],
    hidden: Sequence[str],
) -> list[str]:
    """What a reader must know of a table of differences."""
    group = rows[0].group
    about = f"{metric.name} by {'*'.join(group)}" if isinstance(group, Mapping) else metric.name
    if group == MACRO_AVERAGE:
        about = f"Macro averages of {metric.name}"
    in_pairs = compared.is_paired and group is None
    way = "in pairs" if in_pairs else "as if their segments were independent"
    caption = [f"{about}, compared with the old run {way}.", *(f"{reason}." for reason in hidden)]
    if any(row.p_value_holm is not None for row in rows):
        caption += [f"{HALF_INTERVAL}.", meaning_of_stars("the old run")]
    return caption
