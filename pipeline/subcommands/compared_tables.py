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
from beam_bleu.pipeline.saved.compared_runs import ComparedRuns
from beam_bleu.pipeline.saved.compared_scores import ComparedScore
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    difference_estimate,
    errors_of,
    rounded,
)

Entry = Mapping[str, Any]

_OLD = "the old run"


def entry_of(metric: ComparedRuns, score: ComparedScore) -> dict[str, Any]:
    """A difference as JSON has it."""
    own = {name: value for name, value in vars(score).items() if name != "of_slice"}
    return {"metric": metric.metric, **own, "slice": score.of_slice}


def labels_of(score: ComparedScore) -> list[str]:
    """The labels of the slice of a difference; none for the whole corpus."""
    return list(score.of_slice or ())


def compared_tables(metrics: Sequence[ComparedRuns], choice: RowChoice) -> Iterator[PaperTable]:
    """A table of the systems for each metric, and one for each item of its slices.

    Args:
      metrics: the comparisons.
      choice: which rows are shown, and in which order.
    """
    usual = choice if choice.sort else dataclasses.replace(choice, sort="difference")
    for metric in metrics:
        notes = named_notes(metric.name, metric.definitions)
        averages = f"Macro averages of {metric.name}"
        for scores, about in ((metric.systems, metric.name), (metric.macro_average, averages)):
            if scores:
                table = _table(metric, scores, scores, ["system"], about, choice)
                yield dataclasses.replace(table, notes=notes)
                notes = []
        for labels, of_item in itertools.groupby(metric.slices, key=labels_of):
            item = "*".join(labels)
            about = f"{metric.name} by {item}"
            table = _table(metric, [*of_item], metric.slices, [item, "system"], about, usual)
            yield dataclasses.replace(table, notes=notes)
            notes = []


def _table(
    metric: ComparedRuns,
    scores: Sequence[ComparedScore],
    family: Sequence[ComparedScore],
    names: Sequence[str],
    about: str,
    choice: RowChoice,
) -> PaperTable:
    """A table of differences.

    Args:
      metric: the comparison that they are of.
      scores: the differences.
      family: these, and all others for which their p-values are adjusted.
      names: the headings of the slice, if it is about slices, and of the system.
      about: what they are about, for the caption.
      choice: which rows are shown, and in which order.
    """
    rows, hidden = chosen_rows(
        [entry_of(metric, score) for score in scores],
        [{"score": score.new, "standard_error": score.standard_error} for score in scores],
        choice,
        None,
        lower_is_better=row_of(metric.metric).lower_is_better,
    )
    decimals = decimals_of(metric.metric, None, errors_of(rows))
    tested, shown = (_tested(metric, entries) for entries in (family, scores))
    in_pairs = metric.method == "paired" and scores is metric.systems
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


def _tested(metric: ComparedRuns, scores: Sequence[ComparedScore]) -> list[Entry]:
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
