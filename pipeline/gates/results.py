"""A result as gates see it: its scores, and what makes them comparable with others."""

from __future__ import annotations

import dataclasses
import itertools
import math
import sys
from collections.abc import Container, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.slices import of_whole, value_text
from beam_bleu.pipeline.output.metric_views import metrics_of, part_of
from beam_bleu.transforms.known_metrics import presentation_of, row_of
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

_NOT_OF_USER = ("nrefs", "version")
"""Fields of a signature that follow from the texts and from the version of beam-bleu."""

_OF_TOKENS = {
    *("tok", "unicode"),
    *(package for row in TOKENIZERS.values() for package in row.versions),
}
"""Fields that can differ between languages. All others are the same for them."""

OF_CORPUS = "the score of the whole corpus"

_ROUNDING = 1e-9
"""Floating-point arithmetic makes a perfect score a little larger than the largest possible one."""


@dataclasses.dataclass(frozen=True)
class GatedScore:
    """The score of a system on the whole corpus or on a slice.

    Attributes:
      score: 0 to the largest possible one of the metric; None if there is none.
      standard_error: of the score; None if there is none.
      counts: the numbers from which it is computed, as the result document has them; () for a
        mean of languages.
      labels: the labels of the slice and their values; none for the whole corpus.
    """

    score: float | None
    standard_error: float | None
    counts: tuple[Any, ...] = ()
    labels: Mapping[str, str | None] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class GatedResult:
    """A metric of a result as gates see it. It has only what they need, so a job can send it.

    Attributes:
      metric: the name of the metric for readers, such as "chrF2".
      name: the path as the user gave it, for messages; "" for the result of this run.
      definition: how the scores were made, without what follows from the texts.
      references: the number of references of each segment, as the signature says it.
      scores: the scores by the slice's text ("" for the whole corpus) and the system. If languages
        have different tokenizers, or tasks no common score, the whole corpus has the mean of them.
      whole: what the scores of the whole corpus are: `OF_CORPUS`, or the mean of which languages
        or tasks.
      means_of: what the scores of the whole corpus are, in short, if they are means.
    """

    metric: str
    name: str
    definition: str
    references: str
    scores: Mapping[tuple[str, str], GatedScore]
    whole: str = OF_CORPUS
    means_of: str = ""

    @property
    def keys(self) -> list[tuple[str, str]]:
        """The slice and the system of each score, in the order of the result."""
        return list(self.scores)

    def keys_of(self, of_slice: str) -> list[tuple[str, str]]:
        """The keys of a slice; "" for the whole corpus."""
        return [key for key in self.scores if key[0] == of_slice]


GatedResults = Mapping[str, GatedResult]
"""What gates see of each metric of a result."""


def gated(document: Mapping[str, Any], name: str = "") -> GatedResults:
    """What gates see of a result document.

    Args:
      document: the document.
      name: its path, for messages.

    Raises:
      KeyError, TypeError, ValueError: it is not a result document.
    """
    metrics = metrics_of(document)
    scored = {entry["metric"] for entry in document["scores"]}
    if not metrics or len({*metrics}) < len(metrics) or not scored <= {*metrics}:
        raise ValueError("it has no metrics, a metric twice, or scores of a metric without a name")
    return {metric: _gated(part_of(document, metric), metric, name) for metric in metrics}


def _gated(document: Mapping[str, Any], metric: str, name: str) -> GatedResult:
    """What gates see of the part of a metric. The arguments are those of `gated`."""
    counts = ("segments", *presentation_of(metric).COUNTS)
    least = -sys.float_info.max if row_of(metric).can_be_negative else 0
    # Without a score of the whole corpus, a reader first looks at its mean of languages or tasks.
    items = [
        (("", entry["system"]), _of_entry(entry, counts, least)) for entry in of_whole(document)
    ]
    whole, means_of = OF_CORPUS, ""
    if not items:
        averages = document.get("macro_average", ())
        items = [(("", average["system"]), _estimate(average, least)) for average in averages]
        whole = _mean_of(document)
        what = "languages" if document.get("languages") else "tasks"
        means_of = f"mean of {len(_parts(document))} {what}"
    items += [
        ((slice_text(entry["slice"]), entry["system"]), _of_entry(entry, counts, least))
        for entry in document["scores"]
        if entry["slice"] is not None
    ]
    scores = dict(items)
    if len(scores) != len(items) or not all(isinstance(key[1], str) for key in scores):
        raise ValueError("a system has two scores, or a name that is not text")
    if not isinstance(document["name"], str):
        raise TypeError("the name of the metric is not text")
    made = definition(document)
    highest = row_of(metric).highest_of(made)
    most = math.inf if highest is None else highest + _ROUNDING
    if any(score.score is not None and score.score > most for score in scores.values()):
        raise ValueError("a score is too high")
    references = _references(document)
    return GatedResult(document["name"], name, made, references, scores, whole, means_of)


