"""Joins the rows of a bucket by their ids, column by column.

Rows with equal ids are always in the same bucket. A batch has the rows of segments that the same
systems have.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Booleans, Integers
from beam_bleu.transforms.pairing.batch import KEPT_ID, SegmentBatch
from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.pairing.records.joins.coverage import (
    NOT_IN_ALL,
    WITHOUT_REFERENCE,
    Coverage,
    Findings,
    Report,
    Side,
    Sort,
)
from beam_bleu.transforms.pairing.records.joins.id_findings import (
    differing,
    finding,
    first_of,
    mismatched,
    twice,
)
from beam_bleu.transforms.pairing.records.joins.joined_segments import (
    JoinedColumn,
    JoinedPlaces,
    JoinedSegments,
)
from beam_bleu.transforms.pairing.records.joins.record_ids import IdKind, kept_ids
from beam_bleu.transforms.pairing.records.joins.row_messages import (
    CANDIDATE,
    FILTERED_STATE,
    ID,
    KEPT,
    LABEL,
    NUMBER,
    REFERENCE,
    REJECTED_STATE,
    STATE,
    SYSTEM,
    VALUE,
    columns_of,
    rows_of,
)
from beam_bleu.transforms.pairing.tally import FILTERED, REJECTED, Tally


@dataclasses.dataclass(frozen=True)
class JoinedBucket:
    """What a bucket gives.

    Attributes:
      report: its findings.
      tally: what became of its segments.
      batches: its segments. They are made when they are asked for.
    """

    report: Report
    tally: Tally
    batches: Iterator[SegmentBatch]


def join_streams(
    messages: Iterable[bytes],
    references: Sequence[Side],
    candidates: Sequence[Side],
    systems: Sequence[str],
    coverage: Coverage,
    values: Sequence[ValueColumn] = (),
    kept_names: Sequence[str] = (),
) -> JoinedBucket:
    """Joins the streams of references and candidates.

    Without references, the first system has the labels, the kept columns and the numbers of the
    segments.

    Args:
      messages: the messages of the bucket, in any order.
      references: the streams of references. The first one has the labels, the kept columns and the
        numbers of the segments.
      candidates: the stream of each system.
      systems: the systems' names.
      coverage: the rule for segments that not all systems have.
      values: the columns of numbers.
      kept_names: the names of the columns that are kept besides the id.
    """
    sides = [*references, *candidates]
    tables = rows_of(messages)
    report = _kinds_and_rows(tables)
    if report.prevents_batches:
        return _nothing(report)
    kinds: dict[int, IdKind] = dict(tables.keys())
    by_stream = {stream: table for (stream, _), table in tables.items()}
    codes, count = _codes({stream: table[ID].chunk(0) for stream, table in by_stream.items()})
    base = sides[0].stream
    known = np.zeros(count, bool)
    if base in by_stream:
        known[codes[base]] = True
    for stream in tuple(by_stream):
        by_stream[stream], codes[stream] = _kept(by_stream[stream], codes[stream])
        if not len(codes[stream]):
            del by_stream[stream], codes[stream]
    kept = np.zeros(count, bool)
    if base in by_stream:
        kept[codes[base]] = True
    filtered = int(known.sum()) - int(kept.sum())
    findings: dict[tuple[Sort, str], Findings] = {}
    rows_by_code = np.full((len(sides), count), -1, np.int64)
    for i, side in enumerate(sides):
        if side.stream in by_stream:
            of_side = codes[side.stream]
            rows_by_code[i, of_side] = np.arange(len(of_side))
            last = rows_by_code[i, of_side]
            kind = kinds[side.stream]
            findings["twice", side.name] = twice(by_stream[side.stream], of_side, last, kind)
    if any(findings.values()):
        return _nothing(report + Report(findings=findings))
    base_codes = codes.get(base, np.empty(0, np.int64))
    rejected = np.zeros(count, bool)  # a bad record of any stream rejects its segment
    for stream, table in by_stream.items():
        rejected[codes[stream][_state(table) == REJECTED_STATE]] = True
    rejected = rejected[base_codes]
    rows = rows_by_code[:, base_codes]  # (sides, segments): the row of each segment
    for i, side in enumerate(sides[1:], 1):
        lacks = np.flatnonzero((rows[i] < 0) & ~rejected)
        findings["missing", side.name] = first_of(
            by_stream.get(base), lacks, kinds.get(base, "string")
        )
        if side.stream in by_stream:
            others = np.flatnonzero(~known[codes[side.stream]])
            findings["unknown", side.name] = first_of(
                by_stream[side.stream], others, kinds[side.stream]
            )
    report += Report(segments=int((~rejected).sum()), findings=findings)
    there = rows >= 0
    with_references = there[: len(references)].all(axis=0)
    left_out = {REJECTED: rejected, WITHOUT_REFERENCE: ~rejected & ~with_references}
    scored, tally = _scored(there[len(references) :], left_out, systems, coverage)
    tally += _tally_of_filtered(filtered)
    if coverage.complete and any(findings.values()):
        return _nothing(report)
    tables_of_sides = [by_stream.get(side.stream) for side in sides]
    report += Report(findings=mismatched(tables_of_sides, rows, sides, kinds))
    reference_columns = _side_by_side(
        [
            [
                JoinedColumn(column, rows[i])
                for column in columns_of(by_stream.get(side.stream), REFERENCE)
            ]
            for i, side in enumerate(references)
        ]
    )
    of_candidates = [
        (by_stream.get(side.stream), rows[i]) for i, side in enumerate(candidates, len(references))
    ]
    segments = JoinedSegments(
        by_stream[base][NUMBER].to_numpy() if base in by_stream else base_codes,
        reference_columns,
        [JoinedColumn(column, rows[0]) for column in columns_of(by_stream[base], LABEL)]
        if base in by_stream
        else [],
        JoinedPlaces(by_stream[base], rows[0]) if base in by_stream else None,
        [_of_system(table, CANDIDATE, of_table) for table, of_table in of_candidates],
        tuple(systems),
        {
            column: [
                _of_system(table, f"{VALUE}{i}", of_table) for table, of_table in of_candidates
            ]
            for i, column in enumerate(values)
        },
        _kept_columns(by_stream[base], kinds[base], rows[0], kept_names)
        if base in by_stream
        else {},
    )
    return JoinedBucket(report, tally, segments.batches(scored))


def join_long(
    messages: Iterable[bytes],
    side: Side,
    systems: Sequence[str],
    coverage: Coverage,
    values: Sequence[ValueColumn] = (),
    kept_names: Sequence[str] = (),
) -> JoinedBucket:
    """Brings the systems of each segment together.

    A segment has the number, the labels and the kept columns of its first record.

    Args:
      messages: the messages of the bucket, in any order.
      side: the stream.
      systems: the names of all systems, also of those that have no row in this bucket.
      coverage: the rule for segments that not all systems have.
      values: the columns of numbers.
      kept_names: the names of the columns that are kept besides the id.
    """
    tables = rows_of(messages)
    report = _kinds_and_rows(tables)
    if report.prevents_batches or not tables:
        return _nothing(report)
    ((_, kind), table) = next(iter(tables.items()))
    codes, count = _codes({0: table[ID].chunk(0)})
    table, kept = _kept(table, codes[0])
    is_kept = np.zeros(count, bool)
    is_kept[kept] = True
    segment_of = (np.cumsum(is_kept) - 1)[kept]
    filtered, count = count - int(is_kept.sum()), int(is_kept.sum())
    if not count:
        return JoinedBucket(report, _tally_of_filtered(filtered), iter(()))
    firsts = _first_rows(segment_of, count)
    system_of = _system_numbers(table, systems)
    keys = segment_of * len(systems) + system_of
    rows = np.full((len(systems), count), -1, np.int64)
    rows[system_of, segment_of] = np.arange(len(keys))
    last = rows[system_of, segment_of]
    rejected = np.zeros(count, bool)  # a bad record of any system rejects its segment
    rejected[segment_of[_state(table) == REJECTED_STATE]] = True
    findings: dict[tuple[Sort, str], Findings] = {
        ("twice", side.name): twice(table, keys, last, kind, systems, system_of),
        ("differing", side.name): differing(table, segment_of, firsts, rejected, kind),
    }
    if any(findings.values()):
        return _nothing(report + Report(findings=findings))
    order = np.argsort(firsts, kind="stable")  # segments in the order of their first records
    firsts = firsts[order]
    rows = rows[:, order]
    there = rows >= 0
    rejected = rejected[order]
    for system, of_system in zip(systems, there, strict=True):
        lacks = firsts[~of_system & ~rejected]
        findings["missing", f"candidates {system}"] = first_of(table, lacks, kind)
    report += Report(segments=int((~rejected).sum()), findings=findings)
    scored, tally = _scored(there, {REJECTED: rejected}, systems, coverage)
    tally += _tally_of_filtered(filtered)
    if coverage.complete and any(findings.values()):
        return _nothing(report)
    segments = JoinedSegments(
        table[NUMBER].to_numpy()[firsts],
        [JoinedColumn(column, firsts) for column in columns_of(table, REFERENCE)],
        [JoinedColumn(column, firsts) for column in columns_of(table, LABEL)],
        JoinedPlaces(table, firsts),
        [_of_system(table, CANDIDATE, of_system) for of_system in rows],
        tuple(systems),
        {
            column: [_of_system(table, f"{VALUE}{i}", of_system) for of_system in rows]
            for i, column in enumerate(values)
        },
        _kept_columns(table, kind, firsts, kept_names),
    )
    return JoinedBucket(report, tally, segments.batches(scored))


def _nothing(report: Report) -> JoinedBucket:
    """A bucket without batches, because the job will fail, or because it has no rows."""
    return JoinedBucket(report, Tally(), iter(()))


def _tally_of_filtered(segments: int) -> Tally:
    return Tally(segments, left_out={FILTERED: segments}) if segments else Tally()


def _kept(table: pa.Table, codes: Integers) -> tuple[pa.Table, Integers]:
    """The rows that the conditions keep, with their codes.

    Conditions can choose among several records with the same id. So those that they leave out are
    not compared with the others.
    """
    kept = np.flatnonzero(_state(table) != FILTERED_STATE)
    if len(kept) == len(codes):
        return table, codes
    return table.take(pa.array(kept)).combine_chunks(), codes[kept]


def _side_by_side(streams: Sequence[Sequence[JoinedColumn]]) -> list[JoinedColumn | None]:
    """The columns of references: the first one of each stream, then the second ones, and so on.

    A stream can have more columns in one bucket than in another one, if they are of lists. In
    this order the number of a reference does not depend on the bucket.
    """
    most = max(map(len, streams), default=0)
    return [of[place] if place < len(of) else None for place in range(most) for of in streams]


def _kinds_and_rows(tables: Mapping[tuple[int, IdKind], pa.Table]) -> Report:
    report = Report()
    for (stream, kind), table in tables.items():
        first = finding(table, [0], kind)
        report += Report({stream: len(table)}, {stream: {kind: first}})
    return report


def _codes(ids: Mapping[int, pa.LargeStringArray]) -> tuple[dict[int, Integers], int]:
    """A number for each id, by stream: equal ids of all streams have equal numbers.

    Arrow compares the ids themselves, and not only their hashes.

    Returns:
      the numbers by stream, int64; how many different ids there are.
    """
    if not ids:
        return {}, 0
    encoded = pa.chunked_array(list(ids.values()), pa.large_string()).dictionary_encode()
    encoded = encoded.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    numbers = encoded.indices.to_numpy().astype(np.int64)
    ends = list(itertools.accumulate(len(column) for column in ids.values()))
    return (
        {
            stream: numbers[end - len(column) : end]
            for (stream, column), end in zip(ids.items(), ends, strict=True)
        },
        len(encoded.dictionary),
    )


def _kept_columns(
    table: pa.Table, kind: IdKind, rows: Integers, names: Sequence[str]
) -> dict[str, JoinedColumn]:
    """The ids, and the columns that are kept besides them. Rows without texts have only ids."""
    columns = {KEPT_ID: kept_ids(table[ID].chunk(0), kind)}
    columns |= zip(names, columns_of(table, KEPT), strict=False)
    return {name: JoinedColumn(column, rows) for name, column in columns.items()}


def _of_system(table: pa.Table | None, name: str, rows: Integers) -> JoinedColumn | None:
    if table is None or name not in table.column_names:
        return None
    return JoinedColumn(table[name].chunk(0), rows)


def _state(table: pa.Table) -> Integers:
    states: Integers = table[STATE].to_numpy()
    return states


def _first_rows(codes: Integers, count: int) -> Integers:
    firsts = np.empty(count, np.int64)
    # Backwards, so that the first row is written last.
    firsts[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return firsts


def _system_numbers(table: pa.Table, systems: Sequence[str]) -> Integers:
    column = table[SYSTEM].chunk(0)
    numbers = {name: number for number, name in enumerate(systems)}
    of_dictionary = np.array([numbers[name] for name in column.dictionary.to_pylist()], np.int64)
    of_rows: Integers = of_dictionary[column.indices.to_numpy()]
    return of_rows


def _scored(
    there: Booleans,
    left_out: Mapping[str, Booleans],
    systems: Sequence[str],
    coverage: Coverage,
) -> tuple[Booleans, Tally]:
    """Which segments are scored for which systems, bool (systems, segments), and their tally.

    Args:
      there: bool (systems, segments), whether a system has a segment.
      left_out: by reason, bool (segments,), whether a segment is left out for all systems.
      systems: the systems' names.
      coverage: the rule for segments that not all systems have.
    """
    count = there.shape[1]
    usable = ~np.any([np.zeros(count, bool), *left_out.values()], axis=0)
    in_enough = there.any(axis=0) if coverage.partial else there.all(axis=0)
    chosen = usable & in_enough
    scored = there & chosen
    reasons = {reason: int(rows.sum()) for reason, rows in left_out.items()}
    reasons[NOT_IN_ALL] = int((usable & ~in_enough).sum())
    by_system = dict(zip(systems, scored.sum(axis=1).tolist(), strict=True))
    total = int(chosen.sum())
    return scored, Tally(
        count,
        {system: scored for system, scored in by_system.items() if scored},
        {reason: number for reason, number in reasons.items() if number},
        {system: total - scored for system, scored in by_system.items() if scored < total},
    )
