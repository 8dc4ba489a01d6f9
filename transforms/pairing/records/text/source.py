"""JSON lines and tab-separated text as a source of segments.

`plan_records.py` finds the work units, and `parse_records.py` makes segments of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from beam_bleu.transforms.pairing.lines.text_digest import METHOD, LineDigests
from beam_bleu.transforms.pairing.paired import Role
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ReadRecords, Wanted
from beam_bleu.transforms.pairing.records.text.line_files import LineFiles
from beam_bleu.transforms.pairing.records.text.parse_records import PairLineRecords
from beam_bleu.transforms.pairing.records.text.plan_records import PlanLineRecords, RecordUnit
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["LineRecords"]


@dataclasses.dataclass(frozen=True)
class LineRecords(LineFiles):
    """A source of segments from files in which each line is a record. A join can use it, too."""

    @property
    def digest_method(self) -> str:
        """The name of the method of `ReadRecords.digest`."""
        return METHOD

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairLineRecords:
        """The transform that reads the segments. A worker counts and parses on so many threads."""
        return PairLineRecords(self, threads, step, describe)

    def of_stream(self, role: Role, wanted: Wanted) -> LineRecords:
        """The reader of a stream of a join, whose records have texts of one role."""
        # All columns of the join say whether files have headers, so the answer is kept here.
        return dataclasses.replace(self, roles=(role,), wanted=wanted, header=self.has_header)

    def plan(self, threads: int, step: Step = unchanged, describe: bool = False) -> PlanLineRecords:
        """The transform of a pipeline's root to `PlannedRecords`."""
        return PlanLineRecords(self, threads, step, describe)

    def unit_bytes(self, unit: RecordUnit) -> int:
        """About how many bytes a work unit has in its files."""
        return unit.bytes

    def chosen(self, unit: RecordUnit) -> Chosen:
        """The columns that are read of a work unit. They are the same for all units."""
        return unit.head.chosen

    def read(self, unit: RecordUnit, digest: bool = False) -> Iterator[ReadRecords]:
        """The records of a work unit, in order.

        Raises:
          InputError: a file cannot be read, or has changed since the plan was made.
        """
        for lines in self.read_lines(unit.unit, unit.head):
            read = self.parse(lines, unit.head)
            if digest:
                (of_lines,) = LineDigests.of([lines.column], lines.first).sums
                read = dataclasses.replace(read, digest=of_lines)
            yield read
