"""What the signatures of all metrics share: how they are written, and the versions they name."""

from __future__ import annotations

import importlib.metadata
import unicodedata
from collections.abc import Mapping

from beam_bleu.transforms.text.cases import CASES
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

SACREBLEU = "2.6.0"
"""The version of sacreBLEU that gives the same numbers."""


def signature_line(fields: Mapping[str, str]) -> str:
    """A signature: one line with the fields, in their order."""
    return "|".join(f"{name}:{value}" for name, value in fields.items())


def reference_field(fewest: int, most: int) -> str:
    """The field `nrefs`, from the least and the largest number of references of a segment."""
    return str(most) if fewest == most else "var"


def text_versions(text: TextName) -> dict[str, str]:
    """The versions on which a text's tokens depend, without beam-bleu's own version.

    A new version of a library can know more code points, and have other models and
    dictionaries. So it can give other numbers.
    """
    versions = {}
    if CASES[text.lowercase].by_unicode or text.normalize is not None:
        versions["unicode"] = unicodedata.unidata_version
    for package in TOKENIZERS[text.tokenize].versions:
        versions[package] = importlib.metadata.version(package)
    return versions
