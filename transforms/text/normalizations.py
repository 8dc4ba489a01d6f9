"""The Unicode normalizations (Unicode Standard Annex #15).

`normalizing.py` has one function for all of them: Python's `unicodedata` takes the
name of a form, and raises an error for an unknown name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import table

NormalizationName = Literal["nfc", "nfkc"]
Form = Literal["NFC", "NFKC", "NFD", "NFKD"]
"""The names of the forms in Python's `unicodedata`."""


@dataclasses.dataclass(frozen=True)
class Normalization:
    """A row of `NORMALIZATIONS`. sacreBLEU does not normalize.

    Attributes:
      name: its name here.
      description: what it does.
      form: the form of the texts afterwards.
      decomposed: the form with the same characters, decomposed.
    """

    name: NormalizationName
    description: str
    form: Form
    decomposed: Form


NORMALIZATIONS: Mapping[NormalizationName, Normalization] = table(
    Normalization("nfc", "canonical composition", "NFC", "NFD"),
    Normalization("nfkc", "compatibility composition", "NFKC", "NFKD"),
)
"""All normalizations, in the order in which they are shown."""
