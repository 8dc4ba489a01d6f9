"""Segments in the columns of Arrow tables: whole batches, without an object for each segment."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.batch import (
    ALL_ROWS,
    RowGroup,
    SegmentBatch,
    usual_rows,
)
from beam_bleu.transforms.pairing.missing_labels import label_column
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
      labels: for `Evaluate`, the columns with labels of segments, such as domains, documents or
        languages: strings, integers or booleans. Null is a value, too. They can have another use.
      ids: for `Evaluate`, the column that identifies segments: integers from 0 on, which are their
        numbers, or strings, from which numbers of 63 bits are computed. No two segments may have
        the same id, also in different tables; within a table this is checked.
      kept: for `Evaluate`, columns of strings, integers or booleans that scores of segments and
        examples show.

    Raises:
      ValueError: a value is not a name, there is no column of references, or a column has two uses.

    Examples:
      >>> import apache_beam as beam
      >>> import pyarrow as pa
      >>> from beam_bleu import ArrowColumns, CorpusBleu
      >>> table = pa.table({"mt": ["the cat sat on the mat"], "ref": ["A cat sat on the mat"]})
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([table])
      ...         | CorpusBleu.Globally(columns=ArrowColumns("mt", ["ref"]))
      ...         | beam.Map(lambda bleu: print(f"{bleu.score:.2f}"))
      ...     )
      75.98
    """

    candidate: str | Mapping[str, str]
    references: str | Sequence[str]
    key: str | None = None
    labels: Sequence[str] = ()
    ids: str | None = None
    kept: Sequence[str] = ()

    def __post_init__(self) -> None:
        candidate, references = self.candidate, self.references
        named = [*candidate.values()] if isinstance(candidate, Mapping) else [candidate]
        if not _are_names(named):
            raise ValueError(
                "candidate must be the name of a column, or a dict with the name of each system's "
                f"column, got {candidate!r}"
            )
        listed = [references] if isinstance(references, str) else references
        if not _are_names(listed) or not listed:
            raise ValueError(
                "references must be the names of one column or more, or the name of one column "
                f"with lists, got {references!r}"
            )
        require_distinct(named, listed, "column")
        for what, name in (("key", self.key), ("ids", self.ids)):
            if name is not None and not isinstance(name, str):
                raise ValueError(f"{what} must be the name of a column, got {name!r}")
        for what, names in (("labels", self.labels), ("kept", self.kept)):
            if not _are_names(names) or len({*names}) < len(names):
                raise ValueError(f"{what} must be a list of different columns, got {names!r}")

    @property
    def of_segments(self) -> tuple[str, ...]:
        """The columns of labels, ids and what is kept, each one once."""
        ids = () if self.ids is None else (self.ids,)
        return tuple(dict.fromkeys((*self.labels, *ids, *self.kept)))

    def require(
        self, *, keyed: bool, systems: Sequence[str] | None, of_segments: bool = False
    ) -> None:
        """Checks that the columns have what a transform needs.

        Args:
          keyed: whether it gives a score to each key.
          systems: the systems that it compares; None if it scores one system.
          of_segments: whether it uses labels, ids and what is kept.

        Raises:
          ValueError: something is missing, or left over.
        """
        if keyed and self.key is None:
            raise ValueError("columns have no key: name its column, ArrowColumns(key=...)")
        if not keyed and self.key is not None:
            raise ValueError(
                f"columns have the key {self.key!r}, which only PerKey and SumSegments use"
            )
        if self.of_segments and not of_segments:
            raise ValueError(
                f"columns have labels, ids or kept columns ({joined(self.of_segments)}), which "
                "only Evaluate uses"
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


def _are_names(names: Any) -> bool:
    is_list = isinstance(names, Sequence) and not isinstance(names, str)
    return is_list and all(isinstance(name, str) for name in names)


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
        candidate or no reference; a text is not UTF-8; an id is missing, impossible, or there
        twice.
    """
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not isinstance(table, pa.Table):
        raise InputError(
            f"an element must be a pyarrow Table or RecordBatch, got one of type "
            f"{type(table).__name__}",
            "give tables; `columns` is only for them",
        )
    named = columns.candidate
    candidates = [named] if isinstance(named, str) else [named[name] for name in systems or named]
    listed = isinstance(columns.references, str)
    references = [columns.references] if isinstance(columns.references, str) else columns.references
    keys = [] if columns.key is None else [columns.key]
    for name in (*candidates, *references, *keys, *columns.of_segments):
        if table.schema.names.count(name) != 1:
            there = ", ".join(table.schema.names)
            count = "no" if name not in table.schema.names else "more than one"
            raise InputError(
                f"a table has {count} column {name!r}; it has {there}",
                "name the columns in ArrowColumns",
            )
    numbers = None if columns.ids is None else _segment_numbers(table[columns.ids], columns.ids)
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
        begin = 0
        for batch in column_batches(of_candidates, of_references, groups, tuple(systems or ())):
            if columns.of_segments:
                of_batch = part.slice(begin, len(batch))
                start = first + begin
                of_rows = None if numbers is None else numbers[start : start + len(batch)]
                batch = _with_labels(batch, of_batch, columns, of_rows)
            yield batch
            begin += len(batch)


def _with_labels(
    batch: SegmentBatch, part: pa.Table, columns: ArrowColumns, numbers: Integers | None
) -> SegmentBatch:
    """A batch with the labels, numbers and kept columns of its rows.

    Args:
      batch: the batch.
      part: its rows of the table.
      columns: the columns.
      numbers: the numbers of its segments; None if there are no ids.
    """
    return dataclasses.replace(
        batch,
        numbers=numbers,
        labels=tuple(label_column(_as_texts(part[name], name)) for name in columns.labels),
        kept={name: _as_texts(part[name], name) for name in columns.kept},
    )


def _as_texts(column: pa.ChunkedArray, name: str) -> pa.LargeStringArray:
    """A column of strings, integers or booleans, as strings.

    Raises:
      InputError: it has another type.
    """
    values = without_dictionary(whole_column(column), name)
    if pa.types.is_integer(values.type) or pa.types.is_boolean(values.type):
        values = values.cast(pa.string())
    return text_column(values, name)


def _segment_numbers(column: pa.ChunkedArray, name: str) -> Integers:
    """The numbers of the segments of a table, int64 from 0 on.

    Two segments with one number would always be drawn together when systems are resampled, so
    intervals and p-values would be wrong without a trace.

    Raises:
      InputError: an id is missing, occurs twice, or is neither a string nor an integer from 0 on.
    """
    ids = without_dictionary(whole_column(column), name)
    _require(~nulls(ids), 0, f"no id in the column {name!r}")
    numbers = _numbers(ids, name)
    order = np.argsort(numbers, kind="stable")
    again = np.flatnonzero(np.diff(numbers[order]) == 0)
    if len(again):
        one, other = order[again[0]], order[again[0] + 1]
        raise InputError(
            f"rows {one + 1} and {other + 1} of a table have the same id {ids[one].as_py()!r} in "
            f"the column {name!r}",
            "name a column whose values identify segments; labels can have a value many times",
        )
    return numbers


def _numbers(ids: pa.Array, name: str) -> Integers:
    """The numbers of segments with these ids, int64 from 0 on.

    Raises:
      InputError: the ids are neither strings nor integers from 0 on.
    """
    if is_string(ids.type):
        ids = text_column(ids, name)
        digests = [
            hashlib.blake2b(text.encode(), digest_size=8).digest() for text in ids.to_pylist()
        ]
        hashes = np.frombuffer(b"".join(digests), "<u8") >> np.uint64(1)
        of_texts: Integers = hashes.astype(np.int64)
        return of_texts
    if not pa.types.is_integer(ids.type):
        raise InputError(
            f"the column {name!r} has values of the type {ids.type}, which cannot be ids",
            "name a column of strings or integers",
        )
    try:
        numbers: Integers = ids.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        raise InputError(
            f"the column {name!r} has an id of 2**63 or more, and numbers of segments are smaller",
            "cast the column to strings",
        ) from None
    if len(numbers) and numbers.min() < 0:
        raise InputError(
            f"the column {name!r} has the id {numbers.min()}, and numbers of segments begin at 0",
            "name a column of integers from 0 on, or of strings",
        )
    return numbers


def column_batches(
    candidates: Sequence[pa.LargeStringArray],
    references: Sequence[pa.Array],
    groups: tuple[RowGroup, ...] = ALL_ROWS,
    systems: tuple[str, ...] = (),
) -> Iterator[SegmentBatch]:
    """One batch, or several if the references of one row would make too many columns.

    Args:
      candidates: a column for each system, without nulls.
      references: columns of large strings, or of large lists of them, as `list_column` gives them.
        No row is without any reference.
      groups: which rows are added up together.
      systems: the names of the systems; none for the numbers of the columns.
    """
    count = len(candidates[0])
    width = len(candidates) + sum(int(lengths(column).max()) for column in references)
    if count > 1 and count * width > _MOST_TEXTS:
        half = count // 2
        for part in (slice(0, half), slice(half, count)):
            yield from column_batches(
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
