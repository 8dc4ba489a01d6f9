"""Reads records from JSON lines, by the fast scanner of json_scanner.py. For the rare lines that it
does not know, Python's json module rewrites the line, or says what is wrong with it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Booleans, Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.paired import BadReason
from beam_bleu.transforms.pairing.records.json_scanner import (
    LIST,
    NOT_UNICODE,
    NULL,
    OBJECT,
    REFUSED,
    SCALAR,
    TEXT,
    find_keys,
    items,
    lines_as_values,
    step,
    texts_of,
)
from beam_bleu.transforms.pairing.records.wanted import (
    INTEGER_ID,
    Chosen,
    ColumnPath,
    Columns,
    Fault,
    null_in,
)

_REMEDY = "repair the file, or the program that wrote it"
_NOT_SCANNED = "nested too deeply, or a number of 4,000 digits, or a column whose name has a quote"
_NOT_CANONICAL = r"^-?[0-9]+[.eE]|^-0$"  # numbers that have several spellings: 1.50 is 1.5

# Longer lines are never parsed by Python, whose objects can take a hundred times the bytes.
_MOST_CHARACTERS = 1 << 24

_SCALARS = {str: pa.large_string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}
_DEEPEST_COLUMN = 50  # the most objects and lists around a value that can be a column

_KINDS = {
    TEXT: "a text",
    SCALAR: "a number or a boolean",
    OBJECT: "an object",
    LIST: "a list",
    REFUSED: "in a value of another type than the path of the column says",
    NOT_UNICODE: "a text with half of a surrogate pair, which is not a character",
}


class _Form(NamedTuple):
    """The kinds of values, besides null, that a column (or a list in it) can have."""

    must_be: str
    values: tuple[int, ...] = (TEXT,)
    items: tuple[int, ...] = ()


_TEXT = _Form("a text")
_TEXTS = _Form("a text", items=(TEXT,))
_WITNESS = _Form("a text", (TEXT,))  # any other value counts as null
_ID = _Form("a string or an integer", (TEXT, SCALAR))
_NUMBERS = (TEXT, SCALAR)
_ANY = _Form("a text, a number or a boolean", (TEXT, SCALAR))


def _forms(chosen: Chosen) -> dict[ColumnPath, _Form]:
    """The form of each column. If a column has several uses, the last one here counts."""
    forms = dict.fromkeys(chosen.witnesses, _WITNESS)
    for column, paths in chosen.values:
        numbers = _NUMBERS if column.takes("number") else ()
        of_lists = _Form("a number" if numbers else "a list of numbers", numbers, _NUMBERS)
        forms |= dict.fromkeys(paths, of_lists if column.takes("list") else _ANY)
    named = [*chosen.labels, *(condition.column for condition in chosen.where)]
    named += [*(path for _, path in chosen.kept), *chosen.names]
    forms |= dict.fromkeys(named, _ANY)
    forms |= dict.fromkeys(chosen.ids, _ID)
    for column, paths in chosen.values:
        forms |= dict.fromkeys(paths if column.takes("text") else (), _TEXT)
    forms |= {path: _TEXT for _, path in chosen.candidates}
    forms |= dict.fromkeys(chosen.references, _TEXTS if len(chosen.references) == 1 else _TEXT)
    return forms


def read_json_lines(
    column: pa.LargeStringArray, chosen: Chosen
) -> tuple[Columns, dict[int, Fault]]:
    """Reads the chosen columns from a padded column of lines, with numbers and booleans as text."""
    forms = _forms(chosen)
    spans, _, unknown = _spans(column, chosen.columns)
    faults: dict[int, Fault] = {}
    if unknown.any():
        rows = np.flatnonzero(unknown).tolist()
        keys = {step for path in forms for step in path.steps}
        written = {row: _rewritten(column[row].as_py(), keys) for row in rows}
        faults = {row: text for row, text in written.items() if isinstance(text, Fault)}
        texts = ["{}" if row in faults else text for row, text in written.items()]
        mask = pa.array(unknown)
        column = padded(pc.replace_with_mask(column, mask, pa.array(texts, column.type)))
        spans, known, _ = _spans(column, chosen.columns)
        refused = np.flatnonzero(unknown & ~known).tolist()
        faults |= dict.fromkeys(refused, Fault(None, "invalid-json", _NOT_SCANNED, _REMEDY))
    columns: Columns = {}
    for path in chosen.columns:
        columns[path], wrong = _column(path, forms[path], *spans[path])
        if forms[path] is not _WITNESS:
            faults = {**wrong, **faults}
    return columns, faults


_Span = tuple[Integers, Integers]  # where the values of a column begin and end


def _spans(
    column: pa.LargeStringArray, paths: Sequence[ColumnPath]
) -> tuple[dict[ColumnPath, _Span], Booleans, Booleans]:
    """The spans of columns; and two bool (rows,): whether each line is an object that the scanner
    knows, and whether it contains something that the scanner does not know.
    """
    keys = list(dict.fromkeys(str(path.steps[0]) for path in paths))
    begins, ends, known = find_keys(*lines_as_values(column), keys)
    unknown = ~known
    spans = {}
    for path in paths:
        number = keys.index(str(path.steps[0]))
        span = begins[number].copy(), ends[number].copy()
        for to in path.of_items[0][1:]:
            span = step(*span, to)
        unknown |= span[0] < 0
        spans[path] = span
    return spans, known, unknown


def _column(
    path: ColumnPath, form: _Form, begins: Integers, ends: Integers
) -> tuple[pa.Array, dict[int, Fault]]:
    name, of_lists, wrong = str(path), None, {}
    if form.items:
        kinds, offsets, *of_items = items(begins, ends)
        if (kinds == LIST).any():
            of_lists = kinds, offsets
            begins, ends = of_items
            for to in path.of_items[1]:
                begins, ends = step(begins, ends, to)
    kinds, column = texts_of(begins, ends)
    refused = ~_is_one_of(kinds, form.items if of_lists else form.values)
    if form is _ANY:
        column = _canonical_numbers(column, kinds)
    if form is _ID:
        refused |= (kinds == SCALAR) & ~_matches(column, INTEGER_ID)
    rows = np.flatnonzero(refused)
    kinds_found = kinds[rows].tolist()
    if of_lists is not None:
        name = f"an item of {path}"
        kinds, offsets = of_lists
        rows = np.searchsorted(offsets, rows, side="right") - 1
        column = pa.LargeListArray.from_arrays(
            pa.array(offsets), column, mask=pa.array(kinds == NULL)
        )
        alone = np.flatnonzero(~_is_one_of(kinds, (*form.values, LIST)))
        wrong = {row: _fault(path, str(path), form, int(kinds[row])) for row in alone.tolist()}
    for row, kind in zip(rows.tolist(), kinds_found, strict=True):
        wrong.setdefault(row, _fault(path, name, form, kind))
    return null_in(column, list(wrong)), wrong


def _is_one_of(kinds: Integers, allowed: Sequence[int]) -> Booleans:
    table = np.zeros(len(_KINDS) + 1, bool)
    table[[NULL, *allowed]] = True
    return table[kinds]


def _fault(path: ColumnPath, name: str, form: _Form, kind: int) -> Fault:
    what = f"{name} is {_KINDS[kind]}, and must be {form.must_be}"
    return Fault(path, "invalid-utf8" if kind == NOT_UNICODE else "wrong-type", what, _REMEDY)


def _canonical_numbers(column: pa.LargeStringArray, kinds: Integers) -> pa.LargeStringArray:
    """A column of texts and of numbers in JSON, with the numbers spelled as Python would."""
    numbers = kinds == SCALAR
    if numbers.any():
        numbers &= _matches(column, _NOT_CANONICAL)
    if not numbers.any():
        return column
    encoded = column.filter(pa.array(numbers)).dictionary_encode()
    texts = [json.dumps(json.loads(text)) for text in encoded.dictionary.to_pylist()]
    written = pa.array(texts, pa.large_string()).take(encoded.indices)
    return pc.replace_with_mask(column, pa.array(numbers), written)


def _matches(column: pa.LargeStringArray, regex: str) -> Booleans:
    matched = pc.fill_null(pc.match_substring_regex(column, regex), False)
    matches: Booleans = matched.to_numpy(zero_copy_only=False)
    return matches


def _rewritten(line: str, keys: Set[object]) -> str | Fault:
    """The line with only these keys, as Python's json module writes it."""
    record = record_of(line)
    if isinstance(record, Fault):
        return record
    try:
        written = json.dumps(_only(record, keys), ensure_ascii=False)
    except RecursionError:
        return Fault(None, "invalid-json", "the line is nested too deeply", _REMEDY)
    # Half of a surrogate pair becomes an escape, which the scanner judges.
    return written.encode("utf-8", "backslashreplace").decode()


