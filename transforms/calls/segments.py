"""The segments of a call: texts in the forms that users have, in batches that threads count."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.text_columns import padded_texts
from beam_bleu.transforms.pairing.batch import SegmentBatch, usual_rows
from beam_bleu.transforms.pairing.canonical import reference_counts
from beam_bleu.transforms.pairing.segments import arrow_columns
from beam_bleu.transforms.pairing.segments.batching import column_batches

_Value = TypeVar("_Value")
_Result = TypeVar("_Result")

_LAYOUTS = (
    "references= takes a list for each reference, each as long as candidates: [[first, second, "
    "...]] for one reference; references_per_segment= takes a list for each segment"
)

_FEWEST_ROWS = 512
"""The fewest rows of a batch, if there are more: smaller ones cost more than threads save."""


def segment_batches(
    candidates: Mapping[str, Any],
    references: Any,
    references_per_segment: Any,
    threads: int,
    systems: tuple[str, ...] = (),
) -> Iterator[SegmentBatch]:
    """The segments that arguments of a call describe, in one or more batches, in their order.

    Args:
      candidates: for each argument with candidates its name, for messages, and its value.
      references: as for `score`, and so is the next one.
      references_per_segment: a list of references for each segment; or None.
      threads: how many threads count them. No one has much more to do than the others.
      systems: the names of the systems; none if there is one without a name.
    """
    of_candidates = {name: complete_texts(values, name) for name, values in candidates.items()}
    first_name, first_column = next(iter(of_candidates.items()))
    count = len(first_column)
    if not count:
        raise ValueError(f"{first_name} is empty: there is no segment to score")
    of_references = _references(references, references_per_segment)
    for name, column in (*of_candidates.items(), *of_references.items()):
        if len(column) != count:
            raise ValueError(
                f"{name} has the length {len(column)}, but {first_name} has {count}: {_LAYOUTS}"
            )
    there = np.sum([reference_counts(column) for column in of_references.values()], axis=0)
    if not there.all():
        names = " and ".join(f"{name}[{there.argmin()}]" for name in of_references)
        raise ValueError(
            f"{names} has no reference; an empty string is one, and None is a missing one: "
            "leave the segment out, or give it a reference"
        )
    rows = usual_rows(len(of_candidates) + len(of_references))
    rows = min(rows, max(-(-count // threads), _FEWEST_ROWS))
    for start in range(0, count, rows):
        texts = [column[start : start + rows] for column in of_candidates.values()]
        columns = [column[start : start + rows] for column in of_references.values()]
        for part, batch in column_batches(texts, columns, systems):
            numbers = np.arange(start + part.start, start + part.stop)
            yield dataclasses.replace(batch, numbers=numbers)


def _references(references: Any, per_segment: Any) -> dict[str, pa.Array]:
    """The columns of references by their names: one for each reference, or one of lists."""
    if (references is None) == (per_segment is None):
        both = "neither" if references is None else "both"
        raise ValueError(
            f"give exactly one of references= and references_per_segment=, got {both}: {_LAYOUTS}"
        )
    if references is None:
        return {"references_per_segment": text_lists(per_segment, "references_per_segment")}
    if not isinstance(references, _LISTS) or not len(references):
        raise ValueError(f"references must be a list of lists, got {shown(references)}: {_LAYOUTS}")
    named = {f"references[{place}]": values for place, values in enumerate(references)}
    return {name: texts(values, name) for name, values in named.items()}


_LISTS = (list, tuple, np.ndarray)


def texts(values: Any, name: str) -> pa.LargeStringArray:
    """The texts of an argument, with bytes after them as the kernel needs; null for None."""
    values = _sequence(values, name, "texts")
    if isinstance(values, pa.ChunkedArray):
        return _of_arrow(values, name)
    return _encoded(values, lambda row: f"{name}[{row}]")


def complete_texts(values: Any, name: str) -> pa.LargeStringArray:
    """The same of candidates: no text may be missing."""
    column = texts(values, name)
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ValueError(
            f"{name}[{row}] is missing; leave the segment out, or give an empty string if the "
            "candidate is empty"
        )
    return column


def text_lists(values: Any, name: str) -> pa.LargeListArray:
    values = _sequence(values, name, "lists")
    if isinstance(values, pa.ChunkedArray):
        return _of_arrow(values, name, lists=True)
    for row, row_texts in enumerate(values):
        if not isinstance(row_texts, _LISTS):
            raise ValueError(
                f"{name}[{row}] must be a list of texts, got {shown(row_texts)}; {name}= takes a "
                "list for each segment"
            )
    ends = np.cumsum([0, *map(len, values)], dtype=np.int64)

    def place(text: int) -> str:
        row = int(np.searchsorted(ends, text, side="right")) - 1
        return f"{name}[{row}][{text - ends[row]}]"

    column = _encoded([*itertools.chain.from_iterable(values)], place)
    offsets = pa.Int64Array.from_buffers(pa.int64(), len(ends), [None, pa.py_buffer(ends)])
    return pa.LargeListArray.from_arrays(offsets, column)


def _sequence(values: Any, name: str, items: str) -> Any:
    """A sequence of Python or a ChunkedArray that is not empty, from any form of an argument."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Series | pandas.Index):
        values = values.to_numpy(dtype=object)
    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    elif isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, Sequence | pa.ChunkedArray) or isinstance(values, str | bytes):
        raise ValueError(
            f"{name} must be {items}: a list or tuple, a pyarrow Array, a numpy array or a pandas "
            f"Series; got {shown(values)}"
        )
    return values if len(values) else []


def _of_arrow(column: pa.ChunkedArray, name: str, *, lists: bool = False) -> pa.Array:
    try:
        arrow_columns.require_valid(column, name)
        return arrow_columns.text_column(column, name, lists=lists)
    except InputError as error:
        raise ValueError(error.cause) from None


def _encoded(values: Sequence[Any], place: Callable[[int], str]) -> pa.LargeStringArray:
    """A padded column of texts of Python; `place` says for messages where a text is."""
    try:
        return padded_texts(values)
    except (TypeError, UnicodeEncodeError):
        for number, text in enumerate(values):
            if not isinstance(text, str | None) or not _is_unicode(text or ""):
                raise ValueError(
                    f"{place(number)} must be Unicode text, got {shown(text)}; "
                    "decode bytes, and replace the missing values of pandas by '' or None"
                ) from None
        raise


def _is_unicode(text: str) -> bool:
    return text == text.encode(errors="ignore").decode()


def shown(value: object) -> str:
    text = repr(value)
    return f"{text if len(text) <= 80 else text[:77] + '...'}, of type {type(value).__name__}"


def on_threads(
    work: Callable[[_Value], _Result], values: Iterable[_Value], threads: int
) -> Iterator[_Result]:
    """What `work` gives for each value, in their order.

    This thread makes the values. About two for each thread are in memory at a time.
    """
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ValueError(f"threads must be 1 or more, got {threads!r}")
    if threads == 1:
        yield from map(work, values)
        return
    with ThreadPoolExecutor(threads) as pool:
        under_way: collections.deque[Future[_Result]] = collections.deque()
        for value in values:
            under_way.append(pool.submit(work, value))
            if len(under_way) > 2 * threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
