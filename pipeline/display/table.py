"""The tables on stdout: a row for each system, one for each slice, and one for each preset.

With several metrics, the first table has a column for each one, and the signatures come below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.comparison_tables import SHOWN_COMPARISONS, sections
from beam_bleu.pipeline.display.fitted_rows import Rows, drawn, fits, fitted, folded, height
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.row_order import USUAL_ROWS, RowChoice
from beam_bleu.pipeline.display.slices import SHOWN_SLICES, of_whole, signature_lines, slice_tables
from beam_bleu.pipeline.display.terminal import FILE, Screen
from beam_bleu.pipeline.output.metric_views import parts_of
from beam_bleu.transforms.known_metrics import presentation_of, row_of
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    counted,
    errors_of,
    estimates,
    score_estimate,
)

LOWER = "↓"
"""Beside the name of a metric: a lower score is better."""

_SHOWN_PARTITIONS = 3
"""More partitions are not all named."""


def table(
    document: Mapping[str, Any],
    remarks: Sequence[str] = (),
    decimals: int | None = None,
    screen: Screen = FILE,
    choice: RowChoice = USUAL_ROWS,
) -> str:
    """The result document as text, rounded as sacreBLEU rounds.

    Args:
      document: the document.
      remarks: lines for its head.
      decimals: how many decimals scores and precisions have; None if that depends on their standard
        errors.
      screen: where it is shown.
      choice: which rows of slices and comparisons are shown, and in which order.
    """
    metrics = parts_of(document)
    signatures = all_signatures(metrics)
    is_only = len(metrics) == 1
    about = facts(document, remarks)
    parts = [on_lines_of([*signatures, *about] if is_only else about, screen)]
    if whole := whole_rows(metrics, decimals):
        styles = dict.fromkeys(_best_cells(metrics, len(whole[0])), "bold")
        parts.append(drawn(fitted(whole, screen), screen, styles=styles))
    if not is_only:
        parts.append(on_lines_of(signatures, screen))
    for metric in metrics:
        tables = _tables(metric, decimals, screen, choice)
        if tables and not is_only:
            tables[0] = on_lines_of([metric["name"]], screen) + tables[0]
        parts += tables
    return "\n".join(parts)


def _tables(
    document: Mapping[str, Any], decimals: int | None, screen: Screen, choice: RowChoice
) -> list[str]:
    """The tables of a metric below that of the whole corpus."""
    parts = []
    most = None if screen.columns is None else SHOWN_SLICES
    for rows, line in slice_tables(document, decimals, most, choice):
        parts.append(drawn(fitted(rows, screen, names_in_header=True), screen))
        if line:
            parts[-1] += f"{_on_lines(line, screen)}\n"
    rows_shown = None if screen.columns is None else SHOWN_COMPARISONS
    for section in sections(document, decimals, rows_shown, most, choice):
        above = on_lines_of(section.above, screen)
        blocks = fitted(section.rows, screen, names_in_header=section.names_in_header)
        parts.append(above + drawn(blocks, screen, ruled=section.ruled, styles=section.styles))
        if section.below:
            parts[-1] += f"{_on_lines(section.below, screen)}\n"
    if "presets" in document:
        parts.append(_comparison(document, decimals, screen))
    return parts


def facts(document: Mapping[str, Any], remarks: Sequence[str]) -> list[str]:
    """The lines above the first table about what all metrics share: how large the corpus is."""
    return [printable(line) for line in (_size(document), *remarks_on(document, remarks))]


def remarks_on(document: Mapping[str, Any], remarks: Sequence[str]) -> list[str]:
    """These remarks, and which partitions of a corpus were scored."""
    lines = [*remarks]
    if "partition" in document:
        lines.append(f"partition {document['partition']}")
    if "partitions" in document:
        lines.append(_partitions(document["partitions"]))
    return lines


def _partitions(labels: Sequence[str | None]) -> str:
    """The labels of the partitions of merged totals, which are sorted."""
    shown = ["(no label)" if label is None else label for label in labels]
    if len(shown) <= _SHOWN_PARTITIONS:
        return f"partitions {', '.join(shown)}"
    return f"{len(shown)} partitions, from {shown[0]} to {shown[-1]}"


def units_of(document: Mapping[str, Any]) -> str:
    """The number of segments; and of documents, if these are the units."""
    text = counted(document["segments"], "segment")
    units = document.get("uncertainty")
    if units is not None and units["unit"] == "document":
        text += f" in {counted(units['units'], 'document')}"
    return text


def _size(document: Mapping[str, Any]) -> str:
    """How large the corpus is, and what ± means."""
    text = units_of(document)
    if any(score.get("interval") for score in document["scores"]):
        text += f"; {HALF_INTERVAL}"
    return text


def all_signatures(metrics: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines with the signatures: above the table of one metric, below that of several."""
    return [line for metric in metrics for line in signature_lines(metric)]


