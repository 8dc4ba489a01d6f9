"""--format: the forms in which stdout can show a result, and what writes each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from beam_bleu.pipeline.display.comparison_tables import (
    comparison_tables,
    resampled_tables,
    tasks_tables,
)
from beam_bleu.pipeline.display.row_order import View
from beam_bleu.pipeline.display.score_tables import (
    diversity_table,
    notes_of,
    preset_table,
    signature_of,
    slice_tables,
    systems_table,
    units_of,
)
from beam_bleu.pipeline.display.table import Table, as_lines, as_text, latex, markdown
from beam_bleu.pipeline.errors.printable import json_text, printable
from beam_bleu.pipeline.result.document import numbers_of
from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, Result, ScoreRow
from beam_bleu.transforms.score.shown_numbers import HALF_INTERVAL, rounded


def only_scores(view: View) -> str:
    return "".join(
        f"{rounded(row.score, view.decimals_of(row.metric))}\n"
        for row in view.result.scores
        if row.slice is None and row.score is not None
    )


def _text(view: View) -> str:
    result = view.result
    is_only = len(result.metrics) == 1
    notes = [note for metric in result.metrics for note in notes_of(result, metric)]
    size = units_of(result)
    said = set()
    if result.has_intervals:
        size += f"; {HALF_INTERVAL}"
        said.add(HALF_INTERVAL)
    signatures = [f"{name}|{signature}" for name, _, signature in notes]
    parts = [as_lines([*(signatures if is_only else ()), size, *view.remarks])]
    if table := systems_table(view):
        parts.append(as_text(table))
    if not is_only:
        parts.append(as_lines(signatures))
    for table in _tables_of_metrics(view):
        legend = [sentence for sentence in table.legend if sentence not in said]
        parts.append(as_text(dataclasses.replace(table, legend=legend)))
        said.update(legend)
    return "\n".join(parts)


def _tables_of_metrics(view: View) -> Iterator[Table]:
    result = view.result
    if tasks := [*tasks_tables(view)]:
        yield from tasks
        return
    if result.diversity:
        yield diversity_table(view)
    for metric in result.metrics:
        tables = [*slice_tables(view, metric), *comparison_tables(view, metric)]
        if presets := preset_table(view, metric):
            tables.append(dataclasses.replace(presets, caption=()))
        if tables and len(result.metrics) > 1:
            tables[0] = dataclasses.replace(tables[0], caption=[metric.name, *tables[0].caption])
        yield from tables


def _paper_tables(view: View) -> Iterator[Table]:
    if tasks := [*tasks_tables(view, for_paper=True)]:
        yield from tasks
        return
    if systems := systems_table(view, for_paper=True):
        yield systems
    if view.result.diversity:
        yield diversity_table(view)
    for metric in view.result.metrics:
        yield from slice_tables(view, metric, for_paper=True)
        if presets := preset_table(view, metric):
            yield presets
        for table in resampled_tables(view, metric, for_paper=True):
            yield dataclasses.replace(table, caption=[f"{metric.name}, {table.caption[0]}"])


def _tab_separated(view: View) -> str:
    entries = list(_entries(view.result))
    # Scores of slices and presets have the same fields as those of the whole corpus.
    columns = list(dict.fromkeys(key for entry in entries for key in entry))
    columns.sort(key=lambda column: _LAST.index(column) if column in _LAST else -1)
    lines = ["\t".join(columns)]
    for entry in entries:
        if view.decimals is not None:
            entry |= {key: _rounded(entry[key], view.decimals) for key in _ROUNDED if key in entry}
        lines.append("\t".join(_field(entry.get(column)) for column in columns))
    return "".join(f"{line}\n" for line in lines)


_LAST = (
    *("signature", "preset", "languages", "tasks"),
    *("standard_error", "interval_low", "interval_high"),
)

_ROUNDED = ("score", "precisions", "standard_error", "interval_low", "interval_high")


def _rounded(value: Any, decimals: int) -> Any:
    if isinstance(value, tuple):
        return [_rounded(number, decimals) for number in value]
    return None if value is None else rounded(value, decimals)


def _field(value: Any) -> str:
    """A value of scores.json as one field of a line, with all digits of numbers."""
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    if isinstance(value, Mapping):
        return json_text(value)
    return "" if value is None else printable(str(value))


def _entries(result: Result) -> Iterator[dict[str, Any]]:
    has_errors = result.uncertainty is not None
    for metric in result.words:
        averaged = "languages" if result.languages_of(metric) else "tasks"
        for row in result.scores:
            if row.metric == metric and row.score is not None:
                # An average has no definition.
                own = {} if row.slice == MACRO_AVERAGE else {"signature": signature_of(result, row)}
                yield _entry(row, averaged, own, has_errors)
        for preset in result.presets_of(metric):
            own = {"signature": preset.signature, "preset": preset.preset}
            for row in preset.scores:
                yield _entry(row, averaged, own, preset.has_errors)


def _entry(
    row: ScoreRow, averaged: str, definition: dict[str, Any], has_errors: bool
) -> dict[str, Any]:
    """The fields of a score, its uncertainty last, so that the other fields keep their places."""
    entry = numbers_of(row, averaged) | definition
    if has_errors:
        low, high = row.interval or (None, None)
        entry |= {"standard_error": row.standard_error, "interval_low": low, "interval_high": high}
    return entry


FORMATS: Mapping[str, tuple[str, Callable[[View], str]]] = {
    "text": ("a table", _text),
    "json": ("the bytes of scores.json", lambda view: view.data.decode()),
    "jsonl": (
        "a JSON object for each score",
        lambda view: "".join(f"{json_text(entry)}\n" for entry in _entries(view.result)),
    ),
    "tsv": ("a line for each score, with tabs between its fields", _tab_separated),
    "markdown": (
        "a table of GitHub's Markdown, systems by metrics",
        lambda view: markdown(_paper_tables(view), view.remarks),
    ),
    "latex": ("the same table for LaTeX", lambda view: latex(_paper_tables(view), view.remarks)),
}
"""What each format is, and the function that writes it; the first one is the default."""
