"""Records of tab-separated text: no quotes, no escapes, and a tab is never a part of a text.

A line ends at a newline and nowhere else. A carriage return before it belongs to no field:
`lines/line_columns.py`.
"""

from __future__ import annotations

import pyarrow as pa

from beam_bleu.transforms.pairing.lines.line_columns import split_values
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, Columns, Fault


def fields_of(line: str) -> list[str]:
    return line.removesuffix("\r").split("\t")


def read_tab_separated(
    lines: pa.LargeStringArray, chosen: Chosen
) -> tuple[Columns, dict[int, Fault]]:
    """The chosen columns of a padded column of lines; see `RecordFiles.columns_of`.

    Each line must have as many fields as `chosen.fields`.
    """
    fields = len(chosen.fields)
    numbers = list(dict.fromkeys(int(path.steps[0]) for path in chosen.columns))
    found = split_values(lines, fields, numbers)
    counts = zip(found.wrong.tolist(), found.counts.tolist(), strict=True)
    faults = {row: _wrong_number(count, fields) for row, count in counts}
    by_number = dict(zip(numbers, found.columns, strict=True))
    return {path: by_number[int(path.steps[0])] for path in chosen.columns}, faults


def _wrong_number(fields: int, count: int) -> Fault:
    has = "1 field" if fields == 1 else f"{fields} fields"
    return Fault(
        None,
        "wrong-number-of-fields",
        f"has {has}, and the first line has {count}",
        "each line must have the same number of fields, with a tab between them; quotes have no "
        "meaning",
    )