def whole_rows(metrics: Sequence[Mapping[str, Any]], decimals: int | None) -> Rows:
    """The header, and a row for each system with its scores of the whole corpus.

    A single metric also has its own cells. A metric without such a score has no column; if all have
    none, there are no rows.

    Args:
      metrics: what the result document says about each metric.
      decimals: how many decimals scores have; None if that depends on their standard errors.
    """
    with_whole = [metric for metric in metrics if of_whole(metric)]
    if not with_whole:
        return []
    columns = [["system", *(score["system"] for score in of_whole(with_whole[0]))]]
    for metric in with_whole:
        scores = of_whole(metric)
        places = decimals_of(metric["metric"], decimals, errors_of(scores))
        shown = estimates([score_estimate(score, places) for score in scores])
        columns.append([_heading(metric, is_only=len(metrics) == 1), *shown])
    if len(metrics) == 1:
        cells = presentation_of(scores[0]["metric"]).cells
        places = decimals_of(scores[0]["metric"], decimals)
        others = [cells(score, places) for score in scores]
        columns += [[name, *(other[name] for other in others)] for name in others[0]]
    return list(zip(*columns, strict=True))


def _heading(metric: Mapping[str, Any], *, is_only: bool) -> str:
    """The name of a metric. Beside other metrics, it has an arrow if a lower score is better."""
    has_arrow = row_of(metric["metric"]).lower_is_better and not is_only
    return f"{metric['name']} {LOWER}" if has_arrow else str(metric["name"])


def preset_rows(document: Mapping[str, Any], asked: int | None) -> Rows:
    """The header, and a row for each preset: the scores of all systems.

    Args:
      document: what the result document says about a metric.
      asked: how many decimals scores have; None if that depends on their standard errors.
    """
    presets = document["presets"]
    errors = errors_of(score for row in presets for score in row["scores"])
    decimals = decimals_of(document["metric"], asked, errors)
    columns = [["preset", *(row["preset"] for row in presets)]]
    for number, score in enumerate(of_whole(document)):
        scores = [score_estimate(row["scores"][number], decimals) for row in presets]
        columns.append([score["system"], *estimates(scores)])
    return list(zip(*columns, strict=True))


def signature_rows(document: Mapping[str, Any]) -> Rows:
    """The header, and the signature of each preset."""
    rows = [(row["preset"], row["signature"]) for row in document["presets"]]
    return [("preset", "signature"), *rows]


def _comparison(document: Mapping[str, Any], decimals: int | None, screen: Screen) -> str:
    """One table with the signatures, if there is room for it; otherwise they have their own."""
    scores, signatures = preset_rows(document, decimals), signature_rows(document)
    together = [[*row, signature] for row, (_, signature) in zip(scores, signatures, strict=True)]
    if fits(together, screen):
        return drawn(fitted(together, screen), screen)
    ways = [fitted(scores, screen, names_in_header=True)]
    if not fits(scores, screen):
        by_system = [["system", *scores[0][1:]], *scores[1:]]
        ways.append(fitted(list(zip(*by_system, strict=True)), screen))
    parts = [min(ways, key=height), fitted(signatures, screen)]
    return "\n".join(drawn(blocks, screen) for blocks in parts)


def _best(document: Mapping[str, Any]) -> set[int]:
    """The rows of the systems with the best score, if there are several systems."""
    scores = [score["score"] for score in of_whole(document)]
    if len(scores) <= 1:
        return set()
    best = min(scores) if row_of(document["metric"]).lower_is_better else max(scores)
    return {number for number, score in enumerate(scores, 1) if score == best}


def _best_cells(metrics: Sequence[Mapping[str, Any]], width: int) -> Iterator[tuple[int, int]]:
    """The rows and columns of the best scores; with a single metric, of whole rows.

    Args:
      metrics: what the result document says about each metric.
      width: the number of columns.
    """
    with_whole = [metric for metric in metrics if of_whole(metric)]
    for column, metric in enumerate(with_whole, 1):
        for row in _best(metric):
            yield from ((row, at) for at in (range(width) if len(metrics) == 1 else [column]))


def on_lines_of(lines: Sequence[str], screen: Screen) -> str:
    """Sentences about a table, on lines that fit the screen."""
    return "".join(f"{_on_lines(printable(line), screen)}\n" for line in lines)


def _on_lines(text: str, screen: Screen) -> str:
    return text if screen.columns is None else folded(text, screen.columns)
