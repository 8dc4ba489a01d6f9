"""Rewrites texts as jiwer's default transforms do, before they are split.

jiwer replaces two or more characters of white space by a space (`RemoveMultipleSpaces`), removes
white space at both ends (`Strip`), and splits words at spaces only. So a single tab or no-break
space between letters is a part of a word. White space is that of Python's `str.isspace`.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.native.compiling import LazyModule
from beam_bleu.transforms.text.byte_classes import WHITE_SPACE
from beam_bleu.transforms.text.jiwer import JiwerSymbols

pc: Any = LazyModule("pyarrow.compute")  # to import it takes long

_WHITE_SPACE = "".join(map(chr, WHITE_SPACE))


def jiwer_rewritten(column: pa.LargeStringArray, choices: JiwerSymbols) -> pa.LargeStringArray:
    """The texts after jiwer's transforms, but for the split."""
    if choices.no_punct:
        column = pc.replace_substring_regex(column, _punctuation(), "")
    if choices.symbol == "word":
        column = pc.replace_substring_regex(column, f"[{_WHITE_SPACE}]{{2,}}", " ")
    return pc.utf8_trim(column, _WHITE_SPACE)


@cache
def _punctuation() -> str:
    """An expression for punctuation marks."""
    codes = (
        f"\\x{{{code:x}}}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)).startswith("P")
    )
    return f"[{''.join(codes)}]+"
