"""What is joined, and how."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from beam_bleu.transforms.definition.allowed import AllowedName
from beam_bleu.transforms.pairing.bad_records import OnBadRecord
from beam_bleu.transforms.pairing.records.joins.bucket_join import (
    JoinedBucket,
    join_long,
    join_streams,
)
from beam_bleu.transforms.pairing.records.joins.coverage import COVERAGES, CoverageName, Side
from beam_bleu.transforms.pairing.records.joins.row_messages import RowFolder

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.record_files import RecordFiles


@dataclasses.dataclass(frozen=True)
class JoinPlan:
    """What is joined, and how.

    Attributes:
      readers: the reader of each stream: first the references, if there are any, then the systems.
        Only the systems have numbers. Long records are one stream.
      systems: the name of the system of each stream of candidates; empty for long records.
      coverage: the rule for segments that not all systems have.
      expected: the required number of segments; None for any number.
      on_bad_record: what happens at a bad record.
      folder: where rows wait, if the whole job runs on one machine.
      allow: what does not end the job, although it is probably a mistake.
    """

    readers: tuple[RecordFiles, ...]
    systems: tuple[str, ...]
    coverage: CoverageName
    expected: int | None
    on_bad_record: OnBadRecord
    folder: RowFolder
    allow: tuple[AllowedName, ...] = ()

    @property
    def is_long(self) -> bool:
        """Whether the records of all systems are in one stream."""
        return not self.systems

    @property
    def has_conditions(self) -> bool:
        """Whether conditions can leave records out."""
        return any(reader.wanted.where for reader in self.readers)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The streams."""
        return tuple(Side(reader.stream.label, i) for i, reader in enumerate(self.readers))

    def sides_of(self, systems: Sequence[str]) -> tuple[Side, ...]:
        """The sides that must have the same segments, after the one that has all of them."""
        if not self.is_long:
            return self.sides
        return (*self.sides, *(Side(f"candidates {system}", 0) for system in systems))

    def join(self, messages: Iterable[bytes], systems: Sequence[str]) -> JoinedBucket:
        """Joins a bucket."""
        coverage = COVERAGES[self.coverage]
        messages = self.folder.messages(messages)
        values = self.readers[-1].wanted.values
        kept = [name for name, _ in self.readers[0].wanted.kept]
        if self.is_long:
            return join_long(messages, self.sides[0], systems, coverage, values, kept)
        references = len(self.readers) - len(self.systems)
        return join_streams(
            messages,
            self.sides[:references],
            self.sides[references:],
            self.systems,
            coverage,
            values,
            kept,
        )
