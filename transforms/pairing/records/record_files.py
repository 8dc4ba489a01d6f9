"""What the sources of records have in common: files with named columns."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.pairing.bad_records import OnBadRecord
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.lines.visible import check_readable, check_visible
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.records.columns.choosing import BOTH, known_systems
from beam_bleu.transforms.pairing.records.columns.wanted import Wanted


@dataclasses.dataclass(frozen=True)
class RecordFiles:
    """Files of records, and what is read of them. A join can have several.

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
    def inputs(self) -> tuple[tuple[str, str], ...]:
        """(name in messages, path or pattern) of everything that is read."""
        return ((self.stream.label, self.stream.pattern),)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a reader of the score: none, before the columns are known."""
        return ()

    @property
    def stream_of_join(self) -> str | None:
        """The name of the stream, if it is one of several."""
        return self.stream.label if len(self.roles) == 1 else None

    def check_visible(self) -> None:
        """Checks the files that this process sees. It does not open them.

        Raises:
          BleuError: the error that the workers would raise for these files.
        """
        check_visible([self.stream])

    def check_readable(self) -> None:
        """Checks that this process can read the first byte of each stream.

        Raises:
          BleuError: it cannot.
        """
        check_readable([self.stream])
