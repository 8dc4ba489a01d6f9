"""JSON lines and tab-separated text as a source of segments, or as a stream of a join."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.batch import usual_rows
from beam_bleu.transforms.pairing.files.found_files import open_anywhere
from beam_bleu.transforms.pairing.files.streams import Shard
from beam_bleu.transforms.pairing.lines.correspondence import require_equal_line_counts
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.line_steps import count_range, require_unchanged
from beam_bleu.transforms.pairing.lines.line_warnings import notes_of, nul_notices
from beam_bleu.transforms.pairing.lines.plan import Piece, Portion, make_plan
from beam_bleu.transforms.pairing.lines.ranges import ByteRange, LineCounts, cut_corpus
from beam_bleu.transforms.pairing.lines.text_digest import METHOD, sum_of_hashes
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.paired import InputFile
from beam_bleu.transforms.pairing.records.columns.choosing import require_same_columns
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    ReadRecords,
    Wanted,
    with_path_columns,
)
from beam_bleu.transforms.pairing.records.plan_records import RecordPlan
from beam_bleu.transforms.pairing.records.record_files import RecordFiles
from beam_bleu.transforms.pairing.records.text.heads import (
    Head,
    HeadReader,
    LineFormat,
    require_same_headers,
)
from beam_bleu.transforms.pairing.records.text.jsonl import read_json_lines
from beam_bleu.transforms.pairing.records.text.raw_lines import RawLines
from beam_bleu.transforms.pairing.records.text.tsv import has_header, read_tab_separated
from beam_bleu.transforms.progress import PROGRESS

__all__ = ["LineRecords"]


@dataclasses.dataclass(frozen=True)
class RecordPortion:
    """The lines that one worker reads.

    Attributes:
      as_lines: the lines. There is one stream.
      head: what is read of them.
      bytes: about how many bytes they have in their files.
    """

    as_lines: Portion
    head: Head
    bytes: int

    @property
    def records(self) -> int:
        """The number of the records."""
        return self.as_lines.lines

    @property
    def chosen(self) -> Chosen:
        """The columns that are read."""
        return self.head.columns


@dataclasses.dataclass(frozen=True)
class _Lines:
    """Lines of a portion, and what is read of them."""

    lines: RawLines
    head: Head

    @property
    def nbytes(self) -> int:
        return int(self.lines.column.nbytes)

    @property
    def chosen(self) -> Chosen:
        return self.head.columns


@dataclasses.dataclass(frozen=True)
class LineRecords(RecordFiles):
    """Files in which each line is a record.

    Attributes:
      format: the format of the files.
      header: whether the first line of each file of tab-separated text has the names of the
        columns; None: it has them unless all columns are given by numbers.
    """

    format: LineFormat
    header: bool | None = None

    @property
    def has_header(self) -> bool:
        """Whether the first line of each file is a header."""
        if self.format == "jsonl":
            return False
        return has_header(self.wanted, self.roles) if self.header is None else self.header

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
    def digest_method(self) -> str:
        """The name of the method of `ReadRecords.digest`."""
        return METHOD

    def of_stream(self, roles: tuple[Role, ...], wanted: Wanted) -> LineRecords:
        """See `RecordFiles`."""
        # All columns of the join say whether files have headers, so the answer is kept here.
        return dataclasses.replace(self, roles=roles, wanted=wanted, header=self.has_header)

    def cut(self, shards: Sequence[Shard]) -> Iterable[ByteRange]:
        """The ranges of the files whose lines are counted."""
        PROGRESS.begin("counting lines", sum(shard.file.size for shard in shards))
        return cut_corpus(shards, self.range_bytes)

    def look_at(self, part: ByteRange) -> Iterator[LineCounts | Head]:
        """The head of a file, if its first range is given, and the counts of the range."""
        if not part.start and (head := HeadReader(self, open_anywhere).head(part.shard)):
            if head.error is not None and not part.shard.number:
                raise head.error  # before all lines are counted
            yield head
        longest = None if self.on_bad_record == "reject" else self.expected.max_line_bytes
        yield count_range([self.stream], part, longest)

    def planned(self, found: Sequence[LineCounts | Head]) -> RecordPlan:
        """The portions of lines, after the heads of all files were compared."""
        stream = self.stream
        counts = [each for each in found if isinstance(each, LineCounts)]
        by_file = {each.shard.number: each for each in found if isinstance(each, Head)}
        notices = nul_notices([stream], counts)
        if not by_file:
            require_equal_line_counts([stream], [0])
        heads = [by_file[number] for number in sorted(by_file)]
        # A file without any record has no columns: its records are judged when they are read.
        heads = [head for head in heads if head.has_records] or heads
        if self.has_header:
            require_same_headers(stream, heads)
            lines = sum(int(count.newlines.sum()) + count.unfinished_line for count in counts)
            if lines == len(heads):
                raise InputError(
                    stream.told("there is no record, only a header", stream.pattern),
                    "check that the files were written; if the files have no headers, add "
                    "--no_header",
                )
        head = dataclasses.replace(heads[0], chosen=require_same_columns(stream, heads))
        plan = make_plan([stream], counts, header_lines=int(self.has_header))
        files = tuple(
            InputFile(
                stream.shown(shard.file.path), shard.file.size, count, stream.version(version)
            )
            for shard, count, version in zip(
                plan.shards[0], plan.lines[0], plan.versions[0], strict=True
            )
        )
        portions = (
            RecordPortion(portion, head, plan.bytes * portion.lines // plan.segments)
            for portion in plan.portions_to_read()
        )
        notes = (*self.header_notes, *notes_of([stream], plan.shards))
        chosen = head.columns
        return RecordPlan(plan.segments, plan.bytes, chosen, portions, files, None, notices, notes)

    def parts(self, portion: RecordPortion) -> Iterator[_Lines]:
        """The lines of a portion, in order, with those that are too long or not UTF-8.

        Raises:
          InputError: a file cannot be read, or has changed since the plan was made.
        """
        (pieces,) = portion.as_lines.pieces
        rows = usual_rows(len(portion.chosen.columns))
        first = portion.as_lines.first_line
        for piece in pieces:
            for lines in self._piece_lines(piece, rows, first):
                yield _Lines(lines, portion.head)
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

    def parsed(self, part: _Lines, digest: bool) -> ReadRecords:
        """The records of lines. It can run on any thread."""
        lines, head = part.lines, part.head
        if self.format == "tsv":
            read = read_tab_separated(lines, head.columns, head.names, self.has_header)
        else:
            read = read_json_lines(lines, head.columns)
        sums = sum_of_hashes(lines.column, lines.first) if digest else None
        read = dataclasses.replace(read, digest=sums, raw=lines.line, label=lines.label)
        return with_path_columns(read, head.columns)
