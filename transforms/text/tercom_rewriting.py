"""Tercom's changes of a text before it is split at white space.

They are regular expressions, as in sacreBLEU's `tokenizer_ter.py`, in the same order. Arrow's
engine finds the same matches. They differ from sacreBLEU's only where the words do not:

* sacreBLEU puts a space before and after the text. Here the expressions know where it starts and
  ends.
* sacreBLEU's ranges of Asian characters are one class here. One of them is U+3200 to U+3F22, though
  the comment there says U+32FF. So some characters are in two ranges.
* sacreBLEU's three expressions for hiragana and katakana begin with `^`, but by then the text
  begins with a space. So they never match, and a run of kana is one word.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from beam_bleu.transforms.native.compiling import LazyModule
from beam_bleu.transforms.text.byte_classes import WHITE_SPACE
from beam_bleu.transforms.text.tercom import Tercom

pc: Any = LazyModule("pyarrow.compute")  # to import it takes long

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
"""Expressions, and what replaces their matches: white space at the end goes, and then punctuation
marks become words."""

_ASIAN_MARKS = (
    "\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb"  # Asian punctuation
    "\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09"  # full-width punctuation
)
_CHINESE = "\u2e80-\u2eff\u31c0-\u31ef\u3200-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f"
_MARKS = '.,?:;!"()'


def tercom_rewritten(column: pa.LargeStringArray, choices: Tercom) -> pa.LargeStringArray:
    """The texts after Tercom's changes. The case is not changed."""
    if choices.normalized:
        for old, new in _REPLACED:
            column = pc.replace_substring(column, old, new)
        for pattern, new in _SEPARATED:
            column = pc.replace_substring_regex(column, pattern, new)
        if choices.asian_support:
            column = pc.replace_substring_regex(column, f"([{_CHINESE}{_ASIAN_MARKS}])", r" \1 ")
    if choices.no_punct:
        removed = _MARKS + (_ASIAN_MARKS if choices.asian_support else "")
        column = pc.replace_substring_regex(column, f"[{removed}]", "")
    if choices.normalized:  # texts that are normalized again
        column = pc.replace_substring_regex(column, f"[{_WHITE_SPACE}]+", " ")
    return column
