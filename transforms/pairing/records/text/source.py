"""JSON lines and tab-separated text as a source of segments.

`plan_records.py` finds the work units, and `parse_records.py` makes segments of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from beam_bleu.transforms.pairing.bad_records import OnBadRecord
from beam_bleu.transforms.pairing.batch import usual_rows
from beam_bleu.transforms.pairing.files.filesystems import open_anywhere
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.digest import METHOD, LineDigests
from beam_bleu.transforms.pairing.lines.expected import Expected
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import Piece
from beam_bleu.transforms.pairing.lines.steps import require_unchanged
from beam_bleu.transforms.pairing.lines.visible import check_visible
from beam_bleu.transforms.pairing.paired import Role
from beam_bleu.transforms.pairing.records.columns.choosing import BOTH, known_systems
from beam_bleu.transforms.pairing.records.columns.path_columns import with_path_columns
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ReadRecords, Wanted
from beam_bleu.transforms.pairing.records.text.heads import Head, HeadReader, LineFormat
from beam_bleu.transforms.pairing.records.text.jsonl import read_json_lines
from beam_bleu.transforms.pairing.records.text.parse_records import PairLineRecords
from beam_bleu.transforms.pairing.records.text.plan_records import PlanLineRecords, RecordUnit
from beam_bleu.transforms.pairing.records.text.raw_lines import RawLines
from beam_bleu.transforms.pairing.records.text.tsv import has_header, read_tab_separated
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["LineRecords"]


@dataclasses.dataclass(frozen=True)
class LineRecords:
    """A source of segments from files in which each line is a record. A join can use it, too.

    Attributes:
      stream: the files; their records are the segments, in the order of the files.
      wanted: the columns that the user asks for.
      format: the format of the files.
      header: whether the first line of each file of tab-separated text has the names of the
        columns; None: it has them unless all columns are given by numbers.
      range_bytes: how many bytes a worker counts, and about how many it scores, at a time; if
        None, a size that suits the input.
      expected: what must be true of the input.
      on_bad_record: what happens at a bad record.
      roles: the texts that the files have: for a join, only candidates or only references.
    """

    stream: Stream
    wanted: Wanted
    format: LineFormat
    header: bool | None = None
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

    @property
    def digest_method(self) -> str:
        """The name of the method of `ReadRecords.digest`."""
        return METHOD

    @property
    def has_header(self) -> bool:
        """Whether the first line of each file is a header."""
        if self.format == "jsonl":
            return False
        return has_header(self.wanted) if self.header is None else self.header

    @property
    def header_is_open(self) -> bool:
        """Whether the user did not say whether tab-separated text has a header."""
        return self.format == "tsv" and self.header is None

    @property
    def header_notes(self) -> tuple[str, ...]:
        """The note for a user who did not say that there is no header."""
        if not self.header_is_open or self.has_header:
            return ()
        return (
            "the first line of each file is read as a record; if it has the names of the columns, "
            "add --header",
        )

    @property
    def head_reader(self) -> HeadReader:
        """Reads the heads of the files."""
        return HeadReader(
            self.stream,
            self.format,
            self.wanted,
            self.roles,
            self.has_header,
            self.header_is_open,
            self.on_bad_record == "reject",
            open_anywhere,
            self.expected.max_line_bytes,
        )

    def check_visible(self) -> None:
        """Checks the files that this process sees. It does not open them.

        Raises:
          BleuError: the error that the workers would raise for these files.
        """
        check_visible([self.stream])

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
        for lines in self.read_lines(unit):
            read = self.parse(lines, unit.head)
            if digest:
                (of_lines,) = LineDigests.of([lines.column], lines.first).sums
                read = dataclasses.replace(read, digest=of_lines)
            yield read

    def read_lines(self, unit: RecordUnit) -> Iterator[RawLines]:
        """The lines of a work unit, in order, with those that are too long or not UTF-8.

        Raises:
          InputError: a file cannot be read, or has changed since the plan was made.
        """
        (pieces,) = unit.unit.pieces
        rows = usual_rows(len(unit.head.chosen.columns))
        first = unit.unit.first_line
        for piece in pieces:
            yield from self._piece_lines(piece, rows, first)
            first += piece.lines
        require_unchanged(self.stream, pieces)

    def _piece_lines(self, piece: Piece, rows: int, first: int) -> Iterator[RawLines]:
        reader = LineReader(
            self.stream, (piece,), open_anywhere, self.expected.max_line_bytes, first
        )
        done = 0
        while done < piece.lines:
            lines = reader.available(min(rows, piece.lines - done))
            column = reader.take(lines)
            yield RawLines(
                column,
                first + done,
                self.stream.label,
                self.stream.shown(piece.file.path),
                piece.first_line + done + 1,
                tuple(reader.bad),
            )
            done += lines
        reader.finish()

    def parse(self, lines: RawLines, head: Head) -> ReadRecords:
        """The records of lines. It can run on any thread."""
        if self.format == "tsv":
            read = read_tab_separated(lines, head.chosen, head.names)
        else:
            read = read_json_lines(lines, head.chosen, head.integer_ids)
        return with_path_columns(read, head.chosen, self.stream.label)
