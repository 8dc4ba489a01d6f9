"""Columns of text for the kernel: addresses in their Arrow buffers, and the sizes of the texts."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Bytes, Integers
from beam_bleu.transforms.native.memory import READ_AHEAD


def offsets_of(column: pa.LargeStringArray) -> Integers:
    """The start of each text in the column's data, and the end of the last: int64 (rows + 1,)."""
    offsets = np.frombuffer(column.buffers()[1], np.int64)
    return offsets[column.offset : column.offset + len(column) + 1]


def text_bytes(column: pa.LargeStringArray) -> Bytes:
    offsets = offsets_of(column)
    data = column.buffers()[2]
    if data is None:
        return np.empty(0, np.uint8)
    return np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]


def padded_column(
    texts: Bytes, offsets: Integers, nulls_of: pa.LargeStringArray | None = None
) -> pa.LargeStringArray:
    """A column for kernels, with the nulls of another one; `texts` has READ_AHEAD more bytes."""
    nulls = None
    if nulls_of is not None and nulls_of.null_count:
        # With pyarrow, because the validity bits of a slice can begin within a byte.
        nulls = pa.array(np.zeros(len(nulls_of), bool), mask=_nulls(nulls_of)).buffers()[0]
    return pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(texts), nulls
    )


def padded(column: pa.LargeStringArray) -> pa.LargeStringArray:
    """The same texts, with bytes after them so that the kernel can read ahead."""
    offsets = offsets_of(column)
    data = column.buffers()[2]
    if data is not None and data.size >= int(offsets[-1]) + READ_AHEAD:
        return column
    texts = np.empty(int(offsets[-1] - offsets[0]) + READ_AHEAD, np.uint8)
    texts[:-READ_AHEAD] = text_bytes(column)
    texts[-READ_AHEAD:] = 0
    return padded_column(texts, offsets - offsets[0], column)


def padded_texts(texts: Sequence[str | None]) -> pa.LargeStringArray:
    # Not `pa.array`: it looks for types of pandas, and imports pandas for that if it is installed.
    nulls = None
    complete = cast("Sequence[str]", texts)
    if None in texts:
        complete = ["" if text is None else text for text in texts]
        there = np.fromiter((text is not None for text in texts), bool, len(texts))
        nulls = pa.py_buffer(np.packbits(there, bitorder="little"))
    encoded = [*map(str.encode, complete)]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    data = pa.py_buffer(b"".join([*encoded, bytes(READ_AHEAD)]))
    return pa.LargeStringArray.from_buffers(len(encoded), pa.py_buffer(offsets), data, nulls)


class Spans(NamedTuple):
    """Where texts begin and end in memory, int64 (columns, rows), 0 for null; keep the columns."""

    starts: Integers
    ends: Integers


class TextColumns:
    """Padded columns of text with the same number of rows. Not for several threads at once."""

    def __init__(self, columns: Iterable[pa.LargeStringArray]) -> None:
        self.columns = tuple(columns)
        if len({len(column) for column in self.columns}) > 1:  # compiled code does not check it
            raise ValueError(f"columns of {[len(column) for column in self.columns]} rows")
        self._spans: Spans | None = None

    @property
    def spans(self) -> Spans:
        # Not a cached property: before Python 3.12 it has one lock for all objects.
        if self._spans is None:
            self._spans = spans(self.columns)
        return self._spans

    def changed(self, change: Callable[[pa.LargeStringArray], pa.LargeStringArray]) -> TextColumns:
        changed = TextColumns(map(change, self.columns))
        is_same = all(map(operator.is_, self.columns, changed.columns))
        return self if is_same else changed


def spans(columns: Sequence[pa.LargeStringArray]) -> Spans:
    starts = np.empty((len(columns), len(columns[0]) if columns else 0), np.int64)
    ends = np.empty_like(starts)
    for column, start, end in zip(columns, starts, ends, strict=True):
        offsets, data = offsets_of(column), column.buffers()[2].address
        np.add(offsets[:-1], data, out=start)
        np.add(offsets[1:], data, out=end)
        if column.null_count:
            missing = _nulls(column)
            start[missing] = end[missing] = 0
    return Spans(starts, ends)


def _nulls(column: pa.LargeStringArray) -> npt.NDArray[np.bool_]:
    nulls: npt.NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return nulls


@dataclasses.dataclass(frozen=True)
class TextSizes:
    """The bytes of the texts of a batch, int64 (systems, segments) and (segments,), and how many
    references are there; the bytes of the longest segment; the first row with none of them, or -1.
    """

    candidate_bytes: Integers
    reference_bytes: Integers
    reference_counts: Integers
    longest: int
    longest_row: int
    bare_row: int


def find_sizes(spans: Spans, reference_count: int) -> TextSizes:
    sizes = spans.ends - spans.starts
    reference_bytes = sizes[:reference_count].sum(axis=0)
    counts = np.count_nonzero(spans.starts[:reference_count], axis=0)  # 0 for a missing text
    candidate_bytes = sizes[reference_count:]
    of_segments = reference_bytes + candidate_bytes.sum(axis=0)
    longest_row = int(of_segments.argmax()) if of_segments.size else 0
    bare = np.flatnonzero(counts == 0)
    return TextSizes(
        candidate_bytes,
        reference_bytes,
        counts,
        int(of_segments[longest_row]) if of_segments.size else 0,
        longest_row,
        int(bare[0]) if bare.size else -1,
    )
