"""Digests of texts: numbers that show whether two texts have the same lines.

A digest is the sum of the hashes of the lines, modulo 2^128. The hash is MurmurHash3_x64_128 by
Austin Appleby (github.com/aappleby/smhasher, in the public domain), with the line's number, from 1,
as the seed, in 64 bits. So the order counts, and the division into files does not. It does not
protect against a person who wants two texts with the same digest.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import load_word
from beam_bleu.transforms.native.text_columns import offsets_of, padded

METHOD = "lines-murmur3-128"

_C1 = np.uint64(0x87C37B91114253D5)
_C2 = np.uint64(0x4CF5AD432745937F)
_ADDED_1 = np.uint64(0x52DCE729)
_ADDED_2 = np.uint64(0x38495AB5)
_MIX_1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX_2 = np.uint64(0xC4CEB9FE1A85EC53)
_FIVE = np.uint64(5)
_ZERO = np.uint64(0)


def sum_of_hashes(column: pa.LargeStringArray, first_line: int) -> int:
    return sum_of_seeded_hashes(column, np.arange(first_line + 1, first_line + 1 + len(column)))


def sum_of_seeded_hashes(column: pa.LargeStringArray, seeds: Integers) -> int:
    """The sum, modulo 2^128. The column is padded, without nulls; the seeds are int64 (texts,)."""
    low, high = _sum_hashes(column.buffers()[2].address, offsets_of(column), seeds)
    return int(high) << 64 | int(low)


def reduced_hashes(texts: pa.LargeStringArray, bound: int) -> Integers:
    """A hash of each text, int64, from 0 and below a bound; a null is like an empty text."""
    column = padded(texts.fill_null("") if texts.null_count else texts)
    numbers = np.empty(len(column), np.int64)
    _reduce_hashes(column.buffers()[2].address, offsets_of(column), bound, numbers)
    return numbers


@inner
def _rotated(word, bits):
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@inner
def _mixed(word):
    word = (word ^ (word >> np.uint64(33))) * _MIX_1
    word = (word ^ (word >> np.uint64(33))) * _MIX_2
    return word ^ (word >> np.uint64(33))


@inner
def _first_bytes(word, count):
    """The first `count` bytes of a word, 0 to 8 of them, with zeros after them."""
    missing = 64 - 8 * min(max(count, 0), 8)
    # Shifted in two steps, because a shift by 64 bits is not defined.
    half = np.uint64(missing >> 1)
    mask = ~_ZERO >> half >> half
    return word & mask


@inner
def _hashed(at, end, seed):
    """(lower 64 bits, upper 64 bits) of the hash of the text between two addresses."""
    size = end - at
    one = other = np.uint64(seed)
    while at + 16 <= end:
        one ^= _rotated(load_word(at) * _C1, 31) * _C2
        one = (_rotated(one, 27) + other) * _FIVE + _ADDED_1
        other ^= _rotated(load_word(at + 8) * _C2, 33) * _C1
        other = (_rotated(other, 31) + one) * _FIVE + _ADDED_2
        at += 16
    # The original has a branch for each number of bytes that are left. Here the words are
    # read as a whole, because a padded column can be read after its end.
    left = end - at
    one ^= _rotated(_first_bytes(load_word(at), left) * _C1, 31) * _C2
    other ^= _rotated(_first_bytes(load_word(at + 8), left - 8) * _C2, 33) * _C1
    one ^= np.uint64(size)
    other ^= np.uint64(size)
    one += other
    other += one
    one, other = _mixed(one), _mixed(other)
    one += other
    return one, other + one


@compiled
def _sum_hashes(texts, offsets, seeds):
    sum_low = sum_high = _ZERO
    for line in range(offsets.size - 1):
        low, high = _hashed(texts + offsets[line], texts + offsets[line + 1], seeds[line])
        sum_low += low
        sum_high += high
        if sum_low < low:
            sum_high += np.uint64(1)
    return sum_low, sum_high


@compiled
def _reduce_hashes(texts, offsets, bound, numbers):
    for row in range(offsets.size - 1):
        low, _ = _hashed(texts + offsets[row], texts + offsets[row + 1], 0)
        numbers[row] = np.int64(low % np.uint64(bound))
