"""Records of JSON lines: each line is an object.

The scanner reads almost all lines, column by column. The lines that it does not know, and those
whose values have a wrong type, go one by one through Python's json module, which says what they
mean or what is wrong with them. So every line means what it means for Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ColumnPath, ReadRecords
from beam_bleu.transforms.pairing.records.text.json_record import BadLineError, WantedValues
from beam_bleu.transforms.pairing.records.text.json_scanner import (
    NESTED,
    NULL,
    REFUSED,
    SCALAR,
    TEXT,
    find_keys,
    items,
    step,
    texts_of,
)
from beam_bleu.transforms.pairing.records.text.raw_lines import RawLines

_REMEDY = "repair the file, or the program that wrote it"
_NOT_CANONICAL = r"^-?[0-9]+[.eE]|^-0$"
"""The JSON of numbers that can be written in several ways: 1.50 is 1.5, and -0 is 0."""


def read_json_lines(
    lines: RawLines, chosen: Chosen, integer_ids: Sequence[ColumnPath] = ()
) -> ReadRecords:
    """Reads the chosen columns of lines.

    Columns of texts must have strings, or lists of strings if there is only one column of
    references. Other columns have strings, numbers or booleans, and the result has them as text,
    numbers and booleans as JSON writes them.

    Args:
      lines: the lines.
      chosen: the columns.
      integer_ids: the columns of ids that must be integers, and not strings. They are int64.
    """
    column, is_bad = lines.readable()
    wanted = WantedValues(chosen, integer_ids)
    read, unknown = _read_columns(column, wanted)
    rows = np.flatnonzero(unknown & ~is_bad)
    bad = list(lines.bad)
    values: list[dict[ColumnPath, Any]] = []
    for row in rows.tolist():
        try:
            values.append(wanted.values_of(lines.line(row)))
        except BadLineError as error:
            values.append(dict(error.names))
            bad.append(lines.bad_record(row, error.reason, error.what, _REMEDY))
    if len(rows) or lines.bad:
        order = np.arange(len(column))
        order[rows] = len(column) + np.arange(len(rows))
        order[is_bad] = len(column) + len(rows)  # a row of nulls
        values.append({})
        read = {
            path: _merged(array, [of_row.get(path) for of_row in values], order)
            for path, array in read.items()
        }
    for path in wanted.paths:
        if wanted.is_integer(path):
            read[path] = _integers(read[path])
    bad.sort(key=lambda record: record.number)
    return ReadRecords(read, lines.first, lines.path, lines.first_place, "line", tuple(bad))


def _read_columns(
    column: pa.LargeStringArray, wanted: WantedValues
) -> tuple[dict[ColumnPath, pa.Array], np.ndarray]:
    """The columns as the scanner reads them, and bool (rows,): which rows it does not know."""
    keys = list(dict.fromkeys(str(path.steps[0]) for path in wanted.paths))
    begins, ends, known = find_keys(column, keys)
    unknown = known == 0
    begins[:, unknown] = 0
    read: dict[ColumnPath, pa.Array] = {}
    for path in wanted.paths:
        number = keys.index(str(path.steps[0]))
        span = begins[number], ends[number]
        for to in path.steps[1:]:
            span = step(*span, to)
        if wanted.has_lists(path):
            read[path], wrong = _read_lists(*span, path, wanted)
        else:
            read[path], wrong = _read_scalars(*span, path, wanted)
        unknown |= wrong
    return read, unknown


def _read_scalars(
    begins: Integers, ends: Integers, path: ColumnPath, wanted: WantedValues
) -> tuple[pa.LargeStringArray, np.ndarray]:
    kinds, column = texts_of(begins, ends)
    wrong = (kinds == REFUSED) | (kinds == NESTED)
    if wanted.is_text(path):
        wrong |= kinds == SCALAR
    elif wanted.is_integer(path):
        # Python judges numbers that may be too large, and numbers with a point.
        wrong |= kinds == TEXT
        wrong |= (kinds == SCALAR) & ~_matches(column, r"^-?[0-9]{1,18}$")
    elif not wanted.is_number(path) and (kinds == SCALAR).any():
        wrong |= (kinds == SCALAR) & _matches(column, _NOT_CANONICAL)
    return column, wrong


def _integers(texts: pa.LargeStringArray) -> pa.Array:
    """Integers of 64 bits, with or without a sign, as integers of one type."""
    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return texts.cast(pa.decimal128(20))


def _matches(column: pa.LargeStringArray, regex: str) -> np.ndarray:
    matched = pc.fill_null(pc.match_substring_regex(column, regex), False)
    matches: np.ndarray = matched.to_numpy(zero_copy_only=False)
    return matches


def _read_lists(
    begins: Integers, ends: Integers, path: ColumnPath, wanted: WantedValues
) -> tuple[pa.Array, np.ndarray]:
    """A column of texts, or of lists of texts if a row has a list; or of numbers."""
    usual = (TEXT, NULL, SCALAR) if wanted.is_number(path) else (TEXT, NULL)
    kinds, offsets, item_begins, item_ends = items(begins, ends)
    wrong = kinds == REFUSED
    if wanted.is_always_list(path):
        wrong |= (kinds == TEXT) | (kinds == SCALAR)
    if not (kinds == NESTED).any():
        kinds, column = texts_of(begins, ends)
        return column, wrong | ~np.isin(kinds, usual)
    item_kinds, texts = texts_of(item_begins, item_ends)
    refused = ~np.isin(item_kinds, usual)
    before = np.concatenate([[0], np.cumsum(refused)])
    wrong |= np.diff(before[offsets]) > 0
    mask = pa.array((kinds == NULL) | wrong)
    return pa.LargeListArray.from_arrays(pa.array(offsets), texts, mask=mask), wrong


def _merged(column: pa.Array, values: list[Any], order: Integers) -> pa.Array:
    """A column with values after it, and then its rows in this order."""
    if pa.types.is_large_list(column.type) or any(isinstance(value, list) for value in values):
        of_lists = pa.large_list(pa.large_string())
        values = [[value] if isinstance(value, str) else value for value in values]
        if not pa.types.is_large_list(column.type):
            lengths = column.is_valid().to_numpy(zero_copy_only=False).astype(np.int64)
            column = pa.LargeListArray.from_arrays(
                pa.array(np.concatenate([[0], np.cumsum(lengths)])),
                column.drop_null(),
                mask=column.is_null(),
            )
        return pa.concat_arrays([column, pa.array(values, of_lists)]).take(pa.array(order))
    return pa.concat_arrays([column, pa.array(values, pa.large_string())]).take(pa.array(order))
