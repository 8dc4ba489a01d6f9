"""Long records as a source: each record has a segment's references and one system's candidate."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.pairing.bad_records import OnBadRecord
from beam_bleu.transforms.pairing.records.joins.coverage import CoverageName
from beam_bleu.transforms.pairing.records.joins.join_plan import JoinPlan
from beam_bleu.transforms.pairing.records.joins.joining import PairByIds
from beam_bleu.transforms.pairing.records.joins.row_folder import RowFolder
from beam_bleu.transforms.pairing.records.record_reader import RecordReader
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["LongRecords"]


@dataclasses.dataclass(frozen=True)
class LongRecords:
    """A source of segments from records of several systems, one for each segment and system.

    All records of a segment must have the same references and labels. A segment has the number of
    its first record.

    Attributes:
      records: the records. `wanted.ids` and `wanted.system` are the columns of the segment's id and
        of the system's name.
      coverage: which segments are scored.
      expected: the required number of segments; None for any number.
      on_bad_record: what happens at a bad record. A rejected one rejects its segment.
      row_folder: where rows wait. By default, they go through the runner's shuffle.
    """

    records: RecordReader
    coverage: CoverageName = "strict"
    expected: int | None = None
    on_bad_record: OnBadRecord = "fail"
    row_folder: RowFolder = dataclasses.field(default_factory=RowFolder)

    @property
    def systems(self) -> tuple[str, ...]:
        """None: they are found in the records, and are in natural order in the result."""
        return ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns of `SegmentBatch.labels`."""
        return self.records.wanted.labels

    @property
    def inputs(self) -> tuple[tuple[str, str], ...]:
        """(name in messages, path or pattern) of everything that is read."""
        return ((self.records.stream.label, self.records.stream.pattern),)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a reader of the score, about the way in which the input is read."""
        return self.records.notes

    def check_visible(self) -> None:
        """Checks the files that this process sees. It does not open them.

        Raises:
          BleuError: the error that the workers would raise for these files.
        """
        self.records.check_visible()

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairByIds:
        """The transform that brings the records of each segment together."""
        plan = JoinPlan(
            (self.records,), (), self.coverage, self.expected, self.on_bad_record, self.row_folder
        )
        return PairByIds(plan, threads, step, describe)
