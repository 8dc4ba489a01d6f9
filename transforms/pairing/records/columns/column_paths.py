"""Paths of columns, such as `translation.de`, and the values that they lead to.

A path begins with the name of a column. After it come names of fields (`.de`) and indexes of lists,
from 0 (`[0]`). A name with a dot or a bracket is written as a JSON string in brackets: the path
`["a.b"].c` is the field c of the column a.b. A column that has the whole text as its name needs
no brackets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath

Flags = npt.NDArray[np.bool_]

_STEP = re.compile(
    r"""
      (?P<dot>\.?) (?P<name>[^.\[\]]+)       # a name; a dot is before each one but the first
    | \[ (?P<index>[0-9]+) \]                # an index of a list
    | \[ (?P<quoted>"(?:[^"\\]|\\.)*") \]    # a name as a JSON string
    """,
    re.VERBOSE | re.DOTALL,
)
_NEGATIVE = re.compile(r"\[\s*-\s*[0-9]+\s*\]")
_MOST_DIGITS = 9
_MOST_NAMES = 12
"""The largest number of names of columns or fields in a message."""


class WrongTypeError(ValueError):
    """The values of a column have a type that cannot be used."""


class InvalidTextError(ValueError):
    """Texts of a column are not UTF-8.

    Attributes:
      rows: the rows with such texts, in order.
      details: what is wrong with the text of each of these rows, for a person.
      rest: the same column, with null in these rows.
    """

    def __init__(self, rows: Sequence[int], details: Sequence[str], rest: pa.Array) -> None:
        super().__init__(f"row {rows[0]}: {details[0]}")
        self.rows = tuple(rows)
        self.details = tuple(details)
        self.rest = rest


def parse_column_path(text: str, names: Iterable[str] = ()) -> ColumnPath:
    """Makes a path of its text.

    Args:
      text: the path as the user wrote it.
      names: the names of all columns. If the text is one of them, it means this column.

    Raises:
      ValueError: the text is not a path; the message gives the reason.
    """
    if text in names:
        return ColumnPath(text, (text,))
    if not text:
        raise ValueError("the name of the column is empty")
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None or (match["name"] and bool(match["dot"]) != bool(at)):
            raise ValueError(_why_not_a_step(text, at))
        at = match.end()
        if match["name"]:
            steps.append(match["name"])
        elif match["quoted"]:
            steps.append(_unquoted(match["quoted"]))
        elif not steps:
            raise ValueError(f"it begins with an index, and not with a name of a column: {text}")
        elif len(match["index"]) > _MOST_DIGITS:
            raise ValueError(f"the index is too large: [{match['index']}]")
        else:
            steps.append(int(match["index"]))
    return ColumnPath(text, tuple(steps))


def _why_not_a_step(text: str, at: int) -> str:
    rest = text[at:]
    if _NEGATIVE.match(rest):
        return f"an index counts from 0, and cannot be negative: {text}"
    if rest.startswith("["):
        return (
            f'after the bracket at character {at + 1} there must be an index and "]", or a name '
            f'as a JSON string and "]": {text}'
        )
    if rest.startswith("]"):
        return f'"]" at character {at + 1} has no "[": {text}'
    if rest.startswith("."):
        return f"there is no name at the dot at character {at + 1}: {text}"
    return f'"." or "[" is missing before character {at + 1}: {text}'


def _unquoted(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError as error:
        raise ValueError(f"{quoted} is not a JSON string: {error}") from error


def quoted_path(steps: Sequence[str | int]) -> str:
    """The text of a path, with brackets where a name needs them."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(r"[^.\[\]]+", step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


def type_at(schema: pa.Schema, path: ColumnPath) -> pa.DataType:
    """The type of the values at the end of a path.

    Raises:
      ValueError: the path does not lead to a value; the message says at which step.
    """
    return field_at(schema, path).type


def field_at(schema: pa.Schema, path: ColumnPath) -> pa.Field:
    """The field of the values at the end of a path.

    Raises:
      ValueError: the path does not lead to a value; the message says at which step.
    """
    here = pa.field("", pa.struct(list(schema)))
    for number, step in enumerate(path.steps):
        here = _step_into(plain_type(here.type), step, quoted_path(path.steps[:number]))
    return here