def _only(value: Any, keys: Set[object]) -> Any:
    if isinstance(value, dict):
        return {key: _only(item, keys) for key, item in value.items() if key in keys}
    return [_only(item, keys) for item in value] if isinstance(value, list) else value


def record_of(line: str) -> dict[str, Any] | Fault:
    reason: BadReason = "invalid-json"
    if not line.strip(" \t\r"):
        what = "the line is empty, and each line must be an object"
    elif len(line) > _MOST_CHARACTERS:
        reason = "line-too-long"
        what = f"only plain records can have more than {_MOST_CHARACTERS} characters"
    else:
        try:
            record = json.loads(line, parse_constant=lambda _: None)  # NaN counts as null
        except json.JSONDecodeError as error:
            what = f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
        except ValueError:
            what = "not JSON that can be read: a number has too many digits"
        except RecursionError:
            what = "not JSON that can be read: it is nested too deeply"
        else:
            if isinstance(record, dict):
                return record
            reason, what = "wrong-type", "the line is not an object, and must be one"
    return Fault(None, reason, what, _REMEDY)


def schema_of_lines(lines: Sequence[bytes]) -> pa.Schema:
    """The keys, each with the type of most of its values; ValueError if no line is a record."""
    parsed = []
    for line in lines:
        try:
            parsed.append(record_of(line.decode()))
        except UnicodeDecodeError as error:
            what = f"invalid UTF-8 at byte {error.start + 1}"
            parsed.append(Fault(None, "invalid-utf8", what, _REMEDY))
    records = [record for record in parsed if not isinstance(record, Fault)]
    if not records:
        raise ValueError(next(fault.what for fault in parsed if isinstance(fault, Fault)))
    return pa.schema(list(_type_of(records, 0)))


def _type_of(values: Iterable[Any], depth: int) -> pa.DataType:
    """The type of most values. Values of other types are faults when their record is read."""
    of_kinds: dict[type, list[Any]] = {}
    for value in values:
        of_kinds.setdefault(type(value), []).append(value)
    of_kinds.pop(type(None), None)
    if not of_kinds or depth > _DEEPEST_COLUMN:
        return pa.null()
    # In a tie, objects and lists win, because they can contain more columns.
    kind = max(of_kinds, key=lambda kind: (len(of_kinds[kind]), kind is dict, kind is list))
    alike = of_kinds[kind]
    if kind is list:
        return pa.large_list(_type_of(itertools.chain.from_iterable(alike), depth + 1))
    if kind is not dict:
        return _SCALARS[kind]
    fields: dict[str, list[Any]] = {}
    for key, value in itertools.chain.from_iterable(record.items() for record in alike):
        # Arrow does not accept halves of surrogate pairs.
        fields.setdefault(key.encode("utf-8", "replace").decode(), []).append(value)
    return pa.struct([(name, _type_of(of, depth + 1)) for name, of in fields.items()])
