"""Compiled code for UTF-8 (RFC 3629): finds errors, 64 bytes at once, and reads code points.

Text is UTF-8 if those bytes are continuation bytes that must continue a character, because of one
of the three bytes before, and no others; and if there are no bytes that no character has, no forms
that are longer than necessary, no surrogates, and no numbers above U+10FFFF. The last three show in
the first two bytes of a character.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.masks import sequence_masks
from beam_bleu.transforms.native.memory import load_byte

LOOK_BACK = 3
"""The number of bytes before a block that the check reads."""

_ANY = (("\x00", "\xff"),)
_IN_LINE = (("\x00", "\x09"), ("\x0b", "\xff"))  # all but a newline
_CONTINUATION = (("\x80", "\xbf"),)

_masks = sequence_masks(
    # A byte that must continue a character: one, two or three bytes after the first one.
    [
        [_ANY, _ANY, (("\xc0", "\xff"),)],
        [_ANY, (("\xe0", "\xff"),), _IN_LINE],
        [(("\xf0", "\xff"),), _IN_LINE, _IN_LINE],
    ],
    # A byte that can continue a character.
    [[_ANY, _ANY, _ANY, _CONTINUATION]],
    # Bytes that are wrong in any place, and wrong second bytes.
    [
        [_ANY, _ANY, _ANY, ("\xc0", "\xc1", ("\xf5", "\xff"))],
        [_ANY, _ANY, ("\xe0",), (("\x80", "\x9f"),)],
        [_ANY, _ANY, ("\xed",), (("\xa0", "\xbf"),)],
        [_ANY, _ANY, ("\xf0",), (("\x80", "\x8f"),)],
        [_ANY, _ANY, ("\xf4",), (("\x90", "\xbf"),)],
    ],
)


@inner
def utf8_errors(address):
    """The mask of the bytes of a block that show that the text is not UTF-8.

    A character that is not complete shows at the byte after it. So the text, and the bytes before
    the block, must end with an ASCII character, such as a newline. Each line is checked by itself:
    after a newline no byte continues a character of the line before.
    """
    expected, continuation, wrong = _masks(address - LOOK_BACK)
    return (expected ^ continuation) | wrong


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
