"""Makes the types of an input's columns canonical, once they are read: texts are large_string and
lists large_list, and nothing is a dictionary or an extension. A column of references has a text, or
a list of texts, in each row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Integers

Rows = npt.NDArray[np.bool_]  # bool (rows,): for each row, whether it is one of these

# The types whose values Arrow writes as texts, besides floats.
_WITH_TEXTS = (
    *(pt.is_large_string, pt.is_integer, pt.is_boolean),
    *(pt.is_decimal, pt.is_date, pt.is_time, pt.is_timestamp),
)


def canonical_schema(schema: pa.Schema) -> pa.Schema:
    types = [
        field.type if pt.is_null(field.type) else canonical(pa.nulls(0, field.type)).type
        for field in schema
    ]
    return pa.schema(zip(schema.names, types, strict=True))


_TEXTS = (
    *(pt.is_string, pt.is_large_string, pt.is_string_view),
    *(pt.is_binary, pt.is_large_binary, pt.is_binary_view),
)
_LISTS = (
    *(pt.is_list, pt.is_large_list, pt.is_fixed_size_list),
    *(pt.is_list_view, pt.is_large_list_view),
)


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a column of a canonical type are texts, or all null."""
    return bool(pt.is_large_string(kind) or pt.is_null(kind))


def is_texts(kind: pa.DataType) -> bool:
    return bool(pt.is_large_list(kind) and is_text(kind.value_type))


def shown_type(kind: pa.DataType) -> str:
    """A type in a message. A reader makes a union with one field of values that it cannot read."""
    return kind.field(0).name if pt.is_union(kind) and kind.num_fields == 1 else str(kind)


def canonical(values: pa.Array) -> pa.Array:
    if isinstance(values, pa.ExtensionArray):
        return canonical(values.storage)
    kind = values.type
    if pt.is_dictionary(kind):
        return canonical(values.dictionary_decode())
    if any(is_lists(kind) for is_lists in _LISTS):
        # Not by a cast: the elements of null lists and of views can lie anywhere.
        lengths = pc.fill_null(pc.list_value_length(values), 0).to_numpy()
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        mask = values.is_null() if values.null_count else None
        elements = canonical(pc.list_flatten(values))
        return pa.LargeListArray.from_arrays(pa.array(offsets), elements, mask=mask)
    if pt.is_struct(kind) and kind.num_fields:
        # The fields of a struct array do not have its nulls, so it is asked as a whole.
        fields = [canonical(pc.struct_field(values, [i])) for i in range(kind.num_fields)]
        names = [field.name for field in kind]
        return pa.StructArray.from_arrays(fields, names, mask=values.is_null())
    if any(is_texts(kind) for is_texts in _TEXTS):
        # A cast from bytes to strings would check them, and its error does not name all wrong rows.
        return values.cast(pa.large_binary()).view(pa.large_string())
    return values.cast(pa.large_string()) if pt.is_null(kind) else values


def named_text(column: pa.Array, name: object) -> pa.Array:
    """Like `as_texts`, for labels and kept columns, where NaN is null."""
    texts = as_texts(column, name)
    if pt.is_floating(column.type):
        texts = pc.if_else(pc.equal(texts, "NaN"), pa.scalar(None, texts.type), texts)
    return texts


def as_texts(column: pa.Array, name: object) -> pa.LargeStringArray:
    """Strings unchanged, others as JSON writes them, dates and decimals as Arrow does: 1.50."""
    kind = column.type
    if pt.is_floating(kind):
        if pt.is_float16(kind):  # Arrow makes no dictionaries of these numbers
            column = column.cast(pa.float32())
        # Labels have few values, so only these become Python objects. A number of 32 bits has
        # fewer digits: 0.1, and not 0.10000000149011612.
        encoded = column.dictionary_encode()
        values = encoded.dictionary.to_numpy(zero_copy_only=False).astype(f"f{kind.bit_width // 8}")
        texts = pa.array([json.dumps(float(str(value))) for value in values], pa.large_string())
        return texts.take(encoded.indices)
    if any(is_kind(kind) for is_kind in _WITH_TEXTS):
        return column.cast(pa.large_string())
    raise InputError(
        f"the column {name} has neither texts nor numbers nor dates: it is {shown_type(kind)}",
        "name a column of strings, numbers, booleans or dates",
    )


