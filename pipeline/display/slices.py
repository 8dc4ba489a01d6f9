"""The tables of slices: a row for each slice, a column for each system."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.columns import Rows
from beam_bleu.pipeline.display.languages import average_row, label_of_languages, tokenizers

SHOWN_SLICES = 20
"""The largest number of slices of one table on a terminal."""


def of_whole(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The scores of the whole corpus, system by system."""
    return [score for score in document["scores"] if score["slice"] is None]


def slice_tables(
    document: Mapping[str, Any], decimals: int, most: int | None = None
) -> list[tuple[Rows, str]]:
    """A table for each item of --slice_by, and a line about slices that it does not show, or "".

    Args:
      document: the result document.
      decimals: how many decimals scores have.
      most: the largest number of slices of a table, which are those with the most segments; None
        for all.
    """
    # A corpus in several languages can have no score for the whole, but it has averages.
    systems = [score["system"] for score in document.get("macro_average", of_whole(document))]
    slices = [score for score in document["scores"] if score["slice"] is not None]
    tables: list[tuple[Rows, str]] = []
    for labels, of_item in itertools.groupby(slices, key=lambda score: tuple(score["slice"])):
        by_slice = itertools.groupby(of_item, key=lambda score: tuple(score["slice"].values()))
        scores = [(values, {each["system"]: each for each in found}) for values, found in by_slice]
        shown = scores
        if most is not None and len(scores) > most:
            largest = sorted(scores, key=lambda each: -_most_segments(each[1]))[:most]
            kept = {values for values, _ in largest}
            shown = [each for each in scores if each[0] in kept]
        rows = [
            ["*".join(map(value_text, values)), _segments(of_slice)]
            + [
                f"{of_slice[system]['score']:.{decimals}f}" if system in of_slice else ""
                for system in systems
            ]
            for values, of_slice in shown
        ]
        columns = ["*".join(labels), "segments", *systems]
        if labels == label_of_languages(document):
            tokenizer = tokenizers(document)
            columns.insert(1, "tokenizer")
            for row, (values, _) in zip(rows, shown, strict=True):
                row.insert(1, tokenizer[values[0]])
            rows.append(average_row(document, decimals))
        line = ""
        if len(shown) < len(scores):
            line = (
                f"These are the {most} slices with the most segments, of {len(scores)}; "
                "--format tsv shows all of them"
            )
        tables.append(([columns, *rows], line))
    return tables


def _most_segments(of_slice: Mapping[str, Mapping[str, Any]]) -> int:
    return max(int(score["segments"]) for score in of_slice.values())


def _segments(of_slice: Mapping[str, Mapping[str, Any]]) -> str:
    """The number of segments; if the systems have different numbers, the least and the most."""
    numbers: Sequence[int] = sorted({score["segments"] for score in of_slice.values()})
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"


def value_text(value: str | None) -> str:
    """The value of a label. A missing label, the text "null" and an empty text look different."""
    if value is None:
        return "null"
    is_plain = value not in ("", "null") and value == value.strip() and not value.startswith('"')
    return value if is_plain else json.dumps(value, ensure_ascii=False)
