"""What a join asks of the reader of a format: a plan of portions, and the records of a portion."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import apache_beam as beam
    from apache_beam.pvalue import PCollection

    from beam_bleu.transforms.pairing.files.streams import Stream
    from beam_bleu.transforms.pairing.needs import Role
    from beam_bleu.transforms.pairing.paired import FoundSegments
    from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ReadRecords, Wanted
    from beam_bleu.transforms.wiring.steps import Step


@dataclasses.dataclass(frozen=True)
class PlannedRecords:
    """A plan for the records of one stream.

    Attributes:
      portions: PCollection of the portions, before they are spread over the workers.
      segments: PCollection of one `FoundSegments`. Its `count` is the number of the records.
    """

    portions: PCollection[Any]
    segments: PCollection[FoundSegments]


class RecordReader(Protocol):
    """The records of one stream, in one format: a frozen dataclass that can be pickled.

    The sources of paired records implement it, too.
    """

    @property
    def stream(self) -> Stream:
        """The stream. Its label names it in messages."""

    @property
    def wanted(self) -> Wanted:
        """The columns that the user asks for."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles of the texts that are read: those of `choosing.choose`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of `Source`."""

    def check_visible(self) -> None:
        """Does what that of `Source` does."""

    def check_readable(self) -> None:
        """Does what that of `Source` does."""

    def of_stream(self, roles: tuple[Role, ...], wanted: Wanted) -> RecordReader:
        """The reader of a stream of a join, whose records have texts of one role, or no texts.

        Args:
          roles: the role, if there is one.
          wanted: the columns that are read. All other properties stay as they are, also those that
            follow from the columns that the user asks for.
        """

    def plan(self, threads: int, step: Step, describe: bool) -> beam.PTransform[Any, Any]:
        """The transform of a pipeline's root to `PlannedRecords`."""

    def portion_bytes(self, portion: Any) -> int:
        """About how many bytes a portion has in its files."""

    def chosen(self, portion: Any) -> Chosen:
        """The columns that are read of a portion. They are the same for all portions."""

    def read(self, portion: Any, digest: bool = False) -> Iterator[ReadRecords]:
        """The records of a portion, in order.

        Args:
          portion: the portion.
          digest: whether to fill `ReadRecords.digest`.
        """

    @property
    def digest_method(self) -> str:
        """The name of the method of `ReadRecords.digest`."""
