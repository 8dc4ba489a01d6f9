"""Unicode normalization of a column of texts, with the same result as the running Python.

Compiled code finds the texts that are normalized already, as most are: a text is its own normal
form if all its code points are starters that normalization neither changes nor composes with the
code point before them (Unicode Standard Annex #15, section 9). `unicodedata` normalizes the others.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.memory import load_byte, load_word, lowest_bit
from beam_bleu.transforms.native.text_columns import padded, spans
from beam_bleu.transforms.native.utf8 import code_point, letter_size
from beam_bleu.transforms.text.text import NormalizationName

_Form = Literal["NFC", "NFKC"]
_FORMS: dict[NormalizationName, _Form] = {"nfc": "NFC", "nfkc": "NFKC"}

_LAST_LOOKED_UP = 0x2FFFF  # texts with one of the rare characters above it are left to Python

_NOT_ASCII = np.uint64(0x8080808080808080)


def normalized(column: pa.LargeStringArray, normalize: NormalizationName) -> pa.LargeStringArray:
    """The texts in a normalization. A null stays a null."""
    column = padded(column)
    form = _FORMS[normalize]
    places = spans([column])
    doubtful = np.zeros(len(column), np.bool_)
    _find_doubtful(places.starts[0], places.ends[0], _settled(form), doubtful)
    rows = np.flatnonzero(doubtful)
    changed = np.zeros(len(column), np.bool_)
    changes = []
    for row, text in zip(rows, column.take(pa.array(rows)).to_pylist(), strict=True):
        other = unicodedata.normalize(form, text)
        if other is not text:  # Python returns the same object if nothing changes
            changed[row] = True
            changes.append(other)
    if not changes:
        return column
    return pc.replace_with_mask(column, pa.array(changed), pa.array(changes, pa.large_string()))


@cache
def _settled(form: _Form) -> npt.NDArray[np.bool_]:
    """For each code point, whether it never changes, next to any other code points."""
    table = np.zeros(_LAST_LOOKED_UP + 1, np.bool_)
    for code in range(_LAST_LOOKED_UP + 1):
        letter = chr(code)
        table[code] = not unicodedata.combining(letter) and unicodedata.is_normalized(form, letter)
    # The second half of another character can be composed with its first half.
    for code in range(_LAST_LOOKED_UP + 1):
        halves = unicodedata.decomposition(chr(code)).split()
        if len(halves) == 2 and not halves[0].startswith("<"):
            table[int(halves[1], 16)] = False
    table[0x1161:0x1176] = table[0x11A8:0x11C3] = False  # vowels and finals of Hangul
    return table


@compiled
def _find_doubtful(starts, ends, settled, doubtful):
    """Marks the texts with a code point that is not settled."""
    for row in range(starts.size):
        at, end = starts[row], ends[row]
        while at < end:
            others = load_word(at) & _NOT_ASCII
            if others == np.uint64(0):
                at += 8
                continue
            at += lowest_bit(others) >> 3
            if at >= end:
                break
            size = letter_size(load_byte(at))
            code = code_point(at, size)
            if code >= settled.size or not settled[code]:
                doubtful[row] = True
                break
            at += size
