"""The tables of slices: a row for each slice, a column for each system.

Languages and tasks are slices, too, with tokenizers, signatures and means of their own.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.fitted_rows import Rows
from beam_bleu.pipeline.display.numbers import Estimate, estimates, score_estimate
from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.transforms.errors import joined

SHOWN_SLICES = 20
"""The largest number of slices of one table on a terminal."""

MACRO_AVERAGE = "macro average"
"""The name of the row with the means of the languages, or of the tasks."""

_SHOWN_LANGUAGES = 8


def of_whole(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The scores of the whole corpus, system by system."""
    return [score for score in document["scores"] if score["slice"] is None]


def slice_tables(
    document: Mapping[str, Any], decimals: int, most: int | None = None
) -> list[tuple[Rows, str]]:
    """A table for each item of --slice_by, and a line about slices that it does not show, or "".

    Args:
      document: what the result document says about a metric.
      decimals: how many decimals scores have.
      most: the largest number of slices of a table, which are those with the most segments; None
        for all.
    """
    # A corpus in several languages or tasks can have no score for the whole, but it has averages.
    systems = [score["system"] for score in document.get("macro_average", of_whole(document))]
    tables: list[tuple[Rows, str]] = []
    for item in items_of(document["scores"], most):
        has_languages = item.labels == label_of_languages(document)
        has_tasks = item.labels == label_of_tasks(document)
        columns = item.names()
        if has_languages:
            tokenizer = tokenizers(document)
            shown = ["tokenizer", *(tokenizer[str(values[0])] for values, _ in item.slices), ""]
            columns = [[*columns[0], MACRO_AVERAGE], shown, [*columns[1], ""]]
        elif has_tasks:
            columns = [[*columns[0], MACRO_AVERAGE], [*columns[1], ""]]
        for number, system in enumerate(systems):
            scores = [_estimate(of_slice.get(system), decimals) for _, of_slice in item.slices]
            if has_languages or has_tasks:
                scores.append(_estimate(document["macro_average"][number], decimals))
            columns.append([system, *estimates(scores)])
        tables.append((list(zip(*columns, strict=True)), item.line("tsv")))
    return tables


@dataclasses.dataclass(frozen=True)
class Item:
    """What a table shows of an item of --slice_by.

    Attributes:
      labels: the labels of the item.
      slices: for each slice that is shown, the values of its labels, and its entries by system.
      count: how many slices there are.
    """

    labels: tuple[str, ...]
    slices: Sequence[tuple[tuple[str | None, ...], Mapping[str, Mapping[str, Any]]]]
    count: int

    def names(self) -> list[list[str]]:
        """The first two columns: the slices, and the numbers of their segments."""
        return [
            [
                "*".join(self.labels),
                *("*".join(map(value_text, values)) for values, _ in self.slices),
            ],
            ["segments", *(_segments(of_slice) for _, of_slice in self.slices)],
        ]

    def line(self, form: str) -> str:
        """A line about slices that are not shown, or "". `form` is a format that has them all."""
        if len(self.slices) == self.count:
            return ""
        return (
            f"These are the {len(self.slices)} slices with the most segments, of {self.count}; "
            f"--format {form} shows all of them"
        )


def items_of(entries: Iterable[Mapping[str, Any]], most: int | None) -> Iterator[Item]:
    """The items of --slice_by to which the entries of slices belong.

    Args:
      entries: scores or comparisons; those of the whole corpus are left out.
      most: the largest number of slices of an item, which are those with the most segments; None
        for all.
    """
    slices = [entry for entry in entries if entry["slice"] is not None]
    for labels, of_item in itertools.groupby(slices, key=lambda entry: tuple(entry["slice"])):
        by_slice = itertools.groupby(of_item, key=lambda entry: tuple(entry["slice"].values()))
        of_slices = [
            (values, {entry["system"]: entry for entry in of_slice})
            for values, of_slice in by_slice
        ]
        shown = of_slices
        if most is not None and len(of_slices) > most:
            largest = sorted(of_slices, key=lambda of_slice: -_most_segments(of_slice[1]))[:most]
            kept = {values for values, _ in largest}
            shown = [of_slice for of_slice in of_slices if of_slice[0] in kept]
        yield Item(labels, shown, len(of_slices))


def _estimate(score: Mapping[str, Any] | None, decimals: int) -> Estimate:
    """A score. A slice can lack a system, and an average can be missing."""
    if score is None or score["score"] is None:
        return "", ""
    return score_estimate(score, decimals)


def _most_segments(of_slice: Mapping[str, Mapping[str, Any]]) -> int:
    return max(int(score["segments"]) for score in of_slice.values())


def _segments(of_slice: Mapping[str, Mapping[str, Any]]) -> str:
    """The number of segments; if the systems have different numbers, the least and the most."""
    numbers: Sequence[int] = sorted({score["segments"] for score in of_slice.values()})
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"


def value_text(value: str | None) -> str:
    """The value of a label. Values that could look like others are written as in JSON."""
    if value is None:
        return "null"
    is_plain = value.isprintable() and value == value.strip() and not value.startswith('"')
    return value if is_plain and value not in ("", "null") else json_text(value)


def signature_lines(document: Mapping[str, Any]) -> list[str]:
    """The signature; or each signature with its languages, if they have different ones.

    Args:
      document: what the result document says about a metric.
    """
    name = document["name"]
    if document["signature"] is not None:
        return [f"{name}|{document['signature']}"]
    names: dict[str, list[str]] = {}
    for of_language in document["languages"]:
        (language,) = of_language["slice"].values()
        names.setdefault(of_language["signature"], []).append(language)
    return [
        f"{name}|{signature} ({joined(languages, _SHOWN_LANGUAGES)})"
        for signature, languages in names.items()
    ]


def label_of_languages(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The label of the languages' slices, as the only item; nothing without languages."""
    return tuple(document["languages"][0]["slice"]) if "languages" in document else ()


def label_of_tasks(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The label of the slices of tasks, as the only item; nothing if tasks have a common score."""
    return tuple(document["tasks"][0]["slice"]) if "tasks" in document else ()


def tokenizers(document: Mapping[str, Any]) -> dict[str | None, str]:
    """The tokenizer of each language."""
    return {
        language: of_language["tokenize"]
        for of_language in document["languages"]
        for language in of_language["slice"].values()
    }


def signature_of(document: Mapping[str, Any], score: Mapping[str, Any]) -> str | None:
    """The signature of an entry of `scores`."""
    of_slice = score["slice"]
    signature: str | None = document["signature"]
    if of_slice is not None and "languages" in document:
        (label,) = label_of_languages(document)
        signatures = {
            of_language["slice"][label]: of_language["signature"]
            for of_language in document["languages"]
        }
        signature = signatures[of_slice[label]]
    return signature
