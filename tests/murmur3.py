"""The digest of a text as docs/result.md defines it, in the simplest way: the tests' oracle."""

from __future__ import annotations

from collections.abc import Sequence

_WORD = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


def digest(lines: Sequence[bytes]) -> str:
    """The digest of a text of these lines, with the name of the method."""
    hashes = (murmur3_x64_128(line, number) for number, line in enumerate(lines, 1))
    return f"lines-murmur3-128:{sum(hashes) % 2**128:032x}"


def murmur3_x64_128(data: bytes, seed: int) -> int:
    """MurmurHash3_x64_128, block by block and byte by byte as in the original program."""
    one = other = seed
    whole = len(data) // 16 * 16
    for start in range(0, whole, 16):
        one ^= _first(int.from_bytes(data[start : start + 8], "little"))
        one = (_rotated(one, 27) + other) * 5 + 0x52DCE729 & _WORD
        other ^= _second(int.from_bytes(data[start + 8 : start + 16], "little"))
        other = (_rotated(other, 31) + one) * 5 + 0x38495AB5 & _WORD
    left = data[whole:]
    if len(left) > 8:
        other ^= _second(int.from_bytes(left[8:], "little"))
    if left:
        one ^= _first(int.from_bytes(left[:8], "little"))
    one ^= len(data)
    other ^= len(data)
    one = one + other & _WORD
    other = other + one & _WORD
    one, other = _mixed(one), _mixed(other)
    one = one + other & _WORD
    other = other + one & _WORD
    return other << 64 | one


def _first(word: int) -> int:
    return _rotated(word * _C1 & _WORD, 31) * _C2 & _WORD


def _second(word: int) -> int:
    return _rotated(word * _C2 & _WORD, 33) * _C1 & _WORD


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 64 - bits) & _WORD


def _mixed(word: int) -> int:
    word = (word ^ word >> 33) * 0xFF51AFD7ED558CCD & _WORD
    word = (word ^ word >> 33) * 0xC4CEB9FE1A85EC53 & _WORD
    return word ^ word >> 33
