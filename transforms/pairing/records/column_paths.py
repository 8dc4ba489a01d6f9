"""Parses column paths such as `translation.de`, and gets the values to which they lead.

A path begins with the name of a column, followed by names of fields or keys of maps (`.de`) and
indexes of lists, from 0 (`[0]`), or `[]`: all items of a list. A name with a dot or a bracket is
written as a JSON string in brackets: `["a.b"].c` is field c of the column a.b. Brackets are not
needed if the whole text is the name of a column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beam_bleu.transforms.native.arrays import Booleans, Integers
from beam_bleu.transforms.pairing.canonical import canonical, is_text, shown_type
from beam_bleu.transforms.pairing.records.wanted import EACH, ColumnPath, Fault

_STEP = re.compile(
    r"""
      (?P<dot>\.?) (?P<name>[^.\[\]]+)       # a name, with a dot before it unless it is the first
    | \[ (?P<index>[0-9]{1,9}|) \]               # an index of a list, or all of its items
    | \[ (?P<quoted>"(?:[^"\\]|\\.)*") \]    # a name as a JSON string
    """,
    re.VERBOSE | re.DOTALL,
)
_MARK = "\ufeff"  # a byte order mark: after `cat a b`, the one of b is in the middle of the text


def parse_column_path(text: str, names: Iterable[str] = ()) -> ColumnPath:
    if text in names:
        return ColumnPath(text, (text,))
    if not text:
        raise ValueError("the name of the column is empty")
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if (
            match is None
            or (match["name"] and bool(match["dot"]) != bool(at))
            or (match["index"] is not None and not at)
        ):
            raise ValueError(
                f"character {at + 1} of {text} begins neither .NAME nor [INDEX] nor a name as a "
                'JSON string in brackets: ["NAME"]'
            )
        at = match.end()
        quoted, index = match["quoted"], match["index"]
        if index is not None:
            steps.append(int(index) if index else EACH)
        else:
            steps.append(json.loads(quoted) if quoted else match["name"])
    return ColumnPath(text, tuple(steps))


def quoted_path(steps: Sequence[str | int]) -> str:
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += "[]" if step == EACH else f"[{step}]"
        elif re.fullmatch(r"[^.\[\]]+", step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


def type_at(schema: pa.Schema, path: ColumnPath) -> pa.DataType:
    """The type of the values at the end of a path; raises ValueError if the path leads nowhere."""
    lists = 0
    first, *others = path.steps
    kind = schema.field(first).type
    for number, step in enumerate(others, 1):
        where = quoted_path(path.steps[:number])
        if isinstance(step, int):
            if not pt.is_large_list(kind):
                raise ValueError(f"{where} is {shown_type(kind)}, and not a list")
            kind = kind.value_type
            lists += step == EACH
            continue
        if _is_map(kind):
            kind = canonical(pa.nulls(0, kind.item_type)).type
            continue
        fields = [field.name for field in kind] if pt.is_struct(kind) else []
        if fields.count(step) != 1:
            has = f"{fields.count(step)} fields" if step in fields else "no field"
            raise ValueError(f"{where} has {has} {step}: it is {shown_type(kind)}")
        kind = kind.field(step).type
    for _ in range(lists):
        kind = pa.large_list(kind)
    return kind


def value_of(records: pa.RecordBatch, path: ColumnPath) -> pa.Array:
    """The values at the end of a path; null after a null, or a too short list, on the way."""
    first, *others = path.steps
    return _at_end(canonical(records.column(first)), others)


def _at_end(values: pa.Array, steps: Sequence[str | int]) -> pa.Array:
    for number, step in enumerate(steps, 1):
        if step == EACH:
            items = _at_end(values.values, steps[number:])
            mask = values.is_null() if values.null_count else None
            return pa.LargeListArray.from_arrays(values.offsets, items, mask=mask)
        if isinstance(step, int):
            values = _elements(values, step)
        elif _is_map(values.type):
            values = canonical(pc.map_lookup(values, pa.scalar(step, values.type.key_type), "last"))
        else:
            values = pc.struct_field(values, step)
    return values


def _is_map(kind: pa.DataType) -> bool:
    return bool(pt.is_map(kind) and is_text(canonical(pa.nulls(0, kind.key_type)).type))


def _elements(lists: pa.LargeListArray, index: int) -> pa.Array:
    offsets = lists.offsets.to_numpy()
    places = offsets[:-1] + index
    return lists.values.take(pa.array(places, mask=places >= offsets[1:]))


def rows_of(column: pa.Array, places: Integers) -> Integers:
    if not pt.is_large_list(column.type):
        return places
    rows: Integers = np.searchsorted(column.offsets.to_numpy(), places, side="right") - 1
    return rows


def faulty_texts(column: pa.Array) -> dict[int, str]:
    """What is wrong, by row, with texts that are not UTF-8, which Parquet allows."""
    texts = column.values if pt.is_large_list(column.type) else column
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        faults: dict[int, str] = {}
        for place, text in enumerate(texts.view(pa.large_binary())):
            try:
                (text.as_py() or b"").decode()
            except UnicodeDecodeError as error:
                (row,) = rows_of(column, np.array([place])).tolist()
                byte = error.object[error.start]
                said = f"invalid UTF-8 at byte {error.start + 1} of the text (0x{byte:02x})"
                faults.setdefault(row, said)
        return faults
    return {}


def repeated_headers(
    columns: Mapping[ColumnPath, pa.Array], names: Sequence[str]
) -> dict[int, Fault]:
    """The faults of rows that are headers, which concatenated files have between their records."""
    is_header: Booleans = np.ones(len(next(iter(columns.values()))), bool)
    for path, column in columns.items():
        name = names[int(path.steps[0])]
        own = pa.array([name, _MARK + name], column.type)
        is_header &= pc.is_in(column, own).to_numpy(zero_copy_only=False)
        if not is_header.any():  # usually known after the first column
            break
    return dict.fromkeys(np.flatnonzero(is_header).tolist(), _REPEATED_HEADER)


_REPEATED_HEADER = Fault(
    None,
    "repeated-header",
    "has the names of columns, as the header of a file has, but it is not the first line",
    "remove this line, or give the files by a pattern, without joining them",
)
