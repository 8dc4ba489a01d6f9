"""Finds the ids of a bucket that are twice, or whose rows differ, and tells where they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Booleans, Integers
from beam_bleu.transforms.notices import SHOWN_IDS
from beam_bleu.transforms.pairing.records.joins.coverage import (
    BETWEEN,
    Finding,
    Findings,
    Side,
    Sort,
)
from beam_bleu.transforms.pairing.records.joins.record_ids import IdKind, shown_id
from beam_bleu.transforms.pairing.records.joins.row_messages import (
    ID,
    KEPT,
    LABEL,
    NUMBER,
    PATH,
    PLACE,
    PLACE_KIND,
    REFERENCE,
    WITNESS,
    columns_of,
)

_OF_SEGMENTS = (REFERENCE, LABEL, KEPT)
"""The columns that all rows of a segment have in common, in long records."""


def finding(
    table: pa.Table, rows: Sequence[int], kind: IdKind, what: str = "", times: int = 1
) -> Finding:
    """The finding about the id of these rows, of which the first one gives the number.

    Args:
      table: the rows.
      rows: the first ones with the id.
      kind: the kind of the ids.
      what: what follows the id in a message.
      times: the number of all rows with the id.
    """
    places = tuple(
        f"{table[PATH][row].as_py()} {table[PLACE_KIND][row].as_py()} {table[PLACE][row].as_py()}"
        for row in rows
    )
    shown = shown_id(table[ID][rows[0]].as_py(), kind) + what
    return Finding(table[NUMBER][rows[0]].as_py(), shown, places, times)


def first_of(table: pa.Table | None, rows: Integers, kind: IdKind) -> Findings:
    """The findings about rows of a table, which are in the order of their numbers."""
    if table is None or not len(rows):
        return Findings()
    first = tuple(finding(table, [row], kind) for row in rows[:SHOWN_IDS].tolist())
    return Findings(len(rows), first)


def twice(
    table: pa.Table,
    keys: Integers,
    last: Integers,
    kind: IdKind,
    systems: Sequence[str] = (),
    system_of: Integers | None = None,
) -> Findings:
    """The keys that several rows have. A message shows the first places of each.

    Args:
      table: the rows.
      keys: int64 (rows,), the key of each row.
      last: int64 (rows,), a row with the same key. It is the row itself if no other one has it.
      kind: the kind of the ids.
      systems: the systems of long records.
      system_of: int64 (rows,), the number of the system of each row.
    """
    if np.array_equal(last, np.arange(len(keys))):
        return Findings()
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.append(begins, len(ordered)))
    several = np.flatnonzero(sizes > 1)
    # By the row of their first places, so that the first ones are named.
    several = several[np.argsort(order[begins[several]], kind="stable")]
    first = []
    for group in several[:SHOWN_IDS].tolist():
        begin = int(begins[group])
        times = int(sizes[group])
        rows = order[begin : begin + min(times, SHOWN_IDS)].tolist()
        what = "" if system_of is None else f" of the system {systems[system_of[rows[0]]]}"
        first.append(finding(table, rows, kind, what, times))
    return Findings(len(several), tuple(first))


def mismatched(
    tables: Sequence[pa.Table | None],
    rows: Integers,
    sides: Sequence[Side],
    kinds: Mapping[int, IdKind],
) -> dict[tuple[Sort, str], Findings]:
    """The segments whose witnesses differ from those of the first side that has this column.

    Args:
      tables: the rows of each side; None if it has none.
      rows: int64 (sides, segments), the row of each segment; -1 if a side lacks it.
      sides: the streams.
      kinds: the kind of the ids, by the number of a stream.
    """
    found: dict[tuple[Sort, str], Findings] = {}
    having: dict[str, list[tuple[Side, pa.Table, Integers]]] = {}
    for side, table, of_side in zip(sides, tables, rows, strict=True):
        for name in table.column_names if table else ():
            if name.startswith(WITNESS):
                having.setdefault(name, []).append((side, table, of_side))
    for name, ((first, usual, usual_rows), *others) in having.items():
        expected = _at(usual[name], usual_rows)
        for side, table, of_side in others:
            differs = pc.fill_null(pc.not_equal(expected, _at(table[name], of_side)), False)
            segments = np.flatnonzero(differs.to_numpy(zero_copy_only=False))
            if not len(segments):
                continue
            shown = []
            for segment in segments[:SHOWN_IDS].tolist():
                one = finding(usual, [usual_rows[segment]], kinds[first.stream])
                other = finding(table, [of_side[segment]], kinds[side.stream])
                shown.append(dataclasses.replace(one, places=one.places + other.places))
            key = f"{first.name} and {side.name}{BETWEEN}{name.removeprefix(WITNESS)}"
            found["mismatched", key] = Findings(len(segments), tuple(shown))
    return found


def _at(column: pa.ChunkedArray, rows: Integers) -> pa.Array:
    """The values at these rows; null for -1."""
    return column.chunk(0).take(pa.array(rows, mask=rows < 0))


def differing(
    table: pa.Table, segment_of: Integers, firsts: Integers, rejected: Booleans, kind: IdKind
) -> Findings:
    """The rows whose references, labels or kept columns are not those of their segment's first row.

    Those of rejected segments are not compared, because a bad record has no texts here.
    """
    differs = np.zeros(len(table), bool)
    first_row = pa.array(firsts[segment_of])
    for column in (column for prefix in _OF_SEGMENTS for column in columns_of(table, prefix)):
        codes = column.indices if pa.types.is_dictionary(column.type) else column
        usual = codes.take(first_row)
        equal = pc.fill_null(pc.equal(codes, usual), False)
        both_null = pc.and_(codes.is_null(), usual.is_null())
        differs |= ~pc.or_(equal, both_null).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(differs & ~rejected[segment_of])
    first = tuple(
        finding(table, [int(firsts[segment_of[row]]), row], kind)
        for row in rows[:SHOWN_IDS].tolist()
    )
    return Findings(len(rows), first)
