"""The tables of slices: a row for each slice, a column for each system.

Languages and tasks are slices, too, with tokenizers, signatures and means of their own.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.fitted_rows import Rows
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.pipeline.display.row_order import (
    USUAL_ROWS,
    RowChoice,
    SliceOrder,
    SortName,
    cut_rows,
    sentence_about_hidden,
    without_significance,
)
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.score.shown_numbers import Estimate, errors_of, estimates, score_estimate

SHOWN_SLICES = 20
"""The largest number of slices of one table on a terminal."""

MACRO_AVERAGE = "macro average"
"""The name of the row with the means of the languages, or of the tasks."""

_SHOWN_LANGUAGES = 8


def of_whole(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The scores of the whole corpus, system by system."""
    return [score for score in document["scores"] if score["slice"] is None]


def slice_tables(
    document: Mapping[str, Any],
    asked: int | None,
    most: int | None = None,
    choice: RowChoice = USUAL_ROWS,
) -> list[tuple[Rows, str]]:
    """A table for each item of --slice_by, and a line about slices that it does not show, or "".

    Args:
      document: what the result document says about a metric.
      asked: how many decimals scores have; None if that depends on their standard errors.
      most: the largest number of slices of a table; None for all.
      choice: their order. Without one, they are in the order of the document, and if there are too
        many, those with the worst differences or scores are shown.
    """
    order = SliceOrder(document)
    # A corpus in several languages or tasks can have no score for the whole, but it has averages.
    systems = [score["system"] for score in document.get("macro_average", of_whole(document))]
    tables: list[tuple[Rows, str]] = []
    for item in items_of(document["scores"]):
        item = item.first(order, choice.sort, most)
        has_languages = item.labels == label_of_languages(document)
        has_tasks = item.labels == label_of_tasks(document)
        columns = item.names()
        if has_languages:
            tokenizer = tokenizers(document)
            shown = ["tokenizer", *(tokenizer[str(values[0])] for values, _ in item.slices), ""]
            columns = [[*columns[0], MACRO_AVERAGE], shown, [*columns[1], ""]]
        elif has_tasks:
            columns = [[*columns[0], MACRO_AVERAGE], [*columns[1], ""]]
        of_systems = []
        for number, system in enumerate(systems):
            scores = [of_slice.get(system, NO_SCORE) for _, of_slice in item.slices]
            if has_languages or has_tasks:
                scores.append(document["macro_average"][number])
            of_systems.append(scores)
        errors = errors_of(itertools.chain.from_iterable(of_systems))
        decimals = decimals_of(document["metric"], asked, errors)
        for system, scores in zip(systems, of_systems, strict=True):
            columns.append([system, *estimates([_estimate(score, decimals) for score in scores])])
        tables.append((list(zip(*columns, strict=True)), item.line("tsv")))
    return tables


@dataclasses.dataclass(frozen=True)
class Item:
    """What a table shows of an item of --slice_by.

    Attributes:
      labels: the labels of the item.
      slices: for each slice that is shown, the values of its labels, and its entries by system.
      hidden: what is said about slices that are not shown.
    """

    labels: tuple[str, ...]
    slices: Sequence[tuple[tuple[str | None, ...], Mapping[str, Mapping[str, Any]]]]
    hidden: tuple[str, ...] = ()

    def first(self, order: SliceOrder, sort: SortName | None, most: int | None) -> Item:
        """The item with its first slices.

        Args:
          order: the orders of slices.
          sort: one of them; None to show the worst slices, in their own order.
          most: how many slices are shown; None for all.
        """
        by = sort or order.worst
        places = sorted(
            range(len(self.slices)),
            key=lambda place: order.key(
                by, tuple(zip(self.labels, self.slices[place][0], strict=True))
            ),
        )[:most]
        if sort is None:
            places.sort()
        hidden = self.hidden
        if len(places) < len(self.slices):
            hidden += (cut_rows(len(places), len(self.slices), "slice", by),)
        slices = [self.slices[place] for place in places]
        return dataclasses.replace(self, slices=slices, hidden=hidden)

    def only_significant(self, order: SliceOrder) -> Item:
        """The item without the slices in which no system differs significantly."""
        slices = [
            (values, of_slice)
            for values, of_slice in self.slices
            if tuple(zip(self.labels, values, strict=True)) in order.significant
        ]
        hidden = self.hidden
        if left_out := len(self.slices) - len(slices):
            hidden += (without_significance(left_out, len(self.slices), "slice"),)
        return dataclasses.replace(self, slices=slices, hidden=hidden)

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
        return sentence_about_hidden(self.hidden, form)


def items_of(entries: Iterable[Mapping[str, Any]]) -> Iterator[Item]:
    """The items of --slice_by to which the entries of slices belong, with all their slices.

    Args:
      entries: scores or comparisons; those of the whole corpus are left out.
    """
    slices = [entry for entry in entries if entry["slice"] is not None]
    for labels, of_item in itertools.groupby(slices, key=lambda entry: tuple(entry["slice"])):
        by_slice = itertools.groupby(of_item, key=lambda entry: tuple(entry["slice"].values()))
        of_slices = [
            (values, {entry["system"]: entry for entry in of_slice})
            for values, of_slice in by_slice
        ]
        yield Item(labels, of_slices)


NO_SCORE: Mapping[str, Any] = {"score": None}
"""A slice can lack a system."""


def _estimate(score: Mapping[str, Any], decimals: int) -> Estimate:
    """A score. One can be missing."""
    return ("", "") if score["score"] is None else score_estimate(score, decimals)


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


def value_of(text: str) -> str | None:
    """The value of a label that a user writes as `value_text` does; other texts are plain values.

    >>> value_of("news"), value_of("null"), value_of('"null"'), value_of("")
    ('news', None, 'null', '')

    Raises:
      ValueError: a text with a quotation mark in front is not a string of JSON.
    """
    if not text.startswith('"'):
        return None if text == value_text(None) else text
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError(text)
    return value


def signature_lines(document: Mapping[str, Any]) -> list[str]:
    """The signature; or each signature with its languages, if they have different ones.

    Args:
      document: what the result document says about a metric.
    """
    return [
        f"{document['name']}|{signature}" + (f" ({languages})" if languages else "")
        for languages, _, signature in signatures_of(document)
    ]


def signatures_of(document: Mapping[str, Any]) -> list[tuple[str, str | None, str]]:
    """The languages, sacreBLEU's signature and ours of each definition of a metric.

    Without languages that differ there is one definition, and "" in place of languages. sacreBLEU's
    signature is None if sacreBLEU does not have the definition.
    """
    if document["signature"] is not None:
        return [("", document["sacrebleu_signature"], document["signature"])]
    names: dict[tuple[str | None, str], list[str]] = {}
    for of_language in document["languages"]:
        (language,) = of_language["slice"].values()
        signatures = (of_language["sacrebleu_signature"], of_language["signature"])
        names.setdefault(signatures, []).append(language)
    return [
        (joined(languages, _SHOWN_LANGUAGES), *signatures)
        for signatures, languages in names.items()
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
