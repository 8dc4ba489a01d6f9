"""Reads code points of UTF-8 in compiled code."""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import load_byte


@inner
def letter_size(first):
    """The number of bytes of a letter in UTF-8, from its first byte. The letter is not ASCII."""
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


@inner
def code_point(address, size):
    """The code point of the letter at an address, which has two or more bytes."""
    code = load_byte(address) & (0x7F >> size)
    for i in range(1, size):
        code = (code << 6) | (load_byte(address + i) & 0x3F)
    return code
