"""Joins the rows of one bucket (a share of all ids) into segments, column by column."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Booleans, Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.notices import SHOWN_IDS
from beam_bleu.transforms.pairing.batch import Places, SegmentBatch, usual_rows
from beam_bleu.transforms.pairing.paired import FILTERED, REJECTED, Tally
from beam_bleu.transforms.pairing.records.joins.findings import (
    NOT_IN_ALL,
    WITHOUT_REFERENCE,
    Finding,
    FindingKey,
    Findings,
    Report,
    Sort,
)
from beam_bleu.transforms.pairing.records.joins.rows import (
    CANDIDATE,
    FILTERED_STATE,
    KEPT,
    LABEL,
    REFERENCE,
    REJECTED_STATE,
    VALUE,
    WITNESS,
    columns_of,
    rows_of,
    shown_id,
)

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.joins.join_sources import JoinedRecords


def join_bucket(
    source: JoinedRecords, systems: Sequence[str], messages: Iterable[bytes]
) -> tuple[Report, Iterator[SegmentBatch]]:
    rows = rows_of(messages)
    return (Report(), iter(())) if rows is None else _Bucket(source, systems, rows).join()


class _Bucket:
    """The rows of a bucket. `codes` and `sides`, int64 (rows,), are the number of each row's id, by
    Arrow's comparison of texts, and the number of its side.

    `live` are the rows that the conditions keep, which can choose one of several with the same id.
    `known` are the ids of the first side, whatever the conditions. `rows`, int64 (sides, segments),
    is the row of each segment on each side, or -1.
    """

    def __init__(self, source: JoinedRecords, systems: Sequence[str], table: pa.Table) -> None:
        self._source, self._systems, self._table = source, systems, table
        self._names = source.sides(systems)
        self._references = len(source.references)
        ids = table["id"].chunk(0).dictionary_encode()
        self._codes = ids.indices.to_numpy().astype(np.int64)
        count = len(ids.dictionary)
        state = table["state"].to_numpy()
        self._live = np.flatnonzero(state != FILTERED_STATE)
        self._sides = table["stream"].to_numpy().astype(np.int64)
        is_base = self._sides == 0
        if source.is_long:
            numbers = {system: number for number, system in enumerate(systems, 1)}
            column = table["system"].chunk(0)  # null if a condition leaves the row out
            of_names = [*map(numbers.__getitem__, column.dictionary.to_pylist()), 0]
            self._sides = np.array(of_names, np.int64)[column.indices.fill_null(-1).to_numpy()]
        self._known = np.zeros(count, bool)
        self._known[self._codes[is_base]] = True
        self._by_code = np.full((len(self._names), count), -1, np.int64)
        # So that, of several rows, the first is written last and stays.
        backwards = self._live[::-1]
        self._by_code[self._sides[backwards], self._codes[backwards]] = backwards
        if source.is_long:
            self._by_code[0, self._codes[backwards]] = backwards
        bases = np.sort(self._by_code[0][self._by_code[0] >= 0])
        self._filtered = int(self._known.sum()) - len(bases)
        self._rows = self._by_code[:, self._codes[bases]]
        is_rejected = np.zeros(count, bool)
        is_rejected[self._codes[state == REJECTED_STATE]] = True
        self._rejected = is_rejected[self._codes[bases]]

    def join(self) -> tuple[Report, Iterator[SegmentBatch]]:
        source, rows = self._source, self._rows
        report = Report(arrived=len(self._table), segments=int((~self._rejected).sum()))
        live = self._live
        firsts = self._by_code[self._sides[live], self._codes[live]]
        unclear = self._of_sides("twice", np.unique(firsts[firsts != live]))
        if source.is_long:
            unclear |= self._differing()
        if unclear:
            return dataclasses.replace(report, findings=unclear), iter(())
        # Rows with ids that the first side does not have.
        unknown = live[~self._known[self._codes[live]]]
        findings = self._missing() | self._of_sides("unknown", unknown)
        scored, tally = self._scored()
        report = dataclasses.replace(report, findings=findings, tally=tally)
        if source.coverage == "strict" and findings:
            return report, iter(())
        report += Report(findings=self._mismatched())
        return report, self._batches(scored) if rows.size else iter(())

    @property
    def _places(self) -> Places:
        return Places(*(self._table[name].chunk(0) for name in ("path", "place kind", "place")))

    def _findings(self, firsts: Integers, side: int | None = None) -> Findings:
        rows = self._live if side is None else self._live[self._sides[self._live] == side]
        first = []
        for row in firsts[:SHOWN_IDS].tolist():
            same = rows[self._codes[rows] == self._codes[row]][:SHOWN_IDS]
            text, number = (self._table[name][row].as_py() for name in ("id", "number"))
            shown = text if len(self._source.wanted.ids) > 1 else shown_id(text)
            first.append(Finding(number, shown, tuple(map(self._places.of, same.tolist()))))
        return Findings(len(firsts), tuple(first))

    def _of_sides(self, sort: Sort, rows: Integers) -> dict[FindingKey, Findings]:
        return {
            (sort, self._names[number], ""): self._findings(
                rows[self._sides[rows] == number], number
            )
            for number in np.unique(self._sides[rows]).tolist()
        }

    def _differing(self) -> dict[FindingKey, Findings]:
        """The rows whose references, labels or kept columns differ from those of their segment's
        first row, except in rejected segments, because bad records have no texts here.
        """
        rejected = self._rows[0][self._rejected]
        rows = self._live[~np.isin(self._codes[self._live], self._codes[rejected])]
        firsts = self._by_code[0, self._codes[rows]]
        differs = np.zeros(len(rows), bool)
        for prefix in (REFERENCE, LABEL, KEPT):
            for column in columns_of(self._table, prefix):
                codes = column.indices if pa.types.is_dictionary(column.type) else column
                own, first = codes.take(pa.array(rows)), codes.take(pa.array(firsts))
                equal = pc.fill_null(pc.equal(own, first), False)
                both_null = pc.and_(own.is_null(), first.is_null())
                differs |= ~pc.or_(equal, both_null).to_numpy(zero_copy_only=False)
        key: FindingKey = ("differing", self._names[0], "")
        return {key: self._findings(firsts[differs])} if differs.any() else {}

    def _missing(self) -> dict[FindingKey, Findings]:
        base = None if self._source.is_long else 0
        lacking = (self._rows < 0) & ~self._rejected
        return {
            ("missing", name, ""): self._findings(self._rows[0][lacks], base)
            for name, lacks in zip(self._names, lacking, strict=True)
            if lacks.any()
        }

    def _mismatched(self) -> dict[FindingKey, Findings]:
        """The segments whose witnesses differ from those on the first side that has this column."""
        findings: dict[FindingKey, Findings] = {}
        for name in self._table.column_names:
            if not name.startswith(WITNESS):
                continue
            hashes = self._table[name].chunk(0)
            of_sides = [hashes.take(pa.array(rows, mask=rows < 0)) for rows in self._rows]
            having = [n for n, of_side in enumerate(of_sides) if of_side.null_count < len(of_side)]
            for number in having[1:]:
                base = having[0]
                differ = pc.fill_null(pc.not_equal(of_sides[base], of_sides[number]), False)
                rows = self._rows[base, differ.to_numpy(zero_copy_only=False)]
                if len(rows):
                    names = " and ".join(self._names[n] for n in (base, number))
                    key: FindingKey = ("mismatched", names, name.removeprefix(WITNESS))
                    findings[key] = self._findings(rows)
        return findings

    def _scored(self) -> tuple[Booleans, Tally]:
        """Which segments are scored for which systems, bool (systems, segments), and the tally."""
        present = self._rows >= 0
        without_reference = ~self._rejected & ~present[: self._references].all(axis=0)
        usable = ~self._rejected & ~without_reference
        present = present[self._references :]
        in_enough = present.any(axis=0) if self._source.coverage == "each" else present.all(axis=0)
        chosen = usable & in_enough
        scored = present & chosen
        left_out = {
            FILTERED: self._filtered,
            REJECTED: int(self._rejected.sum()),
            WITHOUT_REFERENCE: int(without_reference.sum()),
            NOT_IN_ALL: int((usable & ~in_enough).sum()),
        }
        total, counts = int(chosen.sum()), scored.sum(axis=1).tolist()
        by_system = dict(zip(self._systems, counts, strict=True))
        missing = {system: total - count for system, count in by_system.items()}
        return scored, Tally(present.shape[1] + self._filtered, by_system, left_out, missing)

    def _batches(self, scored: Booleans) -> Iterator[SegmentBatch]:
        sets = [np.arange(scored.shape[1])]
        if not scored.all():  # if all are, which is usual, nothing need be sorted
            packed = np.ascontiguousarray(np.packbits(scored, axis=0).T)
            _, set_of = np.unique(packed, axis=0, return_inverse=True)
            order = np.argsort(set_of, kind="stable")
            sets = np.split(order, np.flatnonzero(np.diff(set_of[order])) + 1)
        for segments in sets:
            systems = np.flatnonzero(scored[:, segments[0]])
            if len(systems):
                size = usual_rows(self._references + len(systems))
                for begin in range(0, len(segments), size):
                    yield self._batch(segments[begin : begin + size], systems)

    def _batch(self, segments: Integers, systems: Integers) -> SegmentBatch:
        table, rows = self._table, self._rows[:, segments]
        of_systems = rows[self._references :][systems]
        bases = pa.array(rows[0])
        # The first reference of each stream, then the second ones, and so on. So the number of a
        # reference does not depend on other segments, which can have more references.
        references = [
            padded(column.take(pa.array(of_side)))
            for column in columns_of(table, REFERENCE)
            for of_side in rows[: self._references]
        ]
        while len(references) > 1 and references[-1].null_count == len(segments):
            references.pop()
        candidates = columns_of(table, CANDIDATE)
        labels = [column.take(bases) for column in columns_of(table, LABEL)]
        places = self._places.take(bases)
        numbers = (column.to_numpy(zero_copy_only=False) for column in columns_of(table, VALUE))
        kept = zip(
            self._source.kept, [table["id"].chunk(0), *columns_of(table, KEPT)], strict=False
        )
        return SegmentBatch(
            tuple(padded(text.take(pa.array(rows))) for text in candidates for rows in of_systems),
            tuple(references),
            table["number"].to_numpy()[rows[0]],
            systems=tuple(self._systems[system] for system in systems.tolist()),
            labels=tuple(labels),
            label_places=tuple(places for _ in labels),
            values={
                value: column[of_systems]
                for value, column in zip(self._source.values, numbers, strict=False)
            },
            kept={name: column.take(bases) for name, column in kept},
        )
