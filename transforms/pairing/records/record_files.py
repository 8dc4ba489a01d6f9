"""What the sources of records have in common: files with named columns, read portion by portion."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from beam_bleu.transforms.pairing.bad_records import OnBadRecord
from beam_bleu.transforms.pairing.files.streams import Shard, Stream
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.records.columns.choosing import BOTH, known_systems
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ReadRecords, Wanted
from beam_bleu.transforms.pairing.records.plan_records import PlanRecords, RecordPlan
from beam_bleu.transforms.pairing.records.read_segments import PairRecords
from beam_bleu.transforms.wiring.steps import Step, unchanged


class Portion(Protocol):
    """The records that one worker reads."""

    @property
    def records(self) -> int:
        """Their number."""

    @property
    def bytes(self) -> int:
        """About how many bytes they have in their files."""

    @property
    def chosen(self) -> Chosen:
        """The columns that are read. They are the same for all portions."""


class PartOfPortion(Protocol):
    """Neighbouring records as they are in a file, before they are parsed."""

    @property
    def nbytes(self) -> int:
        """Their size."""

    @property
    def chosen(self) -> Chosen:
        """The columns that are read."""


@dataclasses.dataclass(frozen=True)
class RecordFiles(abc.ABC):
    """Files of records, and what is read of them: a source of segments, or a stream of a join.

    Attributes:
      stream: the files; their records are the segments, in the order of the files.
      wanted: the columns that the user asks for.
      range_bytes: about how many bytes a portion has; if None, a size that suits the input. A
        record, or a row group of Parquet or a record batch of Arrow, is never divided.
      expected: what must be true of the input.
      on_bad_record: what happens at a bad record.
      roles: the texts that the files have: for a join, only candidates or only references.
    """

    stream: Stream
    wanted: Wanted
    _: dataclasses.KW_ONLY
    range_bytes: int | None = None
    expected: Expected = dataclasses.field(default_factory=Expected)
    on_bad_record: OnBadRecord = "fail"
    roles: tuple[Role, ...] = BOTH

    @property
    @abc.abstractmethod
    def digest_method(self) -> str:
        """The name of the method of `ReadRecords.digest`."""

    @abc.abstractmethod
    def cut(self, shards: Sequence[Shard]) -> Iterable[Any]:
        """What is looked at before there is a plan: files, or parts of files."""

    @abc.abstractmethod
    def look_at(self, part: Any) -> Iterable[Any]:
        """What is found there. It can run on any thread.

        Raises:
          InputError: a file does not have the format, or cannot be read.
        """

    @abc.abstractmethod
    def planned(self, found: Sequence[Any]) -> RecordPlan:
        """The plan that follows from all that was found, in any order.

        Raises:
          InputError: there are no records, or files do not have the wanted columns, or different
            ones.
        """

    @abc.abstractmethod
    def parts(self, portion: Any) -> Iterator[PartOfPortion]:
        """The records of a portion in order, as they are in the file, a part after the other.

        Raises:
          InputError: a file cannot be read, is damaged, or has changed since the plan was made.
        """

    @abc.abstractmethod
    def parsed(self, part: Any, digest: bool) -> ReadRecords:
        """The records of a part. It can run on any thread.

        Args:
          part: the part.
          digest: whether to fill `ReadRecords.digest`.
        """

    def read(self, portion: Portion, digest: bool = False) -> Iterator[ReadRecords]:
        """The records of a portion, in order; see `parts` and `parsed`."""
        return (self.parsed(part, digest) for part in self.parts(portion))

    def of_stream(self, roles: tuple[Role, ...], wanted: Wanted) -> RecordFiles:
        """The files as a stream of a join, whose records have texts of one role, or no texts.

        Args:
          roles: the role, if there is one.
          wanted: the columns that are read. All other properties stay as they are, also those that
            follow from the columns that the user asks for.
        """
        return dataclasses.replace(self, roles=roles, wanted=wanted)

    def plan(self, threads: int, step: Step = unchanged, describe: bool = False) -> PlanRecords:
        """The transform of a pipeline's root to `PlannedRecords`."""
        return PlanRecords(self, threads, step, describe)

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairRecords:
        """The transform that reads the segments. A worker uses this number of threads."""
        return PairRecords(self, threads, step, describe)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems' names, if they do not depend on the columns of the files."""
        return known_systems(self.wanted)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns of `SegmentBatch.labels`."""
        return self.wanted.labels

    @property
    def kept(self) -> tuple[str, ...]:
        """The names of the columns of `SegmentBatch.kept`."""
        return tuple(name for name, _ in self.wanted.kept)

    @property
    def is_of_lines(self) -> bool:
        """Whether each text is a line of a file, and not a value of a record."""
        return False

    @property
    def keeps_texts(self) -> bool:
        """Whether the texts of segments are kept, too."""
        return self.wanted.keeps_texts

    @property
    def inputs(self) -> tuple[Stream, ...]:
        """Everything that is read."""
        return (self.stream,)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a reader of the score: none, before the columns are known."""
        return ()

    @property
    def stream_of_join(self) -> str | None:
        """The name of the stream, if it is one of several."""
        return self.stream.label if len(self.roles) == 1 else None
