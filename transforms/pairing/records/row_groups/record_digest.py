"""Digests of records: numbers that show whether two inputs have the same texts in the same order.

The digest is the sum of the hashes of all texts, and of the ids, names of systems, labels,
values of conditions and numbers as texts, modulo 2^128. The hash of a text is that of a line
(lines/text_digest.py). Its seed is made of the number of the record, the number of its column and,
in a list, its place. So the order of the records counts, and a digest does not depend on the
division into files or row groups. A null has no hash, so it is not the same as an empty text.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.canonical import as_text
from beam_bleu.transforms.pairing.lines.text_digest import sum_of_seeded_hashes
from beam_bleu.transforms.pairing.records.columns.numbers import numbers_as_texts
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    ColumnPath,
    ReadRecords,
)

METHOD = "records-murmur3-128"

_COLUMN_BITS = 40
"""A seed has the number of the record, from 1, in its lowest bits, and then that of the column."""

_PLACE_BITS = 52
"""The highest bits of a seed have the place in a list."""


def sum_of_record_hashes(read: ReadRecords, chosen: Chosen) -> int:
    """The sum of the hashes of the values of neighbouring records, not reduced modulo 2^128.

    Columns have numbers in the order of the candidates, the references, the labels, the columns of
    conditions, that of the ids, that of the systems, and those of numbers. Ids say which texts
    belong together, so a digest of texts alone would not show whether two inputs are the same.
    Columns that are only kept do not count, so the digest is the same without --keep.

    Raises:
      InputError: a column of labels, conditions, ids or systems has values that have no text.
    """
    texts = {*(path for _, path in chosen.candidates), *chosen.references}
    others = {*chosen.labels, *chosen.names, *(condition.column for condition in chosen.where)}

    def hashed(path: ColumnPath) -> pa.Array:
        column = read.columns[path]
        if path in texts:
            return column
        return as_text(column, path) if path in others else numbers_as_texts(column)

    return sum(
        _sum_of_column(hashed(path), read.range.first + 1 + (number << _COLUMN_BITS))
        for number, path in enumerate(chosen.scored_columns)
    )


def _sum_of_column(column: pa.Array, first_seed: int) -> int:
    seeds = np.arange(first_seed, first_seed + len(column))
    if pa.types.is_large_list(column.type):
        lengths = column.value_lengths().fill_null(0).to_numpy()
        column, seeds = column.flatten(), np.repeat(seeds, lengths) + _places(lengths)
    if column.null_count:
        valid = column.is_valid()
        column, seeds = column.filter(valid), seeds[valid.to_numpy(zero_copy_only=False)]
    return sum_of_seeded_hashes(padded(column), seeds)


def _places(lengths: Integers) -> Integers:
    """For each element of lists, its place in its list, in the highest bits."""
    firsts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    places: Integers = (np.arange(len(firsts)) - firsts) << _PLACE_BITS
    return places
