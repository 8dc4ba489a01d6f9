"""What the tables show of a corpus in several languages or tasks: tokenizers, signatures, means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beam_bleu.transforms.errors import joined

MACRO_AVERAGE = "macro average"
"""The name of the row with the means of the languages, or of the tasks."""

_SHOWN_LANGUAGES = 8


def signature_lines(document: Mapping[str, Any]) -> list[str]:
    """The signature; or each signature with its languages, if they have different ones.

    Args:
      document: what the result document says about a metric.
    """
    name = document["name"]
    if document["signature"] is not None:
        return [f"{name}|{document['signature']}"]
    names: dict[str, list[str]] = {}
    for each in document["languages"]:
        (language,) = each["slice"].values()
        names.setdefault(each["signature"], []).append(language)
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
        language: each["tokenize"]
        for each in document["languages"]
        for language in each["slice"].values()
    }


def signature_of(document: Mapping[str, Any], score: Mapping[str, Any]) -> str | None:
    """The signature of an entry of `scores`."""
    of_slice = score["slice"]
    signature: str | None = document["signature"]
    if of_slice is not None and "languages" in document:
        (label,) = label_of_languages(document)
        signatures = {each["slice"][label]: each["signature"] for each in document["languages"]}
        signature = signatures[of_slice[label]]
    return signature
