"""Segments in the columns of Arrow tables: whole batches, without an object for each segment."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.batch import SegmentBatch, usual_rows
from beam_bleu.transforms.pairing.canonical import (
    Rows,
    as_texts,
    canonical,
    is_text,
    is_texts,
    label_column,
    named_text,
    nulls,
    reference_counts,
)
from beam_bleu.transforms.pairing.segments.batching import column_batches, require_distinct

SegmentTable = pa.Table | pa.RecordBatch


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
        languages: strings, numbers, booleans or dates. Null is a value, too. A label can also be a
        column of another kind.
      ids: for `Evaluate`, the column that identifies segments: integers from 0 on, which are their
        numbers, or strings and larger integers, from which numbers of 63 bits are computed. No
        two segments may have the same id, also in different tables; within a table this is checked.
      kept: for `Evaluate`, columns of such values that scores of segments and examples show.

    Raises:
      ValueError: a value is not a name, there is no column of references, or a column has two uses.
    """

    candidate: str | Mapping[str, str]
    references: str | Sequence[str]
    key: str | None = None
    labels: Sequence[str] = ()
    ids: str | None = None
    kept: Sequence[str] = ()

    def __post_init__(self) -> None:
        for what, value, names in (
            ("candidate", self.candidate, self.of_candidates),
            ("references", self.references, self.of_references),
        ):
            if not _are_names(names) or not names:
                raise ValueError(f"{what} must be the name of a column, or several, got {value!r}")
        require_distinct(self.of_candidates, self.of_references, "column")
        for what, name in (("key", self.key), ("ids", self.ids)):
            if name is not None and not isinstance(name, str):
                raise ValueError(f"{what} must be the name of a column, got {name!r}")
        for what, names in (("labels", self.labels), ("kept", self.kept)):
            if not _are_names(names) or len({*names}) < len(names):
                raise ValueError(f"{what} must be a list of different columns, got {names!r}")

    @property
    def of_candidates(self) -> Sequence[str]:
        named = self.candidate
        return [*named.values()] if isinstance(named, Mapping) else [named]

    @property
    def of_references(self) -> Sequence[str]:
        return [self.references] if isinstance(self.references, str) else self.references

    @property
    def of_segments(self) -> tuple[str, ...]:
        ids = () if self.ids is None else (self.ids,)
        return tuple(dict.fromkeys((*self.labels, *ids, *self.kept)))

    def require(
        self, *, keyed: bool, systems: Sequence[str] | None, of_segments: bool = False
    ) -> None:
        """Checks that the columns have what a transform needs, with these systems compared."""
        if keyed != (self.key is not None):
            raise ValueError(
                "columns have no key: name its column, ArrowColumns(key=...)"
                if keyed
                else f"columns have the key {self.key!r}, which only PerKey and SumSegments use"
            )
        if self.of_segments and not of_segments:
            raise ValueError(
                f"columns have labels, ids or kept columns ({joined(self.of_segments)}), which "
                "only Evaluate uses"
            )
        named = [*self.candidate] if isinstance(self.candidate, Mapping) else None
        if (named and {*named}) != (systems and {*systems}):
            must_be = "the name of one column; CompareSystems takes several"
            if systems:
                must_be = f"a dict with the columns of {', '.join(systems)}"
            raise ValueError(f"candidate must be {must_be}, got {self.candidate!r}")


def _are_names(names: Any) -> bool:
    is_list = isinstance(names, Sequence) and not isinstance(names, str)
    return is_list and all(isinstance(name, str) for name in names)


