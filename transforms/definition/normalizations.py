"""The Unicode normalizations (Unicode Standard Annex #15).

`statistics/normalization.py` has the function, one for all of them: Python's `unicodedata`
takes the name of a form, and refuses one that it does not know.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import table

NormalizationName = Literal["nfc", "nfkc"]
Form = Literal["NFC", "NFKC", "NFD", "NFKD"]
"""The forms, as Python's `unicodedata` calls them."""


@dataclasses.dataclass(frozen=True)
class Normalization:
    """A row of `NORMALIZATIONS`; sacreBLEU has none of them.

    Attributes:
      name: what it is called here.
      description: what it does.
      form: the form of the texts.
      decomposed: the form that has the same characters decomposed.
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