# The most texts of a batch, missing ones included: a record with a thousand references would
# otherwise make a thousand columns for all records.
MOST_TEXTS = 1 << 18


def row_parts(
    count: int, candidates: int, reference_lengths: Sequence[Integers]
) -> Iterator[slice]:
    """Divides rows into parts that make batches of at most `MOST_TEXTS`: usually it is one part."""
    waiting = [slice(0, count)] if count else []
    while waiting:
        rows = waiting.pop()
        count = rows.stop - rows.start
        columns = candidates + sum(int(texts[rows].max()) for texts in reference_lengths)
        if count == 1 or count * columns <= MOST_TEXTS:
            yield rows
        else:
            middle = rows.start + count // 2
            waiting += [slice(middle, rows.stop), slice(rows.start, middle)]


def nulls(column: pa.Array) -> Rows:
    if not column.null_count:
        return np.zeros(len(column), bool)
    rows: Rows = column.is_null().to_numpy(zero_copy_only=False)
    return rows


def lengths(column: pa.Array) -> Integers:
    """The number of texts in each row of a column of references, with nulls in lists."""
    if not pt.is_large_list(column.type):
        return np.ones(len(column), np.int64)
    counts: Integers = np.where(nulls(column), 0, np.diff(column.offsets.to_numpy()))
    return counts


def reference_counts(column: pa.Array) -> Integers:
    """The number of texts in each row, without nulls in lists."""
    there = ~nulls(column)
    if not pt.is_large_list(column.type):
        return there.astype(np.int64)
    before = np.zeros(len(column.values) + 1, np.int64)
    np.cumsum(~nulls(column.values), out=before[1:])
    counts: Integers = np.where(there, np.diff(before[column.offsets.to_numpy()]), 0)
    return counts


def with_empty_texts(column: pa.Array) -> pa.Array:
    """An empty text in each list that is empty; a null remains null."""
    if not pt.is_large_list(column.type):
        return column
    offsets = column.offsets.to_numpy()
    is_empty = (np.diff(offsets) == 0) & ~nulls(column)
    if not is_empty.any():
        return column
    texts = pa.concat_arrays([column.values, pa.array([""], column.type.value_type)])
    begin = int(offsets[0])
    places = np.insert(
        np.arange(begin, offsets[-1]), offsets[:-1][is_empty] - begin, len(column.values)
    )
    added = np.concatenate([[0], np.cumsum(is_empty)])
    return pa.LargeListArray.from_arrays(
        pa.array(offsets - begin + added), texts.take(pa.array(places)), mask=column.is_null()
    )


def spread(column: pa.Array) -> Iterator[pa.LargeStringArray]:
    if not pt.is_large_list(column.type):
        yield column
        return
    values, of_rows = column.values, lengths(column)
    begins = column.offsets.to_numpy()[:-1]
    for place in range(int(of_rows.max())):
        missing = of_rows <= place
        # A null index gives a null.
        yield values.take(pa.array(np.where(missing, 0, begins + place), mask=missing))


def without_blanks(texts: pa.Array) -> pa.Array:
    """Null in place of each text that is empty or has only white space, so it names nothing."""
    is_blank = pc.equal(pc.utf8_trim_whitespace(texts), pa.scalar("", texts.type))
    return pc.if_else(is_blank, pa.scalar(None, texts.type), texts)


def label_column(texts: pa.Array) -> pa.DictionaryArray:
    column = texts if pt.is_dictionary(texts.type) else texts.dictionary_encode()
    values, indices = column.dictionary.cast(pa.string()), column.indices.cast(pa.int32())
    missing = without_blanks(values).is_null()
    if pc.any(missing).as_py():
        indices = pc.if_else(missing.take(indices), pa.scalar(None, pa.int32()), indices)
    return pa.DictionaryArray.from_arrays(indices, values.fill_null(""))
