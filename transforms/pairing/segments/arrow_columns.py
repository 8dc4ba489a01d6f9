"""Segments in the columns of Arrow tables: whole batches, without an object for each segment."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.batch import ALL_ROWS, RowGroup, SegmentBatch, usual_rows
from beam_bleu.transforms.pairing.segments.batching import require_distinct
from beam_bleu.transforms.pairing.text_lists import (
    Rows,
    lengths,
    nulls,
    reference_counts,
    spread,
)

SegmentTable = pa.Table | pa.RecordBatch
"""A table whose rows are segments; `ArrowColumns` names its columns."""

_MOST_TEXTS = 1 << 18
"""The largest number of texts of a batch, missing ones included, if it has more than one row."""

_MAKE_AGAIN = "decode the texts with their encoding"


@dataclasses.dataclass(frozen=True)
class ArrowColumns:
    """The columns of pyarrow tables whose rows are segments.

    A null among the references is a missing reference. Each row has a candidate and at least one
    reference.

    Attributes:
      candidate: the column with the candidate; for `CompareSystems` a dict with the column of
        each system.
      references: the columns with one reference each, or the name of one column with lists of
        references.
      key: the column with the keys: strings, integers or booleans. Null is a key, too.

    Raises:
      ValueError: a value is not a name, there is no column of references, or a column has two uses.
    """

    candidate: str | Mapping[str, str]
    references: str | Sequence[str]
    key: str | None = None

    def __post_init__(self) -> None:
        candidate = self.candidate
        named = candidate.values() if isinstance(candidate, Mapping) else [candidate]
        if not all(isinstance(name, str) for name in named):
            raise ValueError(
                "candidate must be the name of a column, or a dict with the name of each system's "
                f"column, got {candidate!r}"
            )
        if not isinstance(self.references, str):
            references = self.references
            if not isinstance(references, Sequence) or not all(
                isinstance(name, str) for name in references
            ):
                raise ValueError(
                    "references must be a list of the names of columns, or the name of one column "
                    f"with lists, got {references!r}"
                )
            if not references:
                raise ValueError("references must be the names of one column or more, got none")
        require_distinct(
            [*named],
            [self.references] if isinstance(self.references, str) else self.references,
            "column",
        )
        if self.key is not None and not isinstance(self.key, str):
            raise ValueError(f"key must be the name of a column, got {self.key!r}")

    def require(self, *, keyed: bool, systems: Sequence[str] | None) -> None:
        """Checks that the columns have what a transform needs.

        Args:
          keyed: whether it gives a score to each key.
          systems: the systems that it compares; None if it scores one system.

        Raises:
          ValueError: something is missing, or left over.
        """
        if keyed and self.key is None:
            raise ValueError("columns have no key: name its column, ArrowColumns(key=...)")
        if not keyed and self.key is not None:
            raise ValueError(
                f"columns have the key {self.key!r}, which only PerKey and SumSegments use"
            )
        if systems is None:
            if not isinstance(self.candidate, str):
                raise ValueError(
                    f"candidate must be the name of one column, got {self.candidate!r}; "
                    "CompareSystems takes several"
                )
        elif not isinstance(self.candidate, Mapping) or {*self.candidate} != {*systems}:
            raise ValueError(
                f"candidate must be a dict with the columns of {', '.join(systems)}, "
                f"got {self.candidate!r}"
            )


def table_batches(
    table: Any, columns: ArrowColumns, systems: Sequence[str] | None = None
) -> Iterator[SegmentBatch]:
    """The rows of a table as batches, whose groups have keys and no windows.

    Args:
      table: a pyarrow Table or RecordBatch.
      columns: its columns.
      systems: the systems in their order; None if there is one, without a name.

    Raises:
      InputError: it is something else; a column is missing, or has another type; a row has no
        candidate or no reference; a text is not UTF-8.
    """
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not isinstance(table, pa.Table):
        raise InputError(
            f"an element must be a pyarrow Table or RecordBatch, got one of type "
            f"{type(table).__name__}",
            "give tables, or leave `columns` out for single segments",
        )
    named = columns.candidate
    candidates = [named] if isinstance(named, str) else [named[name] for name in systems or named]
    listed = isinstance(columns.references, str)
    references = [columns.references] if isinstance(columns.references, str) else columns.references
    for name in (*candidates, *references, *([] if columns.key is None else [columns.key])):
        if table.schema.names.count(name) != 1:
            there = ", ".join(table.schema.names)
            count = "no" if name not in table.schema.names else "more than one"
            raise InputError(
                f"a table has {count} column {name!r}; it has {there}",
                "name the columns in ArrowColumns",
            )
    rows = usual_rows(len(candidates) + len(references))
    for first in range(0, table.num_rows, rows):
        part = table.slice(first, rows)
        of_candidates = [text_column(whole_column(part[name]), name) for name in candidates]
        of_references = [
            list_column(whole_column(part[name]), name)
            if listed
            else text_column(whole_column(part[name]), name)
            for name in references
        ]
        for name, texts in zip(candidates, of_candidates, strict=True):
            _require(~nulls(texts), first, f"no candidate in the column {name!r}")
        present = np.sum([reference_counts(column) for column in of_references], axis=0)
        shown = f"no reference in the column{'s' * (len(references) > 1)} {joined(references)}"
        _require(present > 0, first, shown)
        groups: tuple[RowGroup, ...] = ALL_ROWS
        if columns.key is not None:
            order, groups = _by_key(whole_column(part[columns.key]), columns.key)
            if order is not None:
                of_candidates = [column.take(order) for column in of_candidates]
                of_references = [column.take(order) for column in of_references]
        yield from _batches(of_candidates, of_references, groups, tuple(systems or ()))


def _batches(
    candidates: Sequence[pa.LargeStringArray],
    references: Sequence[pa.Array],
    groups: tuple[RowGroup, ...],
    systems: tuple[str, ...],
) -> Iterator[SegmentBatch]:
    """One batch, or several if the references of one row would make too many columns."""
    count = len(candidates[0])
    width = len(candidates) + sum(int(lengths(column).max()) for column in references)
    if count > 1 and count * width > _MOST_TEXTS:
        half = count // 2
        for part in (slice(0, half), slice(half, count)):
            yield from _batches(
                [column[part] for column in candidates],
                [pa.concat_arrays([column[part]]) for column in references],
                _within(groups, part),
                systems,
            )
        return
    yield SegmentBatch(
        tuple(padded(column) for column in candidates),
        tuple(padded(text) for column in references for text in spread(column)),
        groups=groups,
        systems=systems,
    )


def _within(groups: tuple[RowGroup, ...], part: slice) -> tuple[RowGroup, ...]:
    """The groups of some rows, which are numbered anew."""
    bounds = [
        (
            max(group.start, part.start),
            min(part.stop if group.stop is None else group.stop, part.stop),
        )
        for group in groups
    ]
    return tuple(
        RowGroup(start - part.start, stop - part.start, group.key)
        for group, (start, stop) in zip(groups, bounds, strict=True)
        if start < stop
    )


def _by_key(column: pa.Array, name: str) -> tuple[pa.Array | None, tuple[RowGroup, ...]]:
    """The order in which rows of one key are neighbours, None if they are; and the groups."""
    column = without_dictionary(column, name)
    kind = column.type
    if not (
        is_string(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    ):
        raise InputError(
            f"the column {name!r} has values of the type {kind}, which cannot be keys",
            "name a column of strings, integers or booleans",
        )
    if is_string(kind):
        column = text_column(column, name)
    encoded = column.dictionary_encode(null_encoding="encode")
    numbers = encoded.indices.to_numpy()
    keys = encoded.dictionary.to_pylist()
    order = None
    if np.any(np.diff(numbers) < 0):
        # Numbers of 16 bits are sorted much faster.
        rows = np.argsort(numbers.astype(np.uint16), kind="stable")
        numbers, order = numbers[rows], pa.array(rows)
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
    return order, tuple(
        RowGroup(start, stop, keys[numbers[start]]) for start, stop in itertools.pairwise(starts)
    )


def _require(there: Rows, first: int, lack: str) -> None:
    """Checks that all rows, of which `first` is the number of the first one, have something."""
    if not there.all():
        row = first + int(there.argmin()) + 1
        raise InputError(
            f"row {row} of a table has {lack}",
            "leave the row out, or give it an empty string if the text is empty",
        )


def whole_column(column: pa.ChunkedArray) -> pa.Array:
    """A column that can be in pieces, as one array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    # All pieces together can have more text than offsets of 32 bits can address.
    if is_string(column.type):
        column = column.cast(pa.large_string())
    elif _is_list(column.type) and is_string(column.type.value_type):
        column = column.cast(pa.large_list(pa.large_string()))
    return pa.concat_arrays(column.chunks)


