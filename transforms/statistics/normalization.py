"""Unicode normalization of a column of texts, exactly as the running Python has it."""

from __future__ import annotations

import unicodedata
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_FORMS: dict[str, Literal["NFC", "NFKC"]] = {"nfc": "NFC", "nfkc": "NFKC"}


def normalized(column: pa.LargeStringArray, normalize: str) -> pa.LargeStringArray:
    """The texts in a normalization form, "nfc" or "nfkc"; a null stays one."""
    form = _FORMS[normalize]
    # ASCII is the same in every form.
    rows = np.flatnonzero(pc.invert(pc.string_is_ascii(column)).fill_null(False))
    changed = np.zeros(len(column), np.bool_)
    changes = []
    for row, text in zip(rows, column.take(pa.array(rows)).to_pylist(), strict=True):
        other = unicodedata.normalize(form, text)
        if other is not text:  # Python gives the same object back where nothing changes
            changed[row] = True
            changes.append(other)
    if not changes:
        return column
    return pc.replace_with_mask(column, pa.array(changed), pa.array(changes, pa.large_string()))
