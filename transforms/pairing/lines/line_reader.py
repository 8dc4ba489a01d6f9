"""Reads lines: makes columns of text from bytes. Only a newline (U+000A) ends a line."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Bytes, Integers
from beam_bleu.transforms.native.memory import BLOCK, READ_AHEAD, pread_function
from beam_bleu.transforms.native.text_columns import offsets_of, padded, padded_column, text_bytes
from beam_bleu.transforms.pairing.batch import Places
from beam_bleu.transforms.pairing.files.chunks import Open, PartMemory, put_parts, read_parts
from beam_bleu.transforms.pairing.files.streams import Stream, changed, compression
from beam_bleu.transforms.pairing.lines.line_columns import copy_lines, skip_lines, split_fields
from beam_bleu.transforms.pairing.lines.line_counting import MAX_LINE_BYTES, line_too_long
from beam_bleu.transforms.pairing.lines.plan import Piece
from beam_bleu.transforms.pairing.paired import MAX_RAW_BYTES, BadReason, BadRecord
from beam_bleu.transforms.progress import PROGRESS

# About how many bytes of a stream are read ahead for a batch: at most twice as many, and more only
# if a single line is longer.
_MOST_BUFFERED = 5 << 20

TO_UTF8 = "convert the file to UTF-8 (iconv -f ... -t UTF-8), or repair it"
_FIRST_SPACE = 1 << 16  # bytes for the texts of the first batch


class LineReader:
    """Reads the pieces of a stream as one sequence of lines. `bad` has those of the last `take`."""

    def __init__(
        self,
        stream: Stream,
        pieces: Sequence[Piece],
        open_file: Open,
        max_line_bytes: int = MAX_LINE_BYTES,
        first_segment: int = 0,
        texts: Iterable[bytes] | None = None,
    ) -> None:
        self.bad: list[BadRecord] = []
        self._first_segment = first_segment
        self._stream = stream
        self._pieces = pieces
        self._max_line_bytes = max_line_bytes
        self._open = open_file
        self._memory = PartMemory()
        self._missing = 0  # the lines of the current piece that are not copied yet
        self._counts_bytes = False  # whether the bytes that are copied are added to the progress
        self._parts = self._read_parts(texts)
        # The lines that were read and not taken: what `copy_lines` needs.
        self._texts: Bytes = np.empty(_FIRST_SPACE, np.uint8)
        self._offsets = np.zeros(1, np.int64)
        self._lines = 0
        self._end = 0
        self._may_be_bad = False
        self._last = 0  # the first of the lines that were taken last
        self._taken = 0

    def available(self, most: int) -> int:
        """Reads ahead; returns how many lines can be taken, at most `most`; 0 at the end."""
        if len(self._offsets) <= most:
            larger = np.empty(most + 1, np.int64)
            larger[: self._lines + 1] = self._offsets[: self._lines + 1]
            self._offsets = larger
        memory = self._memory
        while self._lines < most:
            if self._is_full():
                break
            if (memory.begin == memory.end or not self._missing) and not next(self._parts, False):
                break
            self._copy(most)
        return min(self._lines, most)

    def _is_full(self) -> bool:
        return self._lines > 0 and self._end >= _MOST_BUFFERED

    def _copy(self, most: int) -> None:
        memory, before = self._memory, self._lines
        unread, pread = memory.unread, pread_function()
        rows = min(most, before + self._missing)
        while True:
            left = memory.end - memory.begin + unread.stop - unread.at
            descriptor = -1 if unread.descriptor is None else unread.descriptor
            memory.begin, memory.end, unread.at, self._lines, self._end, may_be_bad = copy_lines(
                memory.array,
                (memory.begin, memory.end),
                (pread, descriptor, unread.at, unread.stop),
                self._texts,
                self._offsets,
                self._lines,
                self._end,
                rows,
                self._max_line_bytes,
            )
            self._may_be_bad |= may_be_bad
            if self._counts_bytes:
                PROGRESS.add(left - (memory.end - memory.begin + unread.stop - unread.at))
            if self._lines == rows or memory.begin == memory.end or self._is_full():
                break
            # The next lines are probably about as long as these ones.
            expected = self._end * rows // max(self._lines, 1)
            space = min(expected + expected // 8 + READ_AHEAD + BLOCK, _MOST_BUFFERED)
            larger = np.empty(max(space, 2 * len(self._texts)), np.uint8)
            larger[: self._end] = self._texts[: self._end]
            self._texts = larger
        self._missing -= self._lines - before

    def take(self, lines: int) -> pa.LargeStringArray:
        """The next lines, padded. Bad ones are not UTF-8, or cut one byte after the limit."""
        texts, offsets = self._texts, self._offsets
        end = int(offsets[lines])
        rest = self._end - end
        may_be_bad = self._may_be_bad
        # The next batch probably has about as many bytes. `copy_lines` uses all of the space.
        space = max(min(end + end // 8, _MOST_BUFFERED), rest) + READ_AHEAD + BLOCK
        self._texts = np.empty(space, np.uint8)
        self._offsets = np.empty(len(offsets), np.int64)
        self._offsets[0] = 0
        self._lines -= lines
        if self._lines or rest:  # lines that are not taken now
            self._texts[:rest] = texts[end : self._end]
            self._offsets[: self._lines + 1] = offsets[lines : lines + self._lines + 1] - end
        self._end = rest
        self._may_be_bad = may_be_bad and rest > 0
        texts[end : end + READ_AHEAD] = 0
        column = padded_column(texts[: end + READ_AHEAD], offsets[: lines + 1])
        self._last, self._taken = self._taken, self._taken + lines
        self.bad = []
        if may_be_bad:
            self._find_bad(column)
        return column

    def _find_bad(self, column: pa.LargeStringArray) -> None:
        texts = text_bytes(column)
        for row, (begin, end) in enumerate(itertools.pairwise(offsets_of(column).tolist())):
            if end - begin > self._max_line_bytes:
                raw = texts[begin:end][:MAX_RAW_BYTES].tobytes()
                self._add(row, "line-too-long", *line_too_long(self._max_line_bytes), raw)
                continue
            line = texts[begin:end].tobytes()
            try:
                line.decode()
            except UnicodeDecodeError as error:
                at, byte = error.start + 1, line[error.start]
                what = f"invalid UTF-8 at byte {at} of the line (0x{byte:02x})"
                self._add(row, "invalid-utf8", what, TO_UTF8, line)

    def split(self, column: pa.LargeStringArray, fields: int) -> tuple[pa.LargeStringArray, ...]:
        """The tab-separated fields of the lines taken last; those of bad lines have no meaning."""
        if fields == 1:
            return (column,)
        split = split_fields(self.good(column), fields)
        has = ["1 field" if count == 1 else f"{count} fields" for count in split.counts.tolist()]
        self.refuse_fields(
            column,
            split.wrong.tolist(),
            [f"has {shown}, and --num_refs is {fields}" for shown in has],
            f"each line must have {fields} references with a tab between them; the last one "
            "must not be empty",
        )
        return split.columns

    def good(self, column: pa.LargeStringArray) -> pa.LargeStringArray:
        """The lines taken last, with empty texts in place of bad lines, in a padded column."""
        return with_empty(column, self._bad_rows())

    def refuse_fields(
        self, column: pa.LargeStringArray, rows: Sequence[int], whats: Sequence[str], remedy: str
    ) -> None:
        known = set(self._bad_rows())
        for row, what in zip(rows, whats, strict=True):
            if row not in known:
                raw = column[row].as_py().encode()
                self._add(row, "wrong-number-of-fields", what, remedy, raw)
        self.bad.sort(key=lambda record: record.number)

    def _bad_rows(self) -> list[int]:
        return [record.number - self._segment(0) for record in self.bad]

    def finish(self) -> None:
        for _ in self._parts:
            raise AssertionError("a piece gave more lines than it has")

    def _read_parts(self, texts: Iterable[bytes] | None) -> Iterator[bool]:
        """True for each part that the memory has, before its lines are copied."""
        if texts is None:
            for piece in self._pieces:
                yield from self._read_piece(piece)
            return
        self._missing = sum(piece.lines for piece in self._pieces)
        for _ in put_parts(texts, self._memory):
            yield True

    def _read_piece(self, piece: Piece) -> Iterator[bool]:
        stream, memory, file = self._stream, self._memory, piece.file
        skip, self._missing = piece.skip, piece.lines
        # `read_parts` adds the bytes of compressed files to the progress.
        self._counts_bytes = not compression(file.path)
        for _ in read_parts(stream, file, piece.start, file.size, self._open, memory):
            if skip:
                memory.begin, skipped = skip_lines(memory.array, memory.begin, memory.end, skip)
                skip -= skipped
                if memory.begin == memory.end:
                    continue
            if self._missing:
                yield True
                if not self._missing and not piece.ends_file:
                    return
            # The rest of the file is read, too, to check its size.
            if not self._missing and piece.ends_blank:
                rest = memory.text[memory.begin : memory.end]
                memory.begin = memory.end - len(rest.lstrip(b"\r\n"))
            if not self._missing and memory.begin < memory.end:
                raise changed(stream, file.path, "has more lines than when they were counted")
        if self._missing == 1 and self._end > self._offsets[self._lines]:
            self._counts_bytes = False  # the file does not have this byte
            memory.put(b"\n")
            yield True
        elif self._missing:
            missing = f"has {self._missing} lines fewer than when they were counted"
            raise changed(stream, file.path, missing)

    def _add(self, row: int, reason: BadReason, what: str, remedy: str, raw: bytes) -> None:
        place = self.places(np.array([row]))
        self.bad.append(
            BadRecord(
                self._segment(row),
                self._stream.label,
                place.paths[0].as_py(),
                f"line {place.numbers[0]}",
                reason,
                what,
                remedy,
                raw[:MAX_RAW_BYTES],
            )
        )

    def _segment(self, row: int) -> int:
        return self._first_segment + self._last + row

    def places(self, rows: Integers) -> Places:
        """The places of rows of the lines taken last, in ascending order."""
        ends = np.cumsum([piece.lines for piece in self._pieces])
        taken = self._last + rows
        of_pieces = np.searchsorted(ends, taken, side="right")
        first = int(of_pieces[0])
        pieces = self._pieces[first : int(of_pieces[-1]) + 1]
        before = [
            piece.first_line + 1 - (int(end) - piece.lines)
            for piece, end in zip(pieces, ends[first:], strict=False)
        ]
        return Places.in_files(
            [self._stream.shown(piece.file.path) for piece in pieces],
            "line",
            of_pieces - first,
            taken + np.array(before)[of_pieces - first],
        )


def with_empty(column: pa.LargeStringArray, rows: Sequence[int]) -> pa.LargeStringArray:
    """The column with empty texts in these rows, padded."""
    if not rows:
        return column
    is_empty = np.zeros(len(column), bool)
    is_empty[rows] = True
    return padded(pc.if_else(pa.array(is_empty), pa.scalar("", column.type), column))