def _step_into(here: pa.DataType, step: str | int, where: str) -> pa.Field:
    """The field that a step leads to, from a type."""
    if isinstance(step, int):
        if not is_list(here):
            raise ValueError(f"{where} is {_named(here)}, and not a list")
        return here.value_field
    if not pt.is_struct(here):
        raise ValueError(f"{where} is {_named(here)}, and has no fields")
    same = [field for field in here if field.name == step]
    what = f"{where} has " if where else "there are "
    kind = "field" if where else "column"
    if not same:
        names = joined([field.name for field in here], _MOST_NAMES) or "none"
        raise ValueError(f"there is no {kind} {quoted_path([step])}; {what}the {kind}s {names}")
    if len(same) > 1:
        raise ValueError(f"{what}{len(same)} {kind}s with the name {step}")
    return same[0]


def is_list(kind: pa.DataType) -> bool:
    """Whether values of this type are lists."""
    return bool(
        pt.is_list(kind)
        or pt.is_large_list(kind)
        or pt.is_fixed_size_list(kind)
        or pt.is_list_view(kind)
        or pt.is_large_list_view(kind)
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this type are texts: strings, or bytes that can be UTF-8."""
    kind = plain_type(kind)
    return bool(
        pt.is_string(kind)
        or pt.is_large_string(kind)
        or pt.is_string_view(kind)
        or pt.is_binary(kind)
        or pt.is_large_binary(kind)
        or pt.is_binary_view(kind)
        or pt.is_null(kind)
    )


def is_string(kind: pa.DataType) -> bool:
    """Whether values of this type are strings."""
    kind = plain_type(kind)
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def is_texts(kind: pa.DataType) -> bool:
    """Whether values of this type are lists of texts."""
    kind = plain_type(kind)
    return is_list(kind) and is_text(kind.value_type)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves, without a dictionary or an extension around it."""
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    return plain_type(kind.value_type) if pt.is_dictionary(kind) else kind


def _named(kind: pa.DataType) -> str:
    """A type in a message."""
    if pt.is_struct(kind):
        return f"a struct with the fields {joined([field.name for field in kind], _MOST_NAMES)}"
    return f"of type {kind}"


def value_of(records: pa.Table | pa.RecordBatch | pa.StructArray, path: ColumnPath) -> pa.Array:
    """The values at the end of a path, one for each record.

    A value is null if anything on its way is null, or if a list on its way is too short.

    Raises:
      ValueError: the path does not lead to a value; the message says at which step.
    """
    if isinstance(records, pa.Table):
        column = type_at(records.schema, path)
        parts = [value_of(batch, path) for batch in records.to_batches()]
        if not parts:
            return pa.nulls(0, column)
        return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
    is_batch = isinstance(records, pa.RecordBatch)
    fields = records.schema if is_batch else records.type
    type_at(pa.schema(list(fields)), path)
    first, *others = path.steps
    # The fields of a struct array do not have its nulls, so it is asked as a whole.
    values = records.column(first) if is_batch else pc.struct_field(records, first)
    places = None  # of the records' values in `values`, -1 for null; None if they are all values
    for step in others:
        values = plain_values(values)
        if isinstance(step, int):
            places = _places_of_elements(values, step, places)
            values = values.values
        else:
            values = pc.struct_field(values, step)
    return values if places is None else _taken(values, places)


def plain_values(values: pa.Array) -> pa.Array:
    """The same values, without a dictionary or an extension around them."""
    if isinstance(values, pa.ExtensionArray):
        return plain_values(values.storage)
    if pt.is_dictionary(values.type):
        return plain_values(values.dictionary_decode())
    return values


def _places_of_elements(lists: pa.Array, index: int, places: Integers | None) -> Integers:
    """The places in `lists.values` of the elements with this index; -1 where there is none.

    Args:
      lists: the lists.
      index: the index in each list.
      places: the places of the lists that are asked for, -1 for null; None for all lists.
    """
    starts, lengths = _spans(lists)
    elements = np.where((lengths > index) & _valid(lists), starts + index, -1)
    if places is None:
        return elements
    return np.where(places >= 0, np.append(elements, -1)[places], -1)


def _taken(values: pa.Array, places: Integers) -> pa.Array:
    """The values at these places; null for the place -1."""
    kind = values.type
    if pt.is_string_view(kind):  # pyarrow takes no views
        values = values.cast(pa.large_string())
    elif pt.is_binary_view(kind):
        values = values.cast(pa.large_binary())
    return values.take(pa.array(places, pa.int64(), mask=places < 0))


def _valid(values: pa.Array) -> Flags:
    valid: Flags = values.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _spans(lists: pa.Array) -> tuple[Integers, Integers]:
    """(the place of each list's first element in `lists.values`, the number of its elements)."""
    kind = lists.type
    if pt.is_fixed_size_list(kind):
        rows = np.arange(lists.offset, lists.offset + len(lists), dtype=np.int64)
        return rows * kind.list_size, np.full(len(lists), kind.list_size, np.int64)
    offsets = lists.offsets.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    if pt.is_list_view(kind) or pt.is_large_list_view(kind):
        sizes = lists.sizes.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        return offsets, sizes
    return offsets[:-1], np.diff(offsets)


def as_texts(values: pa.Array) -> pa.Array:
    """Values as texts: a large_string array, or a large_list of large_string for lists.

    Nulls stay null. Parquet files can have strings that are not UTF-8, so all bytes are checked.

    Raises:
      WrongTypeError: the values are neither texts nor lists of texts.
      InvalidTextError: texts are not UTF-8.
    """
    values = plain_values(values)
    if is_list(values.type) and is_text(values.type.value_type):
        return _as_lists(values)
    return _checked(_as_strings(values))


def raw_value(values: pa.Array) -> Any:
    """The only value of a column. A byte of a text that is not UTF-8 is half of a surrogate pair.

    It is as Python's error handler "surrogateescape" makes it.
    """
    values = plain_values(values)
    if not values.is_valid()[0].as_py():
        return None
    if is_list(values.type):
        (begin,), (length,) = (numbers.tolist() for numbers in _spans(values))
        items = values.values.slice(begin, length)
        return [raw_value(items.slice(place, 1)) for place in range(length)]
    if not is_text(values.type):
        return values[0].as_py()
    text: bytes = _as_strings(values).view(pa.large_binary())[0].as_py()
    return text.decode(errors="surrogateescape")


def _as_strings(values: pa.Array) -> pa.LargeStringArray:
    """Values as strings, which are not checked."""
    values = plain_values(values)
    kind = values.type
    if not is_text(kind):
        raise WrongTypeError(f"its values are {_named(kind)}, and not texts")
    if pt.is_null(kind):
        return pa.nulls(len(values), pa.large_string())
    if pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_binary_view(kind):
        # A cast to strings would check the bytes, and its error does not name all wrong rows.
        return values.cast(pa.large_binary()).view(pa.large_string())
    return values.cast(pa.large_string())


def elements_of(lists: pa.Array) -> tuple[Integers, pa.Array, Flags]:
    """The elements of lists.

    Returns:
      Where the elements of each list begin, and the end of the last ones, int64 (rows + 1,); all
      elements, those of null lists left out; which lists are not null.
    """
    starts, lengths = _spans(lists)
    valid = _valid(lists)
    lengths = np.where(valid, lengths, 0)
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    # The elements of null lists and of views can lie anywhere, so each element gets its place.
    places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
    return offsets, _taken(lists.values, places), valid


def _as_lists(lists: pa.Array) -> pa.LargeListArray:
    offsets, elements, valid = elements_of(lists)
    elements = _as_strings(elements)
    try:
        elements = _checked(elements)
    except InvalidTextError as error:
        of_lists = np.searchsorted(offsets, error.rows, side="right") - 1
        rows, first = np.unique(of_lists, return_index=True)
        details = [
            f"element {error.rows[i] - offsets[row]} of the list: {error.details[i]}"
            for row, i in zip(rows, first, strict=True)
        ]
        valid = valid.copy()
        valid[rows] = False
        raise InvalidTextError(
            rows.tolist(),
            details,
            _lists(offsets, error.rest, valid),
        ) from None
    return _lists(offsets, elements, valid)


def _lists(offsets: Integers, elements: pa.Array, valid: Flags) -> pa.LargeListArray:
    return pa.LargeListArray.from_arrays(
        pa.array(offsets), elements, mask=None if valid.all() else pa.array(~valid)
    )


def _checked(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts, if all of them are UTF-8."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        pass
    else:
        return texts
    raw = texts.view(pa.large_binary())
    wrong = [(row, what) for row, value in enumerate(raw) if (what := _why_not_utf8(value.as_py()))]
    rows = [row for row, _ in wrong]
    mask = np.zeros(len(texts), bool)
    mask[rows] = True
    rest = pc.if_else(pa.array(mask), pa.scalar(None, pa.large_binary()), raw)
    raise InvalidTextError(
        rows,
        [what for _, what in wrong],
        rest.view(pa.large_string()),
    )


def _why_not_utf8(text: bytes | None) -> str | None:
    if text is None:
        return None
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"invalid UTF-8 at byte {error.start + 1} of the text (0x{text[error.start]:02x})"
    return None
