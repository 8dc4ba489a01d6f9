"""Rewrites texts as jiwer's default transforms do, before they are split.

jiwer replaces two or more characters of white space by a space (`RemoveMultipleSpaces`), removes
white space at both ends (`Strip`), and splits words at spaces only. So a single tab or no-break
space between letters is a part of a word. White space is that of Python's `str.isspace`. The texts
of most rows have no white space but spaces between words, so that nothing changes. Compiled code
finds the other rows, and Python's own `re` and `str` change them, as in jiwer.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.code_contents import LazyModule
from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import BLOCK, load_byte
from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.byte_classes import other_white_space_masks
from beam_bleu.transforms.text.jiwer import JiwerSymbols
from beam_bleu.transforms.text.rewriting import finding, rewritten

pc: Any = LazyModule("pyarrow.compute")  # to import it takes long

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def jiwer_rewritten(texts: TextColumns, choices: JiwerSymbols) -> TextColumns:
    """The texts after jiwer's transforms, but for the split; the same object if none changes."""
    if choices.no_punct:
        texts = texts.changed(_without_punctuation)
    return rewritten(texts, _find_white_space, _as_words if choices.symbol == "word" else str.strip)


def _as_words(text: str) -> str:
    return re.sub(r"\s\s+", " ", text).strip()


def _without_punctuation(column: pa.LargeStringArray) -> pa.LargeStringArray:
    return padded(pc.replace_substring_regex(column, _punctuation(), ""))


@cache
def _punctuation() -> str:
    """An expression for punctuation marks."""
    codes = (
        f"\\x{{{code:x}}}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)).startswith("P")
    )
    return f"[{''.join(codes)}]+"


@inner
def _has_white_space(start, end):
    """Whether a text has other white space than spaces, or spaces at an end."""
    if start < end and (load_byte(start) == ord(" ") or load_byte(end - 1) == ord(" ")):
        return True
    for block in range(start, end, BLOCK):
        inside = _ALL if end - block >= BLOCK else (_ONE << np.uint64(end - block)) - _ONE
        one, longer = other_white_space_masks(block)
        if (one | longer) & inside != _NOTHING:
            return True
    return False


_find_white_space = finding(_has_white_space)
