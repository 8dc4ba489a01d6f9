"""Records of tab-separated text: no quotes, no escapes, and a tab is never a part of a text.

A line ends at a newline and nowhere else. A carriage return before it belongs to no field:
`lines/line_columns.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.pairing.lines.line_columns import split_values
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
    numbers = list(dict.fromkeys(int(path.steps[0]) for path in paths))
    found = split_values(column, len(names), numbers)
    counts = zip(found.wrong.tolist(), found.counts.tolist(), strict=True)
    faults = {row: _wrong_number(count, len(names)) for row, count in counts if row not in bad_rows}
    if has_header:
        can_be = np.ones(len(column), bool)
        can_be[found.wrong] = False
        marked = pa.array([*names, *(_MARK + name for name in names)], pa.large_string())
        for texts in found.columns:
            if can_be.any():  # usually the first column has no name of a column
                can_be &= pc.is_in(texts, marked).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(can_be).tolist():
            if sorted(fields_of(column[row].as_py().removeprefix(_MARK))) == sorted(names):
                faults[row] = _REPEATED_HEADER
    unread = {*faults, *bad_rows}
    by_number = {
        number: null_in(texts, unread) for number, texts in zip(numbers, found.columns, strict=True)
    }
    return {path: by_number[int(path.steps[0])] for path in paths}, faults


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
