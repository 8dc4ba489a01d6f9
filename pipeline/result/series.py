"""Series: what gates and histories follow, and when two scores of one can be compared.

A series is the scores of a system by a metric, on the whole corpus or on a slice. A result has one
score of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from beam_bleu.pipeline.display.printable import value_text
from beam_bleu.pipeline.result.rows import ComparedRow, Result, ScoreRow
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

_OF_TOKENS = {
    *("tok", "unicode"),
    *(package for row in TOKENIZERS.values() for package in row.versions),
}
"""Fields that can differ between languages. All others are the same for them."""


class Key(NamedTuple):
    """What a series is of. The slice is a text, such as domain=news; "" is the whole corpus."""

    metric: MetricWord
    of_slice: str
    system: str

    @property
    def shown(self) -> str:
        """The system, and the slice in brackets, as thresholds name them."""
        return f"{self.system}[{self.of_slice}]" if self.of_slice else self.system


class Definition(NamedTuple):
    """How the scores of a metric were made.

    Attributes:
      name: its name for readers, which says the beta of chrF.
      chosen: the name, and the fields of the signature that a user chooses; of languages, those
        that all have.
      references: the numbers of references of each segment, as the signature says them.
      parts: the texts of the languages or tasks whose mean the whole corpus has; none if it has a
        score of its own.
    """

    name: str
    chosen: str
    references: str
    parts: tuple[str, ...]

    @property
    def shown(self) -> str:
        """What must be the same for any two scores that are compared."""
        return f"{self.chosen}|nrefs:{self.references}" if self.references else self.chosen

    @property
    def whole(self) -> str:
        """What the scores of the whole corpus are."""
        parts = ", ".join(self.parts)
        return f"the mean of {parts}" if parts else "the score of the whole corpus"


def slice_text(group: Mapping[str, str | None]) -> str:
    """The text that names a slice.

    >>> slice_text({"domain": "news", "lang_pair": "en-de"})
    'domain=news,lang_pair=en-de'
    """
    return ",".join(f"{label}={value_text(value)}" for label, value in group.items())


def labels_of(row: ScoreRow | ComparedRow) -> Mapping[str, str | None]:
    """The labels of the slice of a row and their values; none for the whole corpus."""
    return row.group if isinstance(row.group, Mapping) else {}


def key_of(row: ScoreRow | ComparedRow) -> Key:
    """The series of a score."""
    return Key(row.metric, slice_text(labels_of(row)), row.system)


def series_of(result: Result) -> dict[Key, ScoreRow]:
    """The score of each series, metric by metric, and first those of the whole corpus.

    Where languages have different tokenizers, or tasks no common score, the whole corpus has their
    mean.
    """
    scores: dict[Key, ScoreRow] = {}
    for metric in result.words:
        whole = result.whole(metric) or result.averages(metric)
        scores |= {key_of(row): row for row in (*whole, *result.slices(metric))}
    return scores


def definition_of(result: Result, metric: MetricWord) -> Definition:
    """How the scores of a metric were made."""
    names, languages, label = result.metric(metric), result.languages_of(metric), None
    if languages:
        (label,) = {label for language in languages for label in language["slice"]}
    signatures = [language["signature"] for language in languages] or [str(names.signature)]
    references = {_fields(signature).get("nrefs", "") for signature in signatures}
    parts = [] if result.whole(metric) else [part["slice"] for part in languages or result.tasks]
    return Definition(
        names.name,
        "|".join([names.name, *sorted({choices_in(signature, label) for signature in signatures})]),
        ",".join(sorted(references)),
        tuple(sorted(map(slice_text, parts))),
    )


def choices_in(signature: str, language_label: str | None = None) -> str:
    """The fields of a signature that a user has chosen, except those that languages can change."""
    left_out = {"nrefs", "version"} | (set() if language_label is None else _OF_TOKENS)
    fields = [
        f"{name}:{value}" for name, value in _fields(signature).items() if name not in left_out
    ]
    return "|".join(fields if language_label is None else [language_label, *fields])


def _fields(signature: str) -> dict[str, str]:
    fields = (field.partition(":") for field in signature.split("|"))
    return {name: value for name, _, value in fields}
