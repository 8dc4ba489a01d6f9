"""Records that are joined by ids, as a source: several streams, or one stream of long records."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence
from typing import Any

from beam_bleu.transforms.definition.allowed import AllowedName
from beam_bleu.transforms.pairing.bad_records import OnBadRecord
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.needs import Role, ValueColumn
from beam_bleu.transforms.pairing.records.columns.choosing import FIRST, WITNESSES
from beam_bleu.transforms.pairing.records.columns.wanted import Wanted
from beam_bleu.transforms.pairing.records.joins.findings import CoverageName
from beam_bleu.transforms.pairing.records.joins.joining import PairByIds
from beam_bleu.transforms.pairing.records.record_files import RecordFiles, RecordSource
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["JoinedRecords"]


@dataclasses.dataclass(frozen=True)
class JoinedRecords(RecordSource):
    """A source of segments from streams of records. Equal ids belong to one segment.

    Each system has a stream of candidates. Without systems, there is one stream of long records, in
    which each record has the candidate of one system. Then all records of a segment must have the
    same references, labels and kept columns.

    The labels, the kept columns and the numbers of the segments are those of the first stream of
    references, or of a segment's first record. A condition is for all streams that have its column.
    A record that conditions leave out is not used, as if its file did not have it.

    Attributes:
      systems: the systems' names; none for long records, in which they are found.
      candidates: each system's stream. `wanted.ids` are the columns of the ids.
      references: the streams of references, or the one of long records. Without any, only numbers
        are read, and the first system says which segments there are.
      coverage: which segments are scored.
      expected: the required number of segments; None for any number.
      on_bad_record: what happens at a bad record. A rejected one rejects its segment.
      row_folder: a folder on this machine where rows wait, if the whole job runs here. By default,
        they go through the runner's shuffle.
      allow: what does not end the job, although it is probably a mistake.
    """

    systems: tuple[str, ...]
    candidates: tuple[RecordFiles, ...]
    references: tuple[RecordFiles, ...]
    coverage: CoverageName = "strict"
    expected: int | None = None
    on_bad_record: OnBadRecord = "fail"
    row_folder: str = ""
    allow: tuple[AllowedName, ...] = ()

    @property
    def is_long(self) -> bool:
        return not self.systems

    @property
    def wanted(self) -> Wanted:
        return self._base.wanted

    @property
    def kept(self) -> tuple[str, ...]:
        return (KEPT_ID, *super().kept)

    @property
    def inputs(self) -> tuple[Stream, ...]:
        return tuple(reader.stream for reader in (*self.candidates, *self.references))

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairByIds:
        return PairByIds(self, threads, step, describe)

    @functools.cached_property
    def readers(self) -> tuple[RecordFiles, ...]:
        """The reader of each stream, references first, of what the join needs of it."""
        if self.is_long:
            return self.references
        named = self.wanted.references
        usual = (*WITNESSES, *(map(re.escape, named) if named else FIRST["references"]))
        # Two streams of references have different texts.
        of_references = usual if len(self.references) == 1 else WITNESSES
        return (
            *(
                self._reader(reader, "references", values=(), witnesses=of_references)
                for reader in self.references
            ),
            *(
                self._reader(reader, "candidates", system_name=system, witnesses=usual)
                for system, reader in zip(self.systems, self.candidates, strict=True)
            ),
        )

    def sides(self, systems: Sequence[str]) -> tuple[str, ...]:
        """What must have the same segments, as messages name it: references, then systems.

        The first one has the numbers, labels and kept columns of the segments.
        """
        labels = (reader.stream.label for reader in self.references)
        return (*labels, *(f"candidates {system}" for system in systems))

    @property
    def values(self) -> tuple[ValueColumn, ...]:
        """The columns of numbers."""
        return self.readers[-1].wanted.values

    @property
    def _base(self) -> RecordFiles:
        """The stream that says which segments there are."""
        return (*self.references, *self.candidates)[0]

    def _reader(self, reader: RecordFiles, role: Role, **differing: Any) -> RecordFiles:
        """A reader of a stream: only the first one reads what segments have, besides its texts."""
        if reader is not self._base:
            differing |= {"labels": (), "kept": (), "keeps_texts": False}
        roles: tuple[Role, ...] = (role,) if role in reader.roles else ()
        wanted = dataclasses.replace(reader.wanted, where_if_there=True, **differing)
        return reader.of_stream(roles, wanted)
