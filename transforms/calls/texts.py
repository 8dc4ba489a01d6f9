"""Texts of other libraries as columns: lists, tuples, and arrays of Arrow, numpy and pandas."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.text_columns import padded_texts
from beam_bleu.transforms.pairing.segments.arrow_columns import (
    list_column,
    text_column,
    whole_column,
)

_FORMS = "a list or tuple, a pyarrow Array, a numpy array or a pandas Series"

_LISTS = (list, tuple, np.ndarray)


class _Argument:
    """Values for each segment in a form that a user has, in order.

    Attributes:
      values: the values; a list if they are not in an Arrow array.
      name: the argument that they are, for messages, such as "references[0]".

    Raises:
      ValueError: it is not one of the forms.
    """

    _WHAT: str

    def __init__(self, values: Any, name: str) -> None:
        self.values = _sequence(values, name, self._WHAT)
        self.name = name

    def __len__(self) -> int:
        return len(self.values)


class Texts(_Argument):
    """A text for each segment."""

    _WHAT = "texts"

    def column(self, first: int, stop: int) -> pa.LargeStringArray:
        """The texts of these rows; null where one is missing.

        Raises:
          ValueError: one is not a text.
        """
        part = self.values[first:stop]
        if isinstance(part, pa.ChunkedArray):
            return _valid(text_column, part, self.name)
        return _column(part, lambda place: f"{self.name}[{first + place}]")

    def complete_column(self, first: int, stop: int) -> pa.LargeStringArray:
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


class TextLists(_Argument):
    """A list of texts for each segment."""

    _WHAT = "lists of texts"

    def column(self, first: int, stop: int) -> pa.LargeListArray:
        """The lists of these rows, as `list_column` gives them.

        Raises:
          ValueError: one is not a list, or has something else than texts.
        """
        part = self.values[first:stop]
        if isinstance(part, pa.ChunkedArray):
            return _valid(list_column, part, self.name)
        for kind in {*map(type, part)}:
            if not issubclass(kind, _LISTS):
                row = next(row for row, texts in enumerate(part) if type(texts) is kind)
                raise ValueError(
                    f"{self.name}[{first + row}] must be a list of texts, got "
                    f"{shown(part[row])}; {self.name}= takes a list for each segment"
                )
        ends = np.zeros(len(part) + 1, np.int64)
        np.cumsum([*map(len, part)], out=ends[1:])

        def name_of(place: int) -> str:
            row = int(np.searchsorted(ends, place, side="right")) - 1
            return f"{self.name}[{first + row}][{place - ends[row]}]"

        texts = [*itertools.chain.from_iterable(part)]
        offsets = pa.Int64Array.from_buffers(pa.int64(), len(ends), [None, pa.py_buffer(ends)])
        return pa.LargeListArray.from_arrays(offsets, _column(texts, name_of))


def _sequence(values: Any, name: str, of_what: str) -> Sequence[Any] | pa.ChunkedArray:
    """An argument with a text, or a list of texts, for each segment.

    Raises:
      ValueError: it is not one of the forms.
    """
    if isinstance(values, list | tuple | pa.ChunkedArray):
        return values
    if isinstance(values, pa.Array):
        return pa.chunked_array([values])
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Series | pandas.Index):
        values = values.to_numpy(dtype=object)
    if isinstance(values, np.ndarray):
        if not values.ndim:
            raise ValueError(f"{name} must be an array of {of_what}, got one value: {values!r}")
        listed: list[Any] = values.tolist()
        return listed
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray):
        return [*values]
    raise ValueError(f"{name} must be {of_what}: {_FORMS}; got {shown(values)}")


def _valid(column_of: Any, part: pa.ChunkedArray, name: str) -> Any:
    """A column of an Arrow array.

    Raises:
      ValueError: it has another type, or its texts are not UTF-8.
    """
    try:
        return column_of(whole_column(part), name)
    except InputError as error:
        raise ValueError(error.cause) from None


def _column(texts: Sequence[Any], name_of: Any) -> pa.LargeStringArray:
    """A column of texts.

    Args:
      texts: the texts; None for a missing one.
      name_of: the name of a text for messages, by its place.

    Raises:
      ValueError: something is not a text.
    """
    try:
        return padded_texts(texts)
    except (TypeError, UnicodeEncodeError):
        for place, text in enumerate(texts):
            if not isinstance(text, str | None):
                remedy = _remedy(text)
                raise ValueError(
                    f"{name_of(place)} must be a str, got {shown(text)}{remedy}"
                ) from None
            try:
                _ = text and text.encode()
            except UnicodeEncodeError as error:
                raise ValueError(
                    f"{name_of(place)} is not Unicode: {shown(text)} has a lone surrogate at "
                    f"{error.start}; decode the text with its real encoding"
                ) from None
        raise


def _remedy(value: object) -> str:
    """What to do about a value that is not a text."""
    if isinstance(value, bytes | bytearray):
        return '; decode it, such as with .decode("utf-8")'
    if str(value) in ("nan", "<NA>"):  # missing values of pandas
        return (
            "; pandas also reads an empty text as a missing value: fill it with '', or put None "
            "if a reference is missing"
        )
    return ""


def shown(value: object) -> str:
    """A value of another type, for messages."""
    text = repr(value)
    shown = text if len(text) <= 80 else text[:77] + "..."
    return f"{shown}, of type {type(value).__name__}"
