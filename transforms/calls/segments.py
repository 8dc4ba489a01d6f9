"""The segments of a call: texts in the forms that users have, in batches that threads count."""

from __future__ import annotations

import collections
import contextlib
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
from beam_bleu.transforms.pairing.segments.arrow_columns import (
    column_batches,
    list_column,
    require_valid,
    text_column,
)
from beam_bleu.transforms.score.shown_numbers import counted

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
    """The segments that arguments of a call describe, in batches, in their order. There is one.

    Args:
      candidates: for each argument with candidates its name, for messages, and its value.
      references: a list for each reference, each as long as the candidates; or None.
      references_per_segment: a list of references for each segment; or None.
      threads: how many threads count them. No one has much more to do than the others.
      systems: the names of the systems; none if there is one without a name.

    Raises:
      ValueError: an argument has the wrong type or length, there is no segment, not exactly one of
        both layouts of references, something is not a text, a candidate is missing, or a segment
        has no reference.
    """
    of_candidates = [Texts(values, name) for name, values in candidates.items()]
    count = len(of_candidates[0])
    if not count:
        raise ValueError(f"{of_candidates[0].name} is empty: there is no segment to score")
    of_references = _references(references, references_per_segment)
    for values in (*of_candidates, *of_references):
        if len(values) != count:
            raise ValueError(
                f"{values.name} has {counted(len(values), values.ITEM)}, but "
                f"{of_candidates[0].name} has {count}: {_LAYOUTS}"
            )
    rows = usual_rows(len(of_candidates) + len(of_references))
    rows = min(rows, max(-(-count // threads), _FEWEST_ROWS))
    for first in range(0, count, rows):
        stop = min(first + rows, count)
        columns = [values.column(first, stop) for values in of_references]
        there = np.sum([reference_counts(column) for column in columns], axis=0)
        if not there.all():
            row = first + int(there.argmin())
            names = " and ".join(f"{values.name}[{row}]" for values in of_references)
            raise ValueError(
                f"{names} has no reference; an empty string is one, and None is a missing one: "
                "leave the segment out, or give it a reference"
            )
        texts = [values.complete_column(first, stop) for values in of_candidates]
        for part, batch in column_batches(texts, columns, systems):
            numbers = np.arange(first + part.start, first + part.stop)
            yield dataclasses.replace(batch, numbers=numbers)


def _references(references: Any, per_segment: Any) -> list[Texts]:
    """The texts of each reference; or one argument, with a list for each segment.

    Raises:
      ValueError: not exactly one is given, or it is something else.
    """
    if (references is None) == (per_segment is None):
        both = "neither" if references is None else "both"
        raise ValueError(
            f"give exactly one of references= and references_per_segment=, got {both}: {_LAYOUTS}"
        )
    if references is None:
        return [TextLists(per_segment, "references_per_segment")]
    if not isinstance(references, _LISTS) or not len(references):
        raise ValueError(f"references must be a list of lists, got {shown(references)}: {_LAYOUTS}")
    for place, texts in enumerate(references):
        if texts is None or isinstance(texts, str):
            raise ValueError(
                f"references must be a list of lists, but references[{place}] is {shown(texts)}: "
                f"{_LAYOUTS}"
            )
    return [Texts(texts, f"references[{place}]") for place, texts in enumerate(references)]


_LISTS = (list, tuple, np.ndarray)


class Texts:
    """An argument with a text for each segment.

    Args:
      values: a list or tuple, a pyarrow Array, a numpy array or a pandas Series.
      name: the argument, for messages, such as "references[0]".

    Raises:
      ValueError: it has another form.
    """

    ITEM = "text"

    def __init__(self, values: Any, name: str) -> None:
        self.name = name
        pandas = sys.modules.get("pandas")
        if pandas is not None and isinstance(values, pandas.Series | pandas.Index):
            values = values.to_numpy(dtype=object)
        if isinstance(values, pa.Array):
            values = pa.chunked_array([values])
        elif isinstance(values, np.ndarray):
            values = values.tolist()
        if not isinstance(values, Sequence | pa.ChunkedArray) or isinstance(values, str | bytes):
            raise ValueError(
                f"{name} must be {self.ITEM}s: a list or tuple, a pyarrow Array, a numpy array or "
                f"a pandas Series; got {shown(values)}"
            )
        if isinstance(values, pa.ChunkedArray):
            with _input_errors():
                require_valid(values, name)
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def column(self, first: int, stop: int) -> pa.Array:
        """The texts of these rows, as large strings; null where one is missing.

        Raises:
          ValueError: one is not a text.
        """
        part = self.values[first:stop]
        if isinstance(part, pa.ChunkedArray):
            with _input_errors():
                return text_column(part, self.name)
        try:
            return padded_texts(part)
        except (TypeError, UnicodeEncodeError):
            for row, text in enumerate(part, first):
                _require_text(text, f"{self.name}[{row}]")
            raise

    def complete_column(self, first: int, stop: int) -> pa.Array:
        """The same of candidates: no text may be missing.

        Raises:
          ValueError: one is not a text, or is missing.
        """
        column = self.column(first, stop)
        if column.null_count:
            row = first + column.is_null().to_pylist().index(True)
            raise ValueError(
                f"{self.name}[{row}] is missing; leave the segment out, or give an empty string "
                "if the candidate is empty"
            )
        return column


@contextlib.contextmanager
def _input_errors() -> Iterator[None]:
    """Makes a `ValueError` of the errors of Arrow columns."""
    try:
        yield
    except InputError as error:
        raise ValueError(error.cause) from None


class TextLists(Texts):
    """An argument with a list of texts for each segment."""

    ITEM = "list"

    def column(self, first: int, stop: int) -> pa.Array:
        """The lists of these rows, as large lists of large strings.

        Raises:
          ValueError: one is not a list, or has something else than texts.
        """
        part = self.values[first:stop]
        if isinstance(part, pa.ChunkedArray):
            with _input_errors():
                return list_column(part, self.name)
        for row, texts in enumerate(part, first):
            if not isinstance(texts, _LISTS):
                raise ValueError(
                    f"{self.name}[{row}] must be a list of texts, got {shown(texts)}; "
                    f"{self.name}= takes a list for each segment"
                )
        try:
            texts = padded_texts([*itertools.chain.from_iterable(part)])
        except (TypeError, UnicodeEncodeError):
            for row, row_texts in enumerate(part, first):
                for place, text in enumerate(row_texts):
                    _require_text(text, f"{self.name}[{row}][{place}]")
            raise
        ends = np.cumsum([0, *map(len, part)], dtype=np.int64)
        offsets = pa.Int64Array.from_buffers(pa.int64(), len(ends), [None, pa.py_buffer(ends)])
        return pa.LargeListArray.from_arrays(offsets, texts)


def _require_text(text: Any, name: str) -> None:
    """Checks that something is a text, or None.

    Raises:
      ValueError: it is not; the message begins with the name.
    """
    if not isinstance(text, str | None):
        raise ValueError(
            f"{name} must be a str, got {shown(text)}; decode bytes, and replace the missing "
            "values of pandas by '' or None"
        )
    try:
        _ = text and text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} is not Unicode: {shown(text)} has a lone surrogate at {error.start}; decode "
            "the text with its real encoding"
        ) from None


def shown(value: object) -> str:
    """A value of another type, for messages."""
    text = repr(value)
    return f"{text if len(text) <= 80 else text[:77] + '...'}, of type {type(value).__name__}"


def on_threads(
    work: Callable[[_Value], _Result], values: Iterable[_Value], threads: int
) -> Iterator[_Result]:
    """What `work` gives for each value, in their order.

    About two values for each thread are in memory at a time.

    Args:
      work: the function. Compiled code runs without the interpreter's lock.
      values: the values, which this thread makes.
      threads: the number of threads.

    Raises:
      ValueError: the number of threads is impossible.
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
