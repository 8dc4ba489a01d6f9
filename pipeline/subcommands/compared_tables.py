"""The differences between two runs as tables for a paper: LaTeX and Markdown write them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.paper_tables import (
    Cell,
    Number,
    PaperTable,
    meaning_of_stars,
    named_notes,
    stars,
)
from beam_bleu.pipeline.display.row_order import RowChoice, chosen_rows
from beam_bleu.pipeline.display.slices import value_text
from beam_bleu.pipeline.display.table import LOWER
from beam_bleu.pipeline.result.compared_results import ComparedMetric, ComparedResults
from beam_bleu.pipeline.result.rows import ComparedRow
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    difference_estimate,
    errors_of,
    rounded,
)

Entry = Mapping[str, Any]

_OLD = "the old run"


_FIELDS = (
    *("metric", "system", "old", "new", "difference", "standard_error", "interval", "p_value"),
    *("reason", "p_value_holm", "detectable", "segments"),
)


def entry_of(row: ComparedRow) -> dict[str, Any]:
    """A difference as JSON has it."""
    is_slice = isinstance(row.group, Mapping)
    return {
        **{name: getattr(row, name) for name in _FIELDS},
        "slice": row.group if is_slice else None,
    }


def labels_of(row: ComparedRow) -> list[str]:
    """The labels of the slice of a difference; none for the whole corpus."""
    return [*row.group] if isinstance(row.group, Mapping) else []


def compared_tables(compared: ComparedResults, choice: RowChoice) -> Iterator[PaperTable]:
    """A table of the systems for each metric, and one for each item of its slices.

    Args:
      compared: the comparison.
      choice: which rows are shown, and in which order.
    """
    usual = choice if choice.sort else dataclasses.replace(choice, sort="difference")
    for metric in compared.metrics:
        notes = named_notes(metric.name, metric.definitions)
        averages = f"Macro averages of {metric.name}"
        for scores, about in ((metric.systems, metric.name), (metric.macro_average, averages)):
            if scores:
                table = _table(compared, metric, scores, scores, ["system"], about, choice)
                yield dataclasses.replace(table, notes=notes)
                notes = []
        for labels, of_item in itertools.groupby(metric.slices, key=labels_of):
            item = "*".join(labels)
            about = f"{metric.name} by {item}"
            table = _table(
                compared, metric, [*of_item], metric.slices, [item, "system"], about, usual
            )
            yield dataclasses.replace(table, notes=notes)
            notes = []


def _table(
    compared: ComparedResults,
    metric: ComparedMetric,
    scores: Sequence[ComparedRow],
    family: Sequence[ComparedRow],
    names: Sequence[str],
    about: str,
    choice: RowChoice,
) -> PaperTable:
    """A table of differences.

    Args:
      compared: the comparison.
      metric: the metric.
      scores: the differences.
      family: these, and all others for which their p-values are adjusted.
      names: the headings of the slice, if it is about slices, and of the system.
      about: what they are about, for the caption.
      choice: which rows are shown, and in which order.
    """
    rows, hidden = chosen_rows(
        [entry_of(score) for score in scores],
        [{"score": score.new, "standard_error": score.standard_error} for score in scores],
        choice,
        None,
        lower_is_better=row_of(metric.metric).lower_is_better,
    )
    decimals = decimals_of(metric.metric, None, errors_of(rows))
    tested, shown = (_tested(metric, entries) for entries in (family, scores))
    in_pairs = compared.is_paired and scores[0].group is None
    way = "in pairs" if in_pairs else "as if their segments were independent"
    cells = [_row(row, decimals, of_slice=len(names) > 1) for row in rows]
    arrow = f" {LOWER}" if row_of(metric.metric).lower_is_better else ""
    columns = [*names, f"old{arrow}", f"new{arrow}", "difference"]
    caption = [
        f"{about}, compared with {_OLD} {way}.",
        *([f"{hidden}."] if hidden else []),
        *([f"{HALF_INTERVAL}.", meaning_of_stars(shown, tested)] if shown else []),
        *(["Differences without ± are not tested."] if len(shown) < len(scores) else []),
    ]
    return PaperTable(caption, columns, cells)


def _tested(metric: ComparedMetric, scores: Sequence[ComparedRow]) -> list[Entry]:
    """The differences that have a p-value, as the caption counts them."""
    return [
        {
            "metric": metric.metric,
            "family": "",
            "baseline": _OLD,
            "p_value_holm": score.p_value_holm,
        }
        for score in scores
        if score.p_value_holm is not None
    ]


def _row(row: Entry, decimals: int, *, of_slice: bool) -> list[Cell]:
    names = [row["system"]]
    if of_slice:
        names.insert(0, "*".join(map(value_text, row["slice"].values())))
    difference, half = difference_estimate(row, decimals)
    mark = "" if row["p_value_holm"] is None else stars(row)
    old, new = (Number(rounded(row[name], decimals)) for name in ("old", "new"))
    return [*names, old, new, Number(difference, half, mark)]
