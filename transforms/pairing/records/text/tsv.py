"""Records of tab-separated text: no quotes, no escapes, and a tab is never a part of a text.

A line ends at a newline and nowhere else. A carriage return before it belongs to no field:
`lines/line_columns.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from beam_bleu.transforms.pairing.lines.line_columns import split_values
from beam_bleu.transforms.pairing.records.columns.column_paths import repeated_headers
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, Columns, Fault, null_in
from beam_bleu.transforms.pairing.records.text.jsonl import readable


def fields_of(line: str) -> list[str]:
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
        headers = repeated_headers(found.columns, names, lambda row: fields_of(column[row].as_py()))
        faults = {**headers, **faults}
    unread = {*faults, *bad_rows}
    by_number = {
        number: null_in(texts, unread) for number, texts in zip(numbers, found.columns, strict=True)
    }
    return {path: by_number[int(path.steps[0])] for path in paths}, faults


def _wrong_number(fields: int, count: int) -> Fault:
    has = "1 field" if fields == 1 else f"{fields} fields"
    return Fault(
        None,
        "wrong-number-of-fields",
        f"has {has}, and the first line has {count}",
        "each line must have the same number of fields, with a tab between them; quotes have no "
        "meaning",
    )
