"""Digests of texts: numbers that show whether two texts have the same lines.

A digest is the sum of the hashes of the lines, modulo 2^128. The hash is MurmurHash3_x64_128 by
Austin Appleby (github.com/aappleby/smhasher, in the public domain), with the line's number, from 1,
as the seed, in 64 bits. So the order counts, and the division into files does not. It does not
protect against a person who wants two texts with the same digest.

The values of records are hashed in the same way, with seeds that also have the column's number and
the place in a list. A null has no hash, so it differs from an empty text.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import load_word
from beam_bleu.transforms.native.text_columns import offsets_of, padded

METHOD = "lines-murmur3-128"
OF_RECORDS = "records-murmur3-128"

# A seed has the number of the record in its lowest bits, then the number of the column.
_COLUMN_BITS = 40

_PLACE_BITS = 52  # the bits of a seed from here up are the place in a list

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


def sum_of_columns(columns: Iterable[pa.Array], first_record: int) -> int:
    """The sum of the hashes of texts, or of lists of texts, of neighbouring records."""
    return sum(
        _sum_of_column(column, first_record + 1 + (number << _COLUMN_BITS))
        for number, column in enumerate(columns)
    )


def _sum_of_column(column: pa.Array, first_seed: int) -> int:
    seeds = np.arange(first_seed, first_seed + len(column))
    if pa.types.is_large_list(column.type):
        lengths = column.value_lengths().fill_null(0).to_numpy()
        places = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        column, seeds = column.flatten(), np.repeat(seeds, lengths) + (places << _PLACE_BITS)
    if column.null_count:
        valid = column.is_valid()
        column, seeds = column.filter(valid), seeds[valid.to_numpy(zero_copy_only=False)]
    return sum_of_seeded_hashes(padded(column), seeds)


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
