"""Code points in UTF-8, as compiled code reads them."""

from __future__ import annotations

from numba import njit

from beam_bleu.transforms.native.memory import load_byte


@njit
def letter_size(first):
    """The bytes of a letter in UTF-8, by its first byte, which is not ASCII."""
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


@njit
def code_point(address, size):
    """The code point of the letter of two or more bytes that begins at an address."""
    code = load_byte(address) & (0x7F >> size)
    for i in range(1, size):
        code = (code << 6) | (load_byte(address + i) & 0x3F)
    return code
