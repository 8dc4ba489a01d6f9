"""The differences between two runs as tables."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence

from beam_bleu.pipeline.display.comparison_tables import interval_number
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.printable import value_text
from beam_bleu.pipeline.display.row_order import Facts, RowChoice, chosen_rows, verdict
from beam_bleu.pipeline.display.score_tables import meaning_of_stars, notes_of, stars
from beam_bleu.pipeline.display.table import LOWER, Cell, Number, Table
from beam_bleu.pipeline.result.compared_results import ComparedResults
from beam_bleu.pipeline.result.rows import FAMILIES, ComparedRow, MetricNames
from beam_bleu.transforms.known_metrics import MetricWord, row_of
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    estimate,
    p_value,
    rounded,
    signed,
)

_MORE_DECIMALS = 1
"""How many decimals more than a score a difference without a standard error has."""


@dataclasses.dataclass(frozen=True)
class Part:
    """The differences of a metric that are shown in one table.

    Attributes:
      name: what they are of: "system", "macro average", or the labels of slices.
      rows: the differences, one or more.
      family: these, and all others for which their p-values are adjusted.
      is_of_slices: whether they are of slices.
      has_one_system: whether the table of systems has only one.
    """

    name: str
    rows: Sequence[ComparedRow]
    family: Sequence[ComparedRow]
    is_of_slices: bool = False
    has_one_system: bool = False

    def chosen(
        self, choice: RowChoice, most: int | None = None
    ) -> tuple[list[ComparedRow], list[str]]:
        """The differences that are shown, and why others are not. In slices, the worst come first.

        Args:
          choice: which ones are shown, and in which order.
          most: how many; None for all.
        """
        if self.is_of_slices:
            choice = dataclasses.replace(choice, sort=choice.sort or "difference")
        return chosen_rows(self.rows, lambda row: Facts([row], [row]), choice, most, "comparison")


def parts_of(compared: ComparedResults, metric: MetricWord) -> Iterator[Part]:
    """The tables of one metric: systems, averages, and each item of slices."""
    systems, averages, slices = (compared.family(name, metric) for name in FAMILIES)
    for name, rows in (("system", systems), ("macro average", averages)):
        if rows:
            yield Part(name, rows, rows)
    for labels, group in itertools.groupby(slices, key=_labels):
        yield Part(labels, [*group], slices, True, len(systems) == 1)


def text_table(part: Part, choice: RowChoice, most: int | None) -> Table:
    """The table of differences with all that is known about them.

    Args:
      part: the differences.
      choice: which ones are shown, and in which order.
      most: how many; None for all.
    """
    rows, hidden = part.chosen(choice, most)
    errors = [row.standard_error for row in rows]
    decimals = decimals_of(part.rows[0].metric, None, errors)
    more = decimals if any(errors) else decimals + _MORE_DECIMALS
    columns: dict[str, list[Cell]] = {}
    if part.is_of_slices:
        columns[part.name] = [_values(row) for row in rows]
    # The only system is in the table above. Without it, 80 columns have room for p-values.
    if not part.has_one_system:
        columns["system" if part.is_of_slices else part.name] = [row.system for row in rows]
    if part.is_of_slices:
        columns["segments"] = [Number(str(row.segments)) for row in rows]
    columns |= {
        "old": [Number(rounded(row.old, decimals)) for row in rows],
        "new": [Number(rounded(row.new, decimals)) for row in rows],
        "difference": [Number(signed(row.difference, more), "", verdict(row)) for row in rows],
        "standard error": [Number(*estimate(row.standard_error, None, more)) for row in rows],
        "95 % interval": [interval_number(row.interval, more) for row in rows],
        "p": [Number(p_value(row.p_value)) for row in rows],
    }
    if sum(row.p_value is not None for row in part.rows) > 1:
        columns["Holm p"] = [Number(p_value(row.p_value_holm)) for row in rows]
    return Table((), [*columns], list(zip(*columns.values(), strict=True)), hidden)


def paper_tables(compared: ComparedResults, choice: RowChoice) -> Iterator[Table]:
    """The tables of differences for a paper: LaTeX and Markdown write them.

    Args:
      compared: the comparison.
      choice: which rows are shown, and in which order.
    """
    for metric in compared.metrics:
        for number, part in enumerate(parts_of(compared, metric.metric)):
            table = _paper_table(metric, part, choice, is_paired=compared.is_paired)
            notes = [] if number else notes_of(compared.new, metric)
            yield dataclasses.replace(table, notes=notes)


def _paper_table(metric: MetricNames, part: Part, choice: RowChoice, *, is_paired: bool) -> Table:
    rows, hidden = part.chosen(choice)
    name = metric.name
    decimals = decimals_of(metric.metric, None, [row.standard_error for row in rows])
    tested, shown = (
        [row for row in each if row.p_value_holm is not None] for each in (part.family, part.rows)
    )
    in_pairs = is_paired and part.name == "system"
    way = "in pairs" if in_pairs else "as if their segments were independent"
    arrow = f" {LOWER}" if row_of(metric.metric).lower_is_better else ""
    about = f"{name} by {part.name}" if part.is_of_slices else name
    if part.name == "macro average":
        about = f"Macro averages of {name}"
    caption = [f"{about}, compared with the old run {way}.", *(f"{reason}." for reason in hidden)]
    if shown:
        caption += [f"{HALF_INTERVAL}.", meaning_of_stars(shown, tested, "the old run")]
    if len(shown) < len(part.rows):
        caption.append("Differences without ± are not tested.")
    cells: list[list[Cell]] = [
        [
            *([_values(row)] if part.is_of_slices else []),
            row.system,
            Number(rounded(row.old, decimals)),
            Number(rounded(row.new, decimals)),
            Number(*estimate(row.difference, row.interval, decimals, signed), stars(row)),
        ]
        for row in rows
    ]
    names = [*([part.name] if part.is_of_slices else []), "system"]
    return Table(caption, [*names, f"old{arrow}", f"new{arrow}", "difference"], cells)


def _labels(row: ComparedRow) -> str:
    return "*".join(row.group) if isinstance(row.group, Mapping) else ""


def _values(row: ComparedRow) -> str:
    return "*".join(map(value_text, row.group.values())) if isinstance(row.group, Mapping) else ""
