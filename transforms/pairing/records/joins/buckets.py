"""Joins the rows of a bucket by their ids, column by column.

Rows with equal ids are always in the same bucket. The first side of a join says which segments
there are: a stream, or the first record of each segment of long records. A batch has the segments
that the same systems have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Booleans, Integers
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.notices import SHOWN_IDS
from beam_bleu.transforms.pairing.batch import KEPT_ID, Places, SegmentBatch, usual_rows
from beam_bleu.transforms.pairing.needs import ValueColumn
from beam_bleu.transforms.pairing.records.joins.findings import (
    NOT_IN_ALL,
    WITHOUT_REFERENCE,
    Coverage,
    Finding,
    FindingKey,
    Findings,
    Report,
    Side,
    Sort,
)
from beam_bleu.transforms.pairing.records.joins.ids import shown_id
from beam_bleu.transforms.pairing.records.joins.rows import (
    CANDIDATE,
    FILTERED_STATE,
    ID,
    KEPT,
    LABEL,
    NUMBER,
    PATH,
    PLACE,
    PLACE_KIND,
    REFERENCE,
    REJECTED_STATE,
    STATE,
    STREAM,
    SYSTEM,
    VALUE,
    WITNESS,
    columns_of,
    rows_of,
)
from beam_bleu.transforms.pairing.tally import FILTERED, REJECTED, Tally


@dataclasses.dataclass(frozen=True)
class Joining:
    """What the buckets of a join have in common.

    Attributes:
      sides: the first one has the numbers, labels and kept columns of the segments; then come
        further streams of references, and the systems.
      references: how many of the first sides have references. Only numbers need none.
      is_long: whether the sides of the systems are parts of the first one.
      coverage: the rule for segments that not all systems have.
      values: the columns of numbers.
      kept: the names of the columns that are kept besides the id.
      id_columns: the number of the columns of an id.
    """

    sides: Sequence[Side]
    references: int
    is_long: bool
    coverage: Coverage
    values: Sequence[ValueColumn] = ()
    kept: Sequence[str] = ()
    id_columns: int = 1

    @property
    def systems(self) -> tuple[Side, ...]:
        return tuple(self.sides[self.references :])

    def join(self, messages: Iterable[bytes]) -> tuple[Report, Iterator[SegmentBatch]]:
        """Joins the messages of a bucket, in any order."""
        rows = rows_of(messages)
        if rows is None:
            return Report(), iter(())
        return _Bucket(self, rows).join()


class _Bucket:
    """The rows of a bucket.

    Attributes:
      codes: int64 (rows,), a number for each id. Arrow compares the ids, and not only hashes.
      sides: int64 (rows,), the side of each row.
      live: int64, the rows that the conditions keep. They can choose among several records with
        one id, so those that they leave out are not compared with the others.
      known: bool (codes,), which ids the first side has, with or without conditions.
      rows: int64 (sides, segments), the row of each segment on each side; -1 if a side lacks it.
      rejected: bool (segments,), which segments have a bad record on any side.
    """

    def __init__(self, joining: Joining, table: pa.Table) -> None:
        self._joining, self._table = joining, table
        ids = table[ID].chunk(0).dictionary_encode()
        self._codes = ids.indices.to_numpy().astype(np.int64)
        count = len(ids.dictionary)
        state = table[STATE].to_numpy()
        self._live = np.flatnonzero(state != FILTERED_STATE)
        self._sides = self._side_numbers()
        is_base = np.full(len(table), True) if joining.is_long else self._sides == 0
        self._known = np.zeros(count, bool)
        self._known[self._codes[is_base]] = True
        self._by_code = np.full((len(joining.sides), count), -1, np.int64)
        backwards = self._live[::-1]  # so that the first row is written last
        self._by_code[self._sides[backwards], self._codes[backwards]] = backwards
        if joining.is_long:
            self._by_code[0, self._codes[backwards]] = backwards
        bases = np.sort(self._by_code[0][self._by_code[0] >= 0])
        self._filtered = int(self._known.sum()) - len(bases)
        self._rows = self._by_code[:, self._codes[bases]]
        is_rejected = np.zeros(count, bool)
        is_rejected[self._codes[state == REJECTED_STATE]] = True
        self._rejected = is_rejected[self._codes[bases]]

    def join(self) -> tuple[Report, Iterator[SegmentBatch]]:
        joining, rows, rejected = self._joining, self._rows, self._rejected
        report = Report(arrived=len(self._table), segments=int((~rejected).sum()))
        unclear = self._twice() | (self._differing() if joining.is_long else {})
        if unclear:
            return dataclasses.replace(report, findings=unclear), iter(())
        found = self._missing() | self._unknown()
        scored, tally = self._scored()
        report = dataclasses.replace(report, findings=found, tally=tally)
        if joining.coverage.complete and found:
            return report, iter(())
        report += Report(findings=self._mismatched())
        return report, self._batches(scored) if rows.size else iter(())

    def _side_numbers(self) -> Integers:
        if not self._joining.is_long:
            streams: Integers = self._table[STREAM].to_numpy().astype(np.int64)
            return streams
        names = {side.system: number for number, side in enumerate(self._joining.sides)}
        column = self._table[SYSTEM].chunk(0)  # without a name, a row is left out by a condition
        of_names = np.array([*map(names.__getitem__, column.dictionary.to_pylist()), 0], np.int64)
        numbers: Integers = of_names[column.indices.fill_null(-1).to_numpy()]
        return numbers

    @property
    def _places(self) -> Places:
        return Places(*(self._table[name].chunk(0) for name in (PATH, PLACE_KIND, PLACE)))

    def _findings(self, firsts: Integers, side: int | None = None) -> Findings:
        """The findings about the ids of rows, in their order."""
        rows = self._live if side is None else self._live[self._sides[self._live] == side]
        first = []
        for row in firsts[:SHOWN_IDS].tolist():
            same = rows[self._codes[rows] == self._codes[row]][:SHOWN_IDS]
            text, number = (self._table[name][row].as_py() for name in (ID, NUMBER))
            shown = text if self._joining.id_columns > 1 else shown_id(text)
            first.append(Finding(number, shown, tuple(map(self._places.of, same.tolist()))))
        return Findings(len(firsts), tuple(first))

    def _of_sides(self, sort: Sort, rows: Integers) -> dict[FindingKey, Findings]:
        return {
            (sort, self._joining.sides[number].name, ""): self._findings(
                rows[self._sides[rows] == number], number
            )
            for number in np.unique(self._sides[rows]).tolist()
        }

    def _twice(self) -> dict[FindingKey, Findings]:
        """The ids that several rows of a side have, by the first row of each."""
        live = self._live
        firsts = self._by_code[self._sides[live], self._codes[live]]
        return self._of_sides("twice", np.unique(firsts[firsts != live]))

    def _differing(self) -> dict[FindingKey, Findings]:
        """The rows with other references, labels or kept columns than their segment's first one.

        A bad record has no texts here, so rejected segments are not compared.
        """
        rejected = self._rows[0][self._rejected]
        rows = self._live[~np.isin(self._codes[self._live], self._codes[rejected])]
        firsts = self._by_code[0, self._codes[rows]]
        differs = np.zeros(len(rows), bool)
        for prefix in (REFERENCE, LABEL, KEPT):
            for column in columns_of(self._table, prefix):
                codes = column.indices if pa.types.is_dictionary(column.type) else column
                here, usual = codes.take(pa.array(rows)), codes.take(pa.array(firsts))
                equal = pc.fill_null(pc.equal(here, usual), False)
                both_null = pc.and_(here.is_null(), usual.is_null())
                differs |= ~pc.or_(equal, both_null).to_numpy(zero_copy_only=False)
        key: FindingKey = ("differing", self._joining.sides[0].name, "")
        return {key: self._findings(firsts[differs])} if differs.any() else {}

    def _missing(self) -> dict[FindingKey, Findings]:
        base = None if self._joining.is_long else 0
        found: dict[FindingKey, Findings] = {}
        for side, of_side in zip(self._joining.sides, self._rows, strict=True):
            lacks = (of_side < 0) & ~self._rejected
            if lacks.any():
                found["missing", side.name, ""] = self._findings(self._rows[0][lacks], base)
        return found

    def _unknown(self) -> dict[FindingKey, Findings]:
        """The rows with an id that the first side does not have."""
        return self._of_sides("unknown", self._live[~self._known[self._codes[self._live]]])

    def _mismatched(self) -> dict[FindingKey, Findings]:
        """The segments whose witnesses differ from those of the first side that has this column."""
        found: dict[FindingKey, Findings] = {}
        for name in self._table.column_names:
            if not name.startswith(WITNESS):
                continue
            hashes = self._table[name].chunk(0)
            of_sides = [hashes.take(pa.array(rows, mask=rows < 0)) for rows in self._rows]
            having = [n for n, of_side in enumerate(of_sides) if of_side.null_count < len(of_side)]
            for number in having[1:]:
                usual = having[0]
                differ = pc.fill_null(pc.not_equal(of_sides[usual], of_sides[number]), False)
                rows = self._rows[usual, differ.to_numpy(zero_copy_only=False)]
                if len(rows):
                    names = " and ".join(self._joining.sides[n].name for n in (usual, number))
                    key: FindingKey = ("mismatched", names, name.removeprefix(WITNESS))
                    found[key] = self._findings(rows)
        return found

    def _scored(self) -> tuple[Booleans, Tally]:
        """Which segments are scored for which systems, bool (systems, segments), and the tally."""
        there = self._rows >= 0
        references, systems = self._joining.references, self._joining.systems
        without_reference = ~self._rejected & ~there[:references].all(axis=0)
        usable = ~self._rejected & ~without_reference
        there = there[references:]
        in_enough = there.any(axis=0) if self._joining.coverage.partial else there.all(axis=0)
        chosen = usable & in_enough
        scored = there & chosen
        left_out = {
            FILTERED: self._filtered,
            REJECTED: int(self._rejected.sum()),
            WITHOUT_REFERENCE: int(without_reference.sum()),
            NOT_IN_ALL: int((usable & ~in_enough).sum()),
        }
        total = int(chosen.sum())
        by_system = {
            str(side.system): int(of_side.sum())
            for side, of_side in zip(systems, scored, strict=True)
        }
        return scored, Tally(
            there.shape[1] + self._filtered,
            {system: count for system, count in by_system.items() if count},
            {reason: count for reason, count in left_out.items() if count},
            {system: total - count for system, count in by_system.items() if count < total},
        )

    def _batches(self, scored: Booleans) -> Iterator[SegmentBatch]:
        """The batches of segments, for each set of systems that are scored on a segment."""
        sets = [np.arange(scored.shape[1])]
        if not scored.all():  # the usual case is without a sort
            packed = np.ascontiguousarray(np.packbits(scored, axis=0).T)
            _, set_of = np.unique(packed, axis=0, return_inverse=True)
            order = np.argsort(set_of, kind="stable")
            sets = np.split(order, np.flatnonzero(np.diff(set_of[order])) + 1)
        for segments in sets:
            systems = np.flatnonzero(scored[:, segments[0]])
            if len(systems):
                size = usual_rows(self._joining.references + len(systems))
                for begin in range(0, len(segments), size):
                    yield self._batch(segments[begin : begin + size], systems)

    def _batch(self, segments: Integers, systems: Integers) -> SegmentBatch:
        joining, table = self._joining, self._table
        rows = self._rows[:, segments]
        of_systems = rows[joining.references :][systems]
        bases = pa.array(rows[0])
        # The first one of each stream, then the second ones, and so on: so the number of a
        # reference does not depend on the other segments, of which one can have more references.
        references = [
            padded(column.take(pa.array(of_side)))
            for column in columns_of(table, REFERENCE)
            for of_side in rows[: joining.references]
        ]
        while len(references) > 1 and references[-1].null_count == len(segments):
            references.pop()
        candidates = [table[CANDIDATE].chunk(0)] if CANDIDATE in table.column_names else []
        labels = [column.take(bases) for column in columns_of(table, LABEL)]
        places = self._places.take(bases)
        numbers = (column.to_numpy(zero_copy_only=False) for column in columns_of(table, VALUE))
        ids = table[ID].chunk(0).take(bases)
        kept = zip(joining.kept, columns_of(table, KEPT), strict=False)
        return SegmentBatch(
            tuple(padded(text.take(pa.array(rows))) for text in candidates for rows in of_systems),
            tuple(references),
            table[NUMBER].to_numpy()[rows[0]],
            systems=tuple(str(joining.systems[system].system) for system in systems.tolist()),
            labels=tuple(labels),
            label_places=tuple(places for _ in labels),
            values={
                value: column[of_systems]
                for value, column in zip(joining.values, numbers, strict=False)
            },
            kept={KEPT_ID: ids, **{name: column.take(bases) for name, column in kept}},
        )
