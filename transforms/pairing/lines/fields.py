"""Splits lines into their tab-separated fields: one column of text for each field."""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Bytes, Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.memory import READ_AHEAD, address_of, copy
from beam_bleu.transforms.native.text_columns import offsets_of, padded_column, text_bytes

_TAB = ord("\t")


@dataclasses.dataclass(frozen=True)
class Fields:
    """The fields of lines.

    Attributes:
      columns: a padded column for each field. A line with another number of fields has empty texts.
      wrong: the rows of the lines with another number of fields, in order.
      found: how many fields each of these lines has, as sacreBLEU counts them.
    """

    columns: tuple[pa.LargeStringArray, ...]
    wrong: Integers
    found: Integers


def split_fields(column: pa.LargeStringArray, fields: int) -> Fields:
    """Splits lines into their fields.

    An empty field is an empty text. As in sacreBLEU, tabs in the white space at the end of a line
    separate no fields, so the last field must have a text. This white space, tabs included, stays
    in the last field: tokenizers drop it, and `signs` looks for carriage returns there.

    Args:
      column: lines without nulls.
      fields: the number of fields that each line must have.
    """
    texts = text_bytes(column)
    offsets = offsets_of(column) - offsets_of(column)[0]
    # pyarrow removes the same characters as Python's str.rstrip, which sacreBLEU uses.
    lengths = pc.binary_length(pc.utf8_rtrim_whitespace(column)).to_numpy()
    tabs = np.flatnonzero(texts == _TAB)
    first, end = np.searchsorted(tabs, [offsets[:-1], offsets[:-1] + lengths])
    wrong = np.flatnonzero(end - first != fields - 1)
    # A wrong line may have no tab at all. The places of its fields are not used.
    at = np.minimum(first[:, np.newaxis] + np.arange(fields - 1), max(len(tabs) - 1, 0))
    of_lines = np.append(tabs, 0)[at]
    begins = [offsets[:-1].copy(), *(of_lines + 1).T]
    ends = [*of_lines.T, offsets[1:].copy()]
    for bounds in (*begins, *ends):
        bounds[wrong] = 0
    columns = tuple(copied(texts, *span) for span in zip(begins, ends, strict=True))
    return Fields(columns, wrong, (end - first)[wrong] + 1)


def copied(texts: Bytes, begins: Integers, ends: Integers) -> pa.LargeStringArray:
    """A padded column of the texts that lie between these places of `texts`."""
    offsets = np.zeros(len(begins) + 1, np.int64)
    np.cumsum(ends - begins, out=offsets[1:])
    out = np.zeros(int(offsets[-1]) + READ_AHEAD, np.uint8)
    _copy_spans(texts, np.ascontiguousarray(begins), offsets, out)
    return padded_column(out, offsets)


@compiled
def _copy_spans(texts, begins, offsets, out):
    """Copies the text that begins at each of `begins` to its offset."""
    source, target = address_of(texts), address_of(out)
    for i in range(begins.size):
        copy(target + offsets[i], source + begins[i], offsets[i + 1] - offsets[i])