def text_column(column: pa.Array, name: str) -> pa.LargeStringArray:
    """A column of strings of any type, as large strings.

    Raises:
      InputError: it has another type, or is not valid.
    """
    column = without_dictionary(column, name)
    if not (is_string(column.type) or pa.types.is_null(column.type)):
        raise InputError(
            f"the column {name!r} must have strings, but its type is {column.type}",
            "name another column, or a column of lists alone: references='name'"
            if _is_list(column.type)
            else "name another column, or cast it",
        )
    _require_valid(column, name)
    return column.cast(pa.large_string())


def without_dictionary(column: pa.Array, name: str) -> pa.Array:
    """The values of a column that can be encoded with a dictionary.

    Raises:
      InputError: its numbers are not those of values.
    """
    if not pa.types.is_dictionary(column.type):
        return column
    _require_valid(column, name)
    return column.dictionary_decode()


def list_column(column: pa.Array, name: str) -> pa.LargeListArray:
    """A column of lists of strings, as large lists whose `values` are only those of its rows.

    Raises:
      InputError: it has another type, or is not valid.
    """
    if not _is_list(column.type) or not (
        is_string(column.type.value_type) or pa.types.is_null(column.type.value_type)
    ):
        raise InputError(
            f"the column {name!r} must have lists of strings, but its type is {column.type}",
            "for columns with one reference each, list them: references=['a', 'b']",
        )
    # `values` of a slice are those of its whole table. Looking at all of them for each slice would
    # take time in the square of the table's rows. So the slice gets values of its own. First its
    # places are checked: a wrong one would be outside of the memory.
    _require_valid(column, name, full=False)
    if pa.types.is_fixed_size_list(column.type):
        places = (column.offset + np.arange(len(column) + 1)) * column.type.list_size
    else:
        places = column.offsets.to_numpy()
    begin, end = int(places[0]), int(places[-1])
    if np.any(np.diff(places) < 0) or not 0 <= begin <= end <= len(column.values):
        raise InputError(f"the column {name!r} is not valid: its lists overlap", _MAKE_AGAIN)
    values = column.values[begin:end]
    _require_valid(values, name)
    return pa.LargeListArray.from_arrays(
        pa.array(places - begin, pa.int64()),
        values.cast(pa.large_string()),
        mask=pa.array(nulls(column)),
    )


def is_string(kind: pa.DataType) -> bool:
    """Whether a type is one of strings, without a dictionary."""
    is_of = pa.types
    return bool(is_of.is_string(kind) or is_of.is_large_string(kind) or is_of.is_string_view(kind))


def _is_list(kind: pa.DataType) -> bool:
    is_of = pa.types
    return bool(is_of.is_list(kind) or is_of.is_large_list(kind) or is_of.is_fixed_size_list(kind))


def _require_valid(column: pa.Array, name: str, *, full: bool = True) -> None:
    """Checks a column, in full also that its texts are UTF-8."""
    # Arrow trusts those who make a column. A reader of files does not check its bytes.
    try:
        column.validate(full=full)
    except pa.ArrowInvalid as error:
        raise InputError(f"the column {name!r} is not valid: {error}", _MAKE_AGAIN) from None
