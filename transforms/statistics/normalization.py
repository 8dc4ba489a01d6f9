"""Unicode normalization of a column of texts, exactly as the running Python has it.

Most texts are normalized already, and compiled code finds out: a text whose code
points are all starters that normalization neither changes nor joins to what stands
before them is its own normal form (Unicode Standard Annex #15, section 9). The
others go through Python's own `unicodedata`. It sorts the marks of a letter by insertion,
so a run of 100,000 marks would take it minutes: long runs are sorted before.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.definition.normalizations import NORMALIZATIONS, Form
from beam_bleu.transforms.native.columns import padded, spans
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.memory import load_byte, load_word, lowest_bit
from beam_bleu.transforms.statistics.code_points import code_point, letter_size

_LAST_LOOKED_UP = 0x2FFFF  # behind it there are few characters, and they are left to Python

_LONG_RUN = 32
"""Marks that are left to Python, one behind the other: Stream-Safe Text (section 13) has 30."""

_NOT_ASCII = np.uint64(0x8080808080808080)


def normalized(column: pa.LargeStringArray, normalize: str) -> pa.LargeStringArray:
    """The texts in a normalization of `NORMALIZATIONS`; a null stays one."""
    column = padded(column)
    form = NORMALIZATIONS[normalize].form
    starts, ends = spans([column])
    doubtful = np.zeros(len(column), np.bool_)
    _find_doubtful(starts[0], ends[0], _settled(form), doubtful)
    rows = np.flatnonzero(doubtful)
    changed = np.zeros(len(column), np.bool_)
    changes = []
    for row, text in zip(rows, column.take(pa.array(rows)).to_pylist(), strict=True):
        other = unicodedata.normalize(form, _with_marks_sorted(text, normalize))
        if other is not text:  # Python gives the same object back where nothing changes
            changed[row] = True
            changes.append(other)
    if not changes:
        return column
    return pc.replace_with_mask(column, pa.array(changed), pa.array(changes, pa.large_string()))


@cache
def _settled(form: Form) -> npt.NDArray[np.bool_]:
    """Of each code point, whether it stays as it is whatever stands round it."""
    table = np.zeros(_LAST_LOOKED_UP + 1, np.bool_)
    for code in range(_LAST_LOOKED_UP + 1):
        letter = chr(code)
        table[code] = not unicodedata.combining(letter) and unicodedata.is_normalized(form, letter)
    # What is the second half of another character may be joined to its first half.
    for code in range(_LAST_LOOKED_UP + 1):
        halves = unicodedata.decomposition(chr(code)).split()
        if len(halves) == 2 and not halves[0].startswith("<"):
            table[int(halves[1], 16)] = False
    table[0x1161:0x1176] = table[0x11A8:0x11C3] = False  # vowels and finals of Hangul
    return table


def _with_marks_sorted(text: str, normalize: str) -> str:
    """The same text, or one of the same normal form, whose long runs of marks are in order.

    Marks are decomposed, then sorted by their class; those of one class stay in their
    order (the Unicode Standard, section 3.11).
    """
    if len(text) < _LONG_RUN:
        return text
    decomposed, is_mark = _marks(normalize)
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    marks = is_mark[np.minimum(codes, _LAST_LOOKED_UP)]
    edges = np.flatnonzero(np.diff(marks, prepend=False, append=False)).tolist()
    pieces = []
    written = 0
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if end - start >= _LONG_RUN:
            run = "".join(decomposed[mark] for mark in text[start:end])
            pieces += [text[written:start], *sorted(run, key=unicodedata.combining)]
            written = end
    return "".join([*pieces, text[written:]]) if pieces else text


@cache
def _marks(normalize: str) -> tuple[dict[str, str], npt.NDArray[np.bool_]]:
    """What each mark decomposes to, which are marks only; of each code point, whether it is one."""
    form = NORMALIZATIONS[normalize].decomposed
    decomposed = {}
    is_mark = np.zeros(_LAST_LOOKED_UP + 1, np.bool_)
    for code in range(_LAST_LOOKED_UP):
        letter = chr(code)
        if unicodedata.combining(letter) or unicodedata.decomposition(letter):
            parts = unicodedata.normalize(form, letter)
            if all(map(unicodedata.combining, parts)):
                decomposed[letter] = parts
                is_mark[code] = True
    return decomposed, is_mark


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