def table_batches(
    table: Any, columns: ArrowColumns, systems: Sequence[str] | None = None
) -> Iterator[SegmentBatch]:
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not isinstance(table, pa.Table):
        what = f"an element must be a pyarrow Table or RecordBatch, got a {type(table).__name__}"
        raise InputError(what, "give tables; `columns` is only for them")
    candidates, references = columns.of_candidates, columns.of_references
    if systems is not None and isinstance(columns.candidate, Mapping):
        candidates = [columns.candidate[name] for name in systems]
    lists = isinstance(columns.references, str)
    keys = [] if columns.key is None else [columns.key]
    for name in (*candidates, *references, *keys, *columns.of_segments):
        if table.schema.names.count(name) != 1:
            there = ", ".join(table.schema.names)
            count = "no" if name not in table.schema.names else "more than one"
            what = f"a table has {count} column {name!r}; it has {there}"
            raise InputError(what, "name the columns in ArrowColumns")
        require_valid(table[name], name)
    ids = None if columns.ids is None else _segment_numbers(table[columns.ids], columns.ids)
    size = usual_rows(len(candidates) + len(references))
    for first in range(0, table.num_rows, size):
        part = table.slice(first, size)
        of_candidates = [text_column(part[name], name) for name in candidates]
        of_references = [text_column(part[name], name, lists=lists) for name in references]
        for name, column in zip(candidates, of_candidates, strict=True):
            _require(~nulls(column), first, f"no candidate in the column {name!r}")
        present = np.sum([reference_counts(column) for column in of_references], axis=0)
        lack = f"no reference in the column{'s' * (len(references) > 1)} {joined(references)}"
        _require(present > 0, first, lack)
        groups: tuple[Integers | None, list[tuple[Any]]] = None, []
        if columns.key is not None:
            groups = _keys(_whole(part[columns.key]), columns.key)
        for rows, batch in column_batches(
            of_candidates, of_references, tuple(systems or ()), *groups
        ):
            if columns.of_segments:
                here = part.slice(rows.start, len(batch))
                labels = [named_text(_whole(here[name]), name) for name in columns.labels]
                batch = dataclasses.replace(
                    batch,
                    numbers=None if ids is None else ids[first:][rows],
                    labels=tuple(map(label_column, labels)),
                    kept={name: as_texts(_whole(here[name]), name) for name in columns.kept},
                )
            yield batch


def _segment_numbers(column: pa.ChunkedArray, name: str) -> Integers:
    """The numbers of a table's segments, int64. If two segments had the same number, they would be
    drawn together in replicates, and intervals and p-values would be wrong without a trace.
    """
    ids = _whole(column)
    _require(~nulls(ids), 0, f"no id in the column {name!r}")
    if pa.types.is_large_string(ids.type):
        numbers = _hashes(ids.to_pylist())
    elif pa.types.is_integer(ids.type):
        numbers = ids.to_numpy().astype(np.int64)
        if pa.types.is_uint64(ids.type):
            too_large = numbers < 0
            numbers[too_large] = _hashes(map(str, ids.to_numpy()[too_large].tolist()))
        wrong = np.flatnonzero(numbers < 0)
        if len(wrong):
            raise InputError(
                f"the column {name!r} has the id {ids[wrong[0]].as_py()}, and numbers of segments "
                "are from 0 to 2**63 - 1",
                "name a column of such integers, or cast it to strings",
            )
    else:
        what = f"the column {name!r} has values of the type {ids.type}, which cannot be ids"
        raise InputError(what, "name a column of strings or integers")
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


def _hashes(texts: Iterable[str]) -> Integers:
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    hashes = np.frombuffer(b"".join(digests), "<u8") >> np.uint64(1)
    numbers: Integers = hashes.astype(np.int64)
    return numbers


def _keys(column: pa.Array, name: str) -> tuple[Integers, list[tuple[Any]]]:
    kind = column.type
    if not (is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        what = f"the column {name!r} has values of the type {kind}, which cannot be keys"
        raise InputError(what, "name a column of strings, integers or booleans")
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(), [(key,) for key in encoded.dictionary.to_pylist()]


def _require(there: Rows, first: int, lack: str) -> None:
    """Checks that all rows, of which `first` is the number of the first one, have something."""
    if not there.all():
        row = first + int(there.argmin()) + 1
        remedy = "leave the row out, or give it an empty string if the text is empty"
        raise InputError(f"row {row} of a table has {lack}", remedy)


def require_valid(column: pa.ChunkedArray, name: str) -> None:
    """Checks a column: Arrow trusts whoever made it, even that its texts are UTF-8."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(
            f"the column {name!r} is not valid: {error}", "decode the texts with their encoding"
        ) from None


def text_column(column: pa.ChunkedArray, name: str, *, lists: bool = False) -> pa.Array:
    values, kind = _whole(column), column.type
    is_right = is_texts(values.type) if lists else is_text(values.type)
    if is_right:
        of_texts = kind.value_type if lists else kind
        is_right = not (pa.types.is_binary(of_texts) or pa.types.is_large_binary(of_texts))
    if not is_right:
        raise InputError(
            f"the column {name!r} must have {'lists of ' * lists}strings, but its type is {kind}",
            "references='name' is a column of lists; references=['a', 'b'] are ones of strings",
        )
    return values


def _whole(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return canonical(column.chunk(0))
    return pa.concat_arrays([canonical(chunk) for chunk in column.chunks])
