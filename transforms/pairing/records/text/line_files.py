"""Files in which each line is a record: how their lines are read and parsed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from beam_bleu.transforms.pairing.batch import usual_rows
from beam_bleu.transforms.pairing.files.found_files import open_anywhere
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.line_steps import require_unchanged
from beam_bleu.transforms.pairing.lines.plan import Piece, Portion
from beam_bleu.transforms.pairing.records.columns.wanted import ReadRecords, with_path_columns
from beam_bleu.transforms.pairing.records.record_files import RecordFiles
from beam_bleu.transforms.pairing.records.text.heads import Head, HeadReader, LineFormat
from beam_bleu.transforms.pairing.records.text.jsonl import read_json_lines
from beam_bleu.transforms.pairing.records.text.raw_lines import RawLines
from beam_bleu.transforms.pairing.records.text.tsv import has_header, read_tab_separated

__all__ = ["LineFiles"]


@dataclasses.dataclass(frozen=True)
class LineFiles(RecordFiles):
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

    def read_lines(self, portion: Portion, head: Head) -> Iterator[RawLines]:
        """The lines of a portion, in order, with those that are too long or not UTF-8.

        Args:
          portion: the lines. There is one stream.
          head: what is read of them.

        Raises:
          InputError: a file cannot be read, or has changed since the plan was made.
        """
        (pieces,) = portion.pieces
        rows = usual_rows(len(head.chosen.columns))
        first = portion.first_line
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
            read = read_tab_separated(
                lines, head.chosen, head.names, self.has_header, self.header_is_open
            )
        else:
            read = read_json_lines(lines, head.chosen, head.integer_ids)
        return with_path_columns(read, head.chosen, self.stream.label)
