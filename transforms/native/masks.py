"""Makes masks of 64 bytes at once, a bit for each byte; finds errors in UTF-8; reads code points.

The bytes are portable LLVM vectors, which LLVM compiles for the machine's instructions (AVX-512,
AVX2, SSE2, NEON). A class of bytes is a tuple of its members: a byte as a number or a character, or
a closed range of characters. The functions that are made here for compiled code take an address:
bit i of a mask is for the byte at the address + i.

Text is UTF-8 (RFC 3629) if its continuation bytes are exactly those that must continue a character,
because of one of the three bytes before; and if there are no bytes that occur in no character, no
forms that are longer than necessary, no surrogates, and no code points above U+10FFFF. The last
three show in the first two bytes of a character.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beam_bleu.transforms.native.compiling import inner, ir, operation
from beam_bleu.transforms.native.memory import BLOCK, load, load_byte, store

ByteClass = Sequence[int | str | tuple[str, str]]

_Builder = Any  # llvmlite is untyped
_Value = Any


def byte_mask(of: ByteClass) -> Any:
    @operation("uint64", "int64")
    def mask(builder, address):
        return builder.bitcast(_is(builder, load(builder, _block(), address), of), ir.IntType(64))

    return mask


def byte_masks(*classes: ByteClass) -> Any:
    return sequence_masks(*([[byte_class]] for byte_class in classes))


def sequence_masks(*alternatives: Sequence[Sequence[ByteClass]]) -> Any:
    """Makes a function that returns a mask of the first bytes of the sequences of each alternative,
    which has a class for each byte. It reads n - 1 bytes after the block for sequences of n bytes.
    """
    longest = max(len(sequence) for sequences in alternatives for sequence in sequences)

    @operation(("uint64",) * len(alternatives), "int64")
    def masks(builder, address):
        vectors = [
            load(builder, _block(), builder.add(address, ir.Constant(ir.IntType(64), i)))
            for i in range(longest)
        ]
        return [
            builder.bitcast(_begins(builder, vectors, sequences), ir.IntType(64))
            for sequences in alternatives
        ]

    return masks


def block_copier(of: ByteClass, kept_bits: int, set_bits: int) -> Any:
    """Makes a function (to, source) that copies a block, and changes bits of a class of bytes."""

    @operation("void", "int64", "int64")
    def copy(builder, to, source):
        vector = load(builder, _block(), source)
        changed = builder.or_(builder.and_(vector, _splat(kept_bits)), _splat(set_bits))
        store(builder, builder.select(_is(builder, vector, of), changed, vector), to)

    return copy


def _begins(
    builder: _Builder, vectors: Sequence[_Value], sequences: Sequence[Sequence[ByteClass]]
) -> _Value:
    """The places where one of the sequences begins; vector i has the bytes at distance i."""
    begins = None
    for sequence in sequences:
        here = None
        for vector, of in zip(vectors, sequence, strict=False):
            places = _is(builder, vector, of)
            here = places if here is None else builder.and_(here, places)
        begins = here if begins is None else builder.or_(begins, here)
    return begins


def _is(builder: _Builder, vector: _Value, of: ByteClass) -> _Value:
    places = None
    for member in of:
        if isinstance(member, tuple):
            low, high = ord(member[0]), ord(member[1])
            # x - low wraps around below `low`, so one unsigned comparison checks both ends.
            moved = builder.sub(vector, _splat(low))
            here = builder.icmp_unsigned("<=", moved, _splat(high - low))
        else:
            value = member if isinstance(member, int) else ord(member)
            here = builder.icmp_unsigned("==", vector, _splat(value))
        places = here if places is None else builder.or_(places, here)
    return places


def _block() -> Any:
    return ir.VectorType(ir.IntType(8), BLOCK)


def _splat(value: int) -> _Value:
    return ir.Constant(_block(), [value] * BLOCK)


LOOK_BACK = 3  # the number of bytes before a block that the check reads
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
    """The mask of the bytes of a block that show that the text is not UTF-8. This can be the byte
    after the error, so the text, and the bytes before the block, must end with an ASCII character.
    After a newline, no byte continues a character of the line before.
    """
    expected, continuation, wrong = _masks(address - LOOK_BACK)
    return (expected ^ continuation) | wrong


@inner
def letter_size(first):
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


@inner
def code_point(address, size):
    code = load_byte(address) & (0x7F >> size)
    for i in range(1, size):
        code = (code << 6) | (load_byte(address + i) & 0x3F)
    return code
