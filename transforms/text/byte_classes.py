"""The classes of bytes that tokenizers look for: masks with a bit for each of 64 bytes."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from beam_bleu.transforms.native.arrays import Bytes
from beam_bleu.transforms.native.masks import block_copier, byte_mask, byte_masks, sequence_masks

WHITE_CODES = [code for code in range(0x3001) if chr(code).isspace()]  # those of `str.split`


def code_point_classes(
    classes: Mapping[str, int], finditer: Callable[..., Any] = re.finditer
) -> Bytes:
    """The class of every code point, uint8 (code points,), by expressions that match runs of it."""
    codes = np.arange(0x110000, dtype="<u4")
    text = codes.tobytes().decode("utf-32-le", "surrogatepass")
    of_codes = np.zeros(len(codes), np.uint8)
    for expression, what in classes.items():
        for run in finditer(expression, text):
            of_codes[run.start() : run.end()] = what
    return of_codes


@cache
def code_points_of(categories: str) -> str:
    """The code points of categories, such as "P" for punctuation, by this Python's Unicode tables:
    ranges for the brackets of an expression.
    """
    points = map(chr, range(sys.maxunicode + 1))
    inside = [unicodedata.category(point)[0] in categories for point in points]
    bounds = np.flatnonzero(np.diff([False, *inside, False])).reshape(-1, 2)
    return "".join(f"\\x{{{start:x}}}-\\x{{{end - 1:x}}}" for start, end in bounds)


# ASCII white space; bytes that may begin white space of 2 or 3 bytes.
white_space_masks = byte_masks([("\t", "\r"), ("\x1c", " ")], [0xC2, ("\xe1", "\xe3")])
ascii_white_space_mask = byte_mask([("\t", "\r"), " "])  # that of C and Perl
space_mask = byte_mask([" "])
newline_mask = byte_mask(["\n"])
not_ascii_mask = byte_mask([("\x80", "\xff")])

unicode_white_space_masks = sequence_masks(
    [[[0xC2], [0x85, 0xA0]]],  # U+0085 00A0
    [
        [[0xE1], [0x9A], [0x80]],  # U+1680
        [[0xE2], [0x80], [("\x80", "\x8a"), 0xA8, 0xA9, 0xAF]],  # U+2000-200A 2028 2029 202F
        [[0xE2], [0x81], [0x9F]],  # U+205F
        [[0xE3], [0x80], [0x80]],  # U+3000
    ],
)
"""Two masks: first bytes of white space of 2 bytes; first bytes of white space of 3 bytes."""

# Symbols, which are always tokens of their own in 13a; full stops and commas; digits; hyphens;
# ampersands.
punctuation_masks = byte_masks(
    [("!", "&"), ("(", "+"), "/", (":", "@"), ("[", "`"), ("{", "~")],
    [".", ","],
    [("0", "9")],
    ["-"],
    ["&"],
)
# First bytes of code points; ASCII letters and spaces.
code_point_masks = byte_masks([("\x00", "\x7f"), ("\xc0", "\xff")], [" ", ("A", "Z"), ("a", "z")])

squad_masks = sequence_masks(
    [
        [[("\x00", "\x1f"), ("!", "/"), (":", "@"), ("[", "`"), ("{", "\x7f")]],
        [[("\xc0", "\xc2"), ("\xca", "\xcf"), ("\xd2", "\xff")]],
        [[0xC3], [0x97, 0xB7]],  # U+00D7 00F7, the signs of multiplication and division
    ],
    [[[" "]]],
    [[[("0", "9"), ("A", "Z"), ("a", "z")]]],
    [[["a"], [" "]], [["a"], ["n"], [" "]], [["t"], ["h"], ["e"], [" "]]],
)
"""Four masks: first bytes of other characters; spaces; ASCII letters and digits; first bytes of
articles before a space. Letters from U+00C0 to U+027F and from U+0400 to U+047F, whose first bytes
are C3 to C9, D0 and D1, do not count as other characters."""

letter_mask = byte_mask([("\xe0", "\xe1"), ("\xe3", "\xf0")])
"""First bytes of code points from U+0800 to U+3FFFF, among them all that `script_masks` look for,
without U+2000 to U+2FFF, where the dashes and quotation marks of Western texts are."""

script_masks = sequence_masks(
    [
        [[("\xe4", "\xe9")]],  # U+4000-9FFF
        [[0xE3], [("\x90", "\xbf")]],  # U+3400-3FFF
        [[0xEF], [("\xa4", "\xab")]],  # U+F900-FAFF
        [[0xF0], [("\xa0", "\xb3")]],  # U+20000-33FFF
    ],
    [
        [[0xE3], [0x81, 0x82]],  # U+3040-30BF
        [[0xE3], [0x83], [("\x80", "\xba"), ("\xbc", "\xbf")]],  # U+30C0-30FF but U+30FB
    ],
    [
        [[0xE0], [("\xb8", "\xbb")]],  # U+0E00-0EFF
        [[0xE1], [0x80, 0x81, 0x9E, 0x9F]],  # U+1000-107F 1780-17FF
    ],
    [
        [[0xEB, 0xEC]],  # U+B000-CFFF
        [[0xEA], [("\xb0", "\xbf")]],  # U+AC00-AFFF
        [[0xED], [("\x80", "\x9e")]],  # U+D000-D7BF
        [[0xE1], [("\x84", "\x87")]],  # U+1100-11FF
    ],
)
"""Four masks: first bytes of the letters of each row of `SCRIPTS`, without rare ones in blocks of
their own, and without the middle dot U+30FB, which names in Chinese texts can have."""

rewritten_mask = byte_mask(["<", "\n"])  # text that 13a rewrites begins or ends there
copy_lower_block = block_copier([("A", "Z")], 0xFF, 0x20)
dotted_capital_mask = sequence_masks([[[0xC4], [0xB0]]])  # a tuple with one mask, of U+0130
replace_block_by_spaces = block_copier(
    [("\x00", "\t"), ("\x0b", "/"), (":", "`"), ("{", "\xbf")], 0, ord(" ")
)
"""Leaves only a-z, 0-9, newlines and first bytes of characters beyond ASCII."""

replace_block_by_tabs = block_copier([("\xc0", "\xff")], 0, ord("\t"))
read_by_rouge_masks = byte_masks([("0", "9"), ("a", "z")], ["\t"])
"""Two masks of a text of rouge.py: letters and digits; characters beyond ASCII."""
