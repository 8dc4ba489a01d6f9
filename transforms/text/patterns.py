r"""Changes and counts of texts by Arrow's regular expressions.

White space is that of Python's `str.isspace`.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.text.byte_classes import WHITE_SPACE
from beam_bleu.transforms.text.text import Text

_WHITE_SPACE = "".join(map(chr, WHITE_SPACE))

_REPLACED = (
    ("\n-", ""),
    ("\n", " "),
    ("&quot;", '"'),
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
)
"""Texts and what replaces them. As in 13a, &amp;lt; becomes <, but &amp;quot; becomes &quot;."""

_SEPARATED = (
    (f"[{_WHITE_SPACE}]+$", ""),
    (r"([!-&(-+/:-@\[-`{-~])", r" \1 "),
    (r"'s( |$)", r" 's "),
    (r"(^|[^0-9])([.,])", r"\1 \2 "),
    (r"([.,])([^0-9]|$)", r" \1 \2"),
    (r"([0-9])(-)", r"\1 \2 "),
)
"""Expressions, and what replaces their matches."""

_ASIAN_MARKS = (
    "\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb"  # Asian punctuation
    "\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09"  # full-width punctuation
)
_CHINESE = "\u2e80-\u2eff\u31c0-\u31ef\u3200-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f"
_MARKS = '.,?:;!"()'


def tercom_rewritten(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    """The texts after Tercom's changes, which are then split at white space.

    The expressions are those of sacreBLEU's `tokenizer_ter.py`, in the same order, but for what
    changes no word: it puts spaces around the text, which the expressions here do not need; its
    ranges of Asian characters, of which some overlap, are one class; and its three expressions for
    hiragana and katakana begin with `^`, but by then the text begins with a space, so that they
    never match.
    """
    is_normalized, is_asian = "norm" in text.tokenize, "asian" in text.tokenize
    if is_normalized:
        for old, new in _REPLACED:
            column = pc.replace_substring(column, old, new)
        for pattern, new in _SEPARATED:
            column = pc.replace_substring_regex(column, pattern, new)
        if is_asian:
            column = pc.replace_substring_regex(column, f"([{_CHINESE}{_ASIAN_MARKS}])", r" \1 ")
    if "no-punct" in text.tokenize:
        removed = _MARKS + (_ASIAN_MARKS if is_asian else "")
        column = pc.replace_substring_regex(column, f"[{removed}]", "")
    if is_normalized:  # texts that are normalized again
        column = pc.replace_substring_regex(column, f"[{_WHITE_SPACE}]+", " ")
    return column


def jiwer_rewritten(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    """The texts after jiwer's default transforms, but for the split.

    For words, jiwer replaces two or more characters of white space by a space
    (`RemoveMultipleSpaces`), removes white space at both ends (`Strip`), and splits at spaces only.
    So a single tab or no-break space between letters is a part of a word.
    """
    if "no-punct" in text.tokenize:
        column = pc.replace_substring_regex(column, _punctuation(), "")
    if "words" in text.tokenize:
        column = pc.replace_substring_regex(column, f"[{_WHITE_SPACE}]{{2,}}", " ")
    return pc.utf8_trim(column, _WHITE_SPACE)


@cache
def _punctuation() -> str:
    """An expression for the code points of Unicode's category P, by this Python's tables."""
    codes = (
        f"\\x{{{code:x}}}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)).startswith("P")
    )
    return f"[{''.join(codes)}]+"


def split_words(column: pa.LargeStringArray) -> Integers:
    r"""The number of words of each text, int64 (rows,); 0 for a null.

    It is `len(re.split(r"\s+", text))`: white space at the beginning or the end of a text makes an
    empty word, and an empty text has one, too.
    """
    runs = pc.count_substring_regex(column, f"[{_WHITE_SPACE}]+").to_numpy(zero_copy_only=False)
    words: Integers = np.nan_to_num(runs + 1).astype(np.int64)
    return words
