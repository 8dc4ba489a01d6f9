"""Records of tab-separated text: no quotes, no escapes, and a tab is never a part of a text.

A line ends at a newline and nowhere else. A carriage return before it belongs to no field:
`lines/line_columns.py`.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.masks import byte_mask
from beam_bleu.transforms.native.memory import (
    BLOCK,
    READ_AHEAD,
    address_of,
    clear_lowest_bit,
    copy,
    lowest_bit,
)
from beam_bleu.transforms.native.text_columns import offsets_of, padded_column
from beam_bleu.transforms.pairing.lines.line_columns import values_end
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.records.columns.choosing import BOTH, is_column_number
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    Columns,
    Fault,
    Wanted,
    null_in,
)
from beam_bleu.transforms.pairing.records.text.jsonl import readable

_MARK = "\ufeff"
"""A byte order mark. After `cat a b`, that of b is in the middle of the text."""


def has_header(wanted: Wanted, roles: Sequence[Role] = BOTH) -> bool:
    """Whether files have a header, if the user does not say it.

    Names of columns need a header, and so do the usual names. If all columns have numbers, the
    first line is a record.

    Args:
      wanted: the columns that the user asks for.
      roles: the roles of the texts that are read.
    """
    columns_of_roles = {"candidates": wanted.candidates, "references": wanted.references}
    if not all(columns_of_roles[role] for role in roles):
        return True
    named = [
        *(text.rpartition("=")[2] for text in wanted.candidates),
        *wanted.references,
        *(name for name in (*wanted.labels, *wanted.ids) if wanted.path_label(name) is None),
        *(column for _, column in wanted.kept),
        *(condition.column.text for condition in wanted.where),
        *(value.column for value in wanted.values),
        *(() if wanted.system is None else (wanted.system,)),
    ]
    return not all(map(is_column_number, named))


def fields_of(line: str) -> list[str]:
    """The fields of a line."""
    return line.removesuffix("\r").split("\t")


def read_tab_separated(
    lines: pa.LargeStringArray, bad_rows: Sequence[int], chosen: Chosen, has_header: bool = False
) -> tuple[Columns, dict[int, Fault]]:
    """Reads the chosen columns of lines, and says what is wrong with them; see `ReadRecords`.

    Args:
      lines: the lines, in a padded column.
      bad_rows: those that are known to be bad, which are not looked at.
      chosen: the columns. Each line must have as many fields as `chosen.fields`.
      has_header: whether their names come from a header, which is not among the lines.
    """
    names, column = chosen.fields, readable(lines, bad_rows)
    paths = chosen.columns
    fields = list(dict.fromkeys(int(path.steps[0]) for path in paths))
    split_fields, counts = split(column, fields, len(names))
    counts[list(bad_rows)] = len(names)
    faults = {
        row: _wrong_number(int(counts[row]), len(names))
        for row in np.flatnonzero(counts != len(names)).tolist()
    }
    if has_header:
        can_be = counts == len(names)
        marked = pa.array([*names, *(_MARK + name for name in names)], pa.large_string())
        for texts in split_fields:
            if can_be.any():  # usually the first column has no name of a column
                can_be &= pc.is_in(texts, marked).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(can_be).tolist():
            if sorted(fields_of(column[row].as_py().removeprefix(_MARK))) == sorted(names):
                faults[row] = _REPEATED_HEADER
    unread = [*faults, *bad_rows]
    by_field = {
        field: null_in(texts, unread) for field, texts in zip(fields, split_fields, strict=True)
    }
    return {path: by_field[int(path.steps[0])] for path in paths}, faults


def split(
    column: pa.LargeStringArray, fields: Sequence[int], count: int
) -> tuple[list[pa.LargeStringArray], np.ndarray]:
    """Some fields of lines, as padded columns, and int64 (rows,): the number of all their fields.

    A line with another number of fields has empty texts.

    Args:
      column: the lines, in a padded column.
      fields: the numbers of the fields that are wanted, from 0, each one once.
      count: the number of fields that each line must have.
    """
    slots = np.full(count, -1)
    slots[list(fields)] = np.arange(len(fields))
    begins = np.empty((len(fields), len(column)), np.int64)
    offsets = np.zeros((len(fields), len(column) + 1), np.int64)
    counts = np.empty(len(column), np.int64)
    texts = column.buffers()[2].address
    _find_fields(texts, offsets_of(column), slots, begins, offsets, counts)
    columns = []
    for begin, lengths in zip(begins, offsets, strict=True):
        ends = np.cumsum(lengths)
        out = np.zeros(int(ends[-1]) + READ_AHEAD, np.uint8)
        _copy_texts(begin, ends, out)
        columns.append(padded_column(out, ends))
    return columns, counts


_REPEATED_HEADER = Fault(
    None,
    "repeated-header",
    "has the names of columns, as the header of a file has, but it is not the first line",
    "remove this line, or give the files by a pattern, without joining them",
)


def _wrong_number(fields: int, count: int) -> Fault:
    has = "1 field" if fields == 1 else f"{fields} fields"
    return Fault(
        None,
        "wrong-number-of-fields",
        f"has {has}, and the first line has {count}",
        "each line must have the same number of fields, with a tab between them; quotes have no "
        "meaning",
    )


_tab_mask = byte_mask(["\t"])


@compiled
def _find_fields(texts, line_offsets, slots, begins, lengths, counts):
    """Writes the addresses and lengths of fields: a row for each slot, a column for each line."""
    for row in range(counts.size):
        begin = texts + line_offsets[row]
        end = values_end(begin, texts + line_offsets[row + 1])
        field = 0
        block = begin
        while block < end:
            tabs = _tab_mask(block)
            while tabs != np.uint64(0):
                tab = block + lowest_bit(tabs)
                if tab >= end:
                    break
                if field < slots.size and slots[field] >= 0:
                    begins[slots[field], row] = begin
                    lengths[slots[field], row + 1] = tab - begin
                begin = tab + 1
                field += 1
                tabs = clear_lowest_bit(tabs)
            block += BLOCK
        if field < slots.size and slots[field] >= 0:
            begins[slots[field], row] = begin
            lengths[slots[field], row + 1] = end - begin
        counts[row] = field + 1
        if field + 1 != slots.size:
            for slot in range(begins.shape[0]):
                lengths[slot, row + 1] = 0


@compiled
def _copy_texts(begins, offsets, out):
    """Copies the text that begins at each of these addresses to its offset."""
    target = address_of(out)
    for row in range(begins.size):
        copy(target + offsets[row], begins[row], offsets[row + 1] - offsets[row])