def _parts(document: Mapping[str, Any]) -> Sequence[Any]:
    """The languages or tasks of a corpus that has no common score."""
    parts: Sequence[Any] = document.get("languages") or document.get("tasks", ())
    return parts


def _mean_of(document: Mapping[str, Any]) -> str:
    parts = sorted(slice_text(part["slice"]) for part in _parts(document))
    return f"the mean of {', '.join(parts)}"


def _of_entry(entry: Mapping[str, Any], names: Sequence[str], least: float) -> GatedScore:
    """The score of an entry, `least` or more, with the counts of these names.

    Raises:
      KeyError, TypeError, ValueError: the entry has no such score.
    """
    counts = tuple(
        tuple(entry[name]) if isinstance(entry[name], list) else entry[name] for name in names
    )
    for number in itertools.chain.from_iterable(
        count if isinstance(count, tuple) else (count,) for count in counts
    ):
        _require_number(number, least)
    _require_number(entry["score"], least)
    labels = {} if entry["slice"] is None else entry["slice"]
    return dataclasses.replace(_estimate(entry, least), counts=counts, labels=labels)


def _estimate(entry: Mapping[str, Any], least: float) -> GatedScore:
    """The score and the standard error of an entry, without its counts; both can be null."""
    # Results of earlier versions have no standard errors.
    score, error = entry["score"], entry.get("standard_error")
    if score is not None:
        _require_number(score, least)
    if error is not None:
        _require_number(error)
    return GatedScore(None if score is None else float(score), error)


def _require_number(value: object, least: float = 0) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    if not least <= value <= sys.float_info.max:  # not a number, too
        raise ValueError(f"{value!r} is not a possible number")


def slice_text(of_slice: Mapping[str, str | None]) -> str:
    """The text that names a slice.

    >>> slice_text({"domain": "news", "lang_pair": "en-de"})
    'domain=news,lang_pair=en-de'
    """
    return ",".join(f"{label}={value_text(value)}" for label, value in of_slice.items())


def definition(document: Mapping[str, Any]) -> str:
    """How the scores of a metric's part were made, without what follows from the texts."""
    if "languages" in document:
        kinds = {_fields(language["signature"], _OF_TOKENS) for language in document["languages"]}
        (label,) = {name for language in document["languages"] for name in language["slice"]}
        return f"{label}|{'|'.join(sorted(kinds))}"
    return definition_of(document["signature"])


def definition_of(signature: str, language_label: str | None = None) -> str:
    """How scores are made, by their signature.

    Args:
      signature: a signature.
      language_label: the label that chooses the tokenizer; None if there is one for all segments.
    """
    if language_label is not None:
        return f"{language_label}|{_fields(signature, _OF_TOKENS)}"
    return _fields(signature)


def _fields(signature: str, others: Container[str] = ()) -> str:
    """The fields that a user has chosen, without these others."""
    fields = [field.partition(":") for field in signature.split("|")]
    return "|".join(
        f"{name}:{value}"
        for name, _, value in fields
        if name not in _NOT_OF_USER and name not in others
    )


def _references(document: Mapping[str, Any]) -> str:
    signatures = (
        [language["signature"] for language in document["languages"]]
        if "languages" in document
        else [document["signature"]]
    )
    parsed = [
        dict(field.split(":", 1) for field in signature.split("|")) for signature in signatures
    ]
    return ",".join(sorted({fields.get("nrefs", "") for fields in parsed}))
