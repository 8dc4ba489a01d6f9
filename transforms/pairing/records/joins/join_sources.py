"""Records that are joined by ids, as sources: streams of joined records, and long records."""

from __future__ import annotations

import abc
import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from beam_bleu.transforms.definition.allowed import AllowedName
from beam_bleu.transforms.pairing.bad_records import OnBadRecord
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.records.columns.choosing import FIRST, WITNESSES
from beam_bleu.transforms.pairing.records.joins.coverage import CoverageName
from beam_bleu.transforms.pairing.records.joins.join_plan import JoinPlan
from beam_bleu.transforms.pairing.records.joins.joining import PairByIds
from beam_bleu.transforms.pairing.records.joins.row_messages import RowFolder
from beam_bleu.transforms.pairing.records.record_files import RecordFiles
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["JoinedRecords", "LongRecords"]


class _RecordsById(abc.ABC):
    """What both sources have in common."""

    @property
    @abc.abstractmethod
    def _base(self) -> RecordFiles:
        """The stream that says which segments there are."""

    @property
    @abc.abstractmethod
    def _readers(self) -> tuple[RecordFiles, ...]:
        """All streams, those of systems first."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns of `SegmentBatch.labels`."""
        return self._base.wanted.labels

    @property
    def kept(self) -> tuple[str, ...]:
        """The names of the columns of `SegmentBatch.kept`."""
        return (KEPT_ID, *(name for name, _ in self._base.wanted.kept))

    @property
    def is_of_lines(self) -> bool:
        """Whether each text is a line of a file, and not a value of a record."""
        return False

    @property
    def keeps_texts(self) -> bool:
        """Whether the texts of segments are kept, too."""
        return self._base.wanted.keeps_texts

    @property
    def inputs(self) -> tuple[tuple[str, str], ...]:
        """(name in messages, path or pattern) of everything that is read."""
        return tuple((reader.stream.label, reader.stream.pattern) for reader in self._readers)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a reader of the score, about the way in which the input is read."""
        return tuple(dict.fromkeys(note for reader in self._readers for note in reader.notes))

    def check_visible(self) -> None:
        """Checks the files that this process sees. It does not open them.

        Raises:
          BleuError: the error that the workers would raise for these files.
        """
        for reader in self._readers:
            reader.check_visible()

    def check_readable(self) -> None:
        """Checks that this process can read the first byte of each stream.

        Raises:
          BleuError: it cannot.
        """
        for reader in self._readers:
            reader.check_readable()


@dataclasses.dataclass(frozen=True)
class JoinedRecords(_RecordsById):
    """A source of segments from several streams of records. Equal ids belong to one segment.

    The labels, the kept columns and the numbers of the segments are those of the first stream of
    references. A condition is for all streams that have its column. A record that conditions leave
    out is not used, as if its file did not have it.

    Attributes:
      systems: the systems' names.
      candidates: each system's stream. `wanted.ids` are the columns of the ids.
      references: the streams of references. Without any, only numbers are read, and the first
        system says which segments there are.
      coverage: which segments are scored.
      expected: the required number of segments; None for any number.
      on_bad_record: what happens at a bad record. A rejected one rejects its segment.
      row_folder: where rows wait. By default, they go through the runner's shuffle.
      allow: what does not end the job, although it is probably a mistake.
    """

    systems: tuple[str, ...]
    candidates: tuple[RecordFiles, ...]
    references: tuple[RecordFiles, ...]
    coverage: CoverageName = "strict"
    expected: int | None = None
    on_bad_record: OnBadRecord = "fail"
    row_folder: RowFolder = dataclasses.field(default_factory=RowFolder)
    allow: tuple[AllowedName, ...] = ()

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairByIds:
        """The transform that joins the records."""
        plan = JoinPlan(
            (*self._of_references, *self._of_candidates),
            self.systems,
            self.coverage,
            self.expected,
            self.on_bad_record,
            self.row_folder,
            self.allow,
        )
        return PairByIds(plan, threads, step, describe)

    @property
    def _base(self) -> RecordFiles:
        return (*self.references, *self.candidates)[0]

    @property
    def _readers(self) -> tuple[RecordFiles, ...]:
        return (*self.candidates, *self.references)

    @property
    def _of_references(self) -> tuple[RecordFiles, ...]:
        """The readers of the references. Only the first one reads what segments have."""
        # Two streams of references have different texts.
        witnesses = self._witnesses if len(self.references) == 1 else WITNESSES
        others = {"values": (), "witnesses": witnesses}
        return tuple(
            _reading(reader, _only("references", reader), self._of_segments(reader), others)
            for reader in self.references
        )

    @property
    def _of_candidates(self) -> tuple[RecordFiles, ...]:
        return tuple(
            _reading(
                reader,
                _only("candidates", reader),
                self._of_segments(reader),
                {"system_name": system, "witnesses": self._witnesses},
            )
            for system, reader in zip(self.systems, self.candidates, strict=True)
        )

    @property
    def _witnesses(self) -> tuple[str, ...]:
        """The columns that must be the same in all streams that have them: also the references."""
        named = self._base.wanted.references
        return (*WITNESSES, *(map(re.escape, named) if named else FIRST["references"]))

    def _of_segments(self, reader: RecordFiles) -> Mapping[str, Any]:
        """What is read of segments, which only one stream gives: their labels and kept columns."""
        if reader is self._base:
            return {}
        return {"labels": (), "kept": (), "keeps_texts": False}


def _only(role: Role, reader: RecordFiles) -> tuple[Role, ...]:
    """The role of a stream of a join; none if its texts are not read."""
    return (role,) if role in reader.roles else ()


def _reading(
    reader: RecordFiles, roles: tuple[Role, ...], *differing: Mapping[str, Any]
) -> RecordFiles:
    """A reader of a stream of the join. Some of what it reads differs from the other streams."""
    wanted = dataclasses.replace(reader.wanted, where_if_there=True)
    for of_stream in differing:
        wanted = dataclasses.replace(wanted, **of_stream)
    return reader.of_stream(roles, wanted)


@dataclasses.dataclass(frozen=True)
class LongRecords(_RecordsById):
    """A source of segments from records of several systems, one for each segment and system.

    All records of a segment must have the same references, labels and kept columns. A segment has
    the number of its first record.

    Attributes:
      records: the records. `wanted.ids` and `wanted.system` are the columns of the segment's id and
        of the system's name.
      coverage: which segments are scored.
      expected: the required number of segments; None for any number.
      on_bad_record: what happens at a bad record. A rejected one rejects its segment.
      row_folder: where rows wait. By default, they go through the runner's shuffle.
    """

    records: RecordFiles
    coverage: CoverageName = "strict"
    expected: int | None = None
    on_bad_record: OnBadRecord = "fail"
    row_folder: RowFolder = dataclasses.field(default_factory=RowFolder)

    @property
    def systems(self) -> tuple[str, ...]:
        """None: they are found in the records, and are in natural order in the result."""
        return ()

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairByIds:
        """The transform that brings the records of each segment together."""
        plan = JoinPlan(
            (self.records,), (), self.coverage, self.expected, self.on_bad_record, self.row_folder
        )
        return PairByIds(plan, threads, step, describe)

    @property
    def _base(self) -> RecordFiles:
        return self.records

    @property
    def _readers(self) -> tuple[RecordFiles, ...]:
        return (self.records,)
