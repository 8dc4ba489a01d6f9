"""Reading lines: from the bytes of files to columns of text.

A line ends at a newline (U+000A) and nowhere else. A UTF-8 byte order mark at the start of a
file is dropped, and the last line of a file needs no newline.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from transforms.arrays import Integers
from transforms.columns import padded_column
from transforms.compiled import compiled
from transforms.errors import BleuError, InputError, unreadable
from transforms.machine import (
    BLOCK,
    READ_AHEAD,
    address_of,
    clear_lowest_bit,
    copy,
    lowest_bit,
    newline_mask,
)
from transforms.pairing.decompression import decompressed
from transforms.pairing.plan import Piece
from transforms.pairing.ranges import CHUNK, ByteRange, LineCounts, block_bytes
from transforms.pairing.streams import Stream, compression

Open = Callable[[str], BinaryIO]
"""Opens a file for reading its bytes as they are."""

_MOST_BUFFERED = 1 << 22
"""Bytes of a stream that are read ahead for a batch, unless a single line is longer."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def count_lines(stream: Stream, part: ByteRange, open_file: Open) -> LineCounts:
    """Counts the newlines of a range, block by block.

    Raises:
      InputError: the file cannot be read, or is truncated.
    """
    path = part.shard.path
    block = block_bytes(part.range_bytes)
    chunk_bytes = min(block, CHUNK)
    counted = []
    last_byte = b"\n"
    chunks = _chunks(stream, path, part.start, part.stop, part.shard.size, chunk_bytes, open_file)
    for chunk in _without_mark(chunks) if part.start == 0 else chunks:
        counted.append(_count_newlines(np.frombuffer(chunk, np.uint8)))
        last_byte = chunk[-1:]
    counted = counted or [0]
    chunks_in_block = len(counted) if compression(path) else block // chunk_bytes
    newlines = np.add.reduceat(counted, np.arange(0, len(counted), chunks_in_block))
    ends_file = part.stop == part.shard.size
    smallest = np.min_scalar_type(newlines.max())
    return LineCounts(part, newlines.astype(smallest), ends_file and last_byte != b"\n")


class LineReader:
    """Reads the pieces of a stream as one sequence of lines."""

    def __init__(self, stream: Stream, pieces: Sequence[Piece], open_file: Open) -> None:
        self._stream = stream
        self._pieces = pieces
        self._texts = itertools.chain.from_iterable(
            _text(stream, piece, open_file) for piece in pieces
        )
        self._buffer = bytearray()  # lines that were read, taken up to `_begin`
        self._begin = 0
        self._ends: Integers = np.empty(0, np.int64)  # the newlines of the lines not taken
        self._taken = 0

    def available(self, most: int) -> int:
        """Reads ahead; returns how many lines, up to `most`, can be taken: 0 at the end."""
        while len(self._ends) < most:
            if len(self._ends) and len(self._buffer) - self._begin >= _MOST_BUFFERED:
                break
            text = next(self._texts, None)
            if text is None:
                break
            self._append(text)
        return min(len(self._ends), most)

    def _append(self, text: bytes) -> None:
        del self._buffer[: self._begin]
        self._ends -= self._begin
        self._begin = 0
        array = np.frombuffer(text, np.uint8)
        ends = np.empty(_count_newlines(array), np.int64)
        _find_newlines(array, ends)
        self._ends = np.concatenate([self._ends, ends + len(self._buffer)])
        self._buffer += text

    def take(self, lines: int) -> pa.LargeStringArray:
        """The next lines, without their newlines, in a padded column.

        Raises:
          InputError: one of them is not UTF-8.
        """
        ends, self._ends = self._ends[:lines], self._ends[lines:]
        end = int(ends[-1]) + 1
        texts = np.zeros(end - self._begin - lines + READ_AHEAD, np.uint8)
        offsets = np.empty(lines + 1, np.int64)
        _copy_lines(np.frombuffer(self._buffer, np.uint8), self._begin, ends, texts, offsets)
        column = padded_column(texts, offsets)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            self._refuse(bytes(self._buffer[self._begin : end]))
            raise
        self._begin = end
        self._taken += lines
        return column

    def _refuse(self, text: bytes) -> None:
        """Raises the error that names the line of `text` that is not UTF-8."""
        line = self._taken
        for raw in text.split(b"\n"):
            try:
                raw.decode()
            except UnicodeDecodeError as error:
                path, number = self._place(line)
                raise InputError(
                    f"{self._stream.label}: {path}: line {number}: invalid UTF-8 at byte "
                    f"{error.start + 1} of the line (0x{raw[error.start]:02x})",
                    "convert the file to UTF-8 (iconv -f ... -t UTF-8), or repair it",
                ) from None
            line += 1

    def _place(self, line: int) -> tuple[str, int]:
        """(the file that holds a line of this reader, the line's number in it from 1)."""
        for piece in self._pieces:
            if line < piece.lines:
                return piece.path, piece.first_line + line + 1
            line -= piece.lines
        raise AssertionError(f"line {line} is behind the last piece")


def _text(stream: Stream, piece: Piece, open_file: Open) -> Iterator[bytes]:
    """The lines of a piece, each with its newline, in chunks.

    Raises:
      InputError: the file cannot be read, or is not as it was when lines were counted.
    """
    skip, missing = piece.skip, piece.lines
    last_byte = b"\n"
    chunks = _chunks(stream, piece.path, piece.start, piece.size, piece.size, CHUNK, open_file)
    for chunk in _without_mark(chunks) if piece.start == 0 else chunks:
        if not missing:
            raise changed(stream, piece.path, "has more lines than when they were counted")
        newlines = _count_newlines(np.frombuffer(chunk, np.uint8))
        if skip:
            if newlines < skip:
                skip -= newlines
                continue
            chunk = chunk[_nth_newline(chunk, skip) + 1 :]
            newlines -= skip
            skip = 0
        if newlines >= missing:
            end = _nth_newline(chunk, missing) + 1
            yield chunk[:end]
            if not piece.ends_file:
                return
            missing, chunk = 0, chunk[end:]
            if chunk:
                raise changed(stream, piece.path, "has more lines than when they were counted")
            continue  # to the end of the file, which is checked
        missing -= newlines
        last_byte = chunk[-1:] or last_byte
        yield chunk
    if missing == 1 and last_byte != b"\n":
        yield b"\n"
    elif missing:
        raise changed(stream, piece.path, f"has {missing} lines fewer than when they were counted")


def _chunks(
    stream: Stream, path: str, start: int, stop: int, size: int, chunk_bytes: int, open_file: Open
) -> Iterator[bytes]:
    """The bytes start <= i < stop of a file of `size`, chunk by chunk.

    Every chunk but the last has `chunk_bytes`. Of a compressed file it is the
    whole text, in chunks as they come.
    """
    where = f"{stream.label}: {path}"
    try:
        with open_file(path) as file:
            suffix = compression(path)
            if suffix:
                yield from decompressed(file.read, suffix, where)
                return
            if start:
                file.seek(start)
            while start < stop:
                chunk = _read_fully(file, min(chunk_bytes, stop - start))
                start += len(chunk)
                if len(chunk) < chunk_bytes and start < stop:
                    raise changed(stream, path, f"ends at byte {start}, and had {size} when listed")
                yield chunk
            if stop == size and file.read(1):
                raise changed(stream, path, f"has more than the {size} bytes it had when listed")
    except BleuError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise unreadable(f"{where}: cannot be read", error, "check the file") from error


def _read_fully(file: BinaryIO, size: int) -> bytes:
    """Reads `size` bytes, or up to the end of the file: one read may give less."""
    chunk = file.read(size)
    while len(chunk) < size and (more := file.read(size - len(chunk))):
        chunk += more
    return chunk


def changed(stream: Stream, path: str, how: str) -> InputError:
    """The error of a file that is not what it was when it was listed."""
    return InputError(
        f"{stream.label}: {path}: {how}",
        "the file changed while the job ran: start again when it is complete",
    )


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks of a file without the byte order mark that it may begin with."""
    head = b""
    chunks = iter(chunks)
    for chunk in chunks:
        head += chunk
        if len(head) >= len(_BYTE_ORDER_MARK):
            break
    head = head.removeprefix(_BYTE_ORDER_MARK)
    if head:
        yield head
    yield from chunks


def _nth_newline(text: bytes, n: int) -> int:
    return int(np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))[n - 1])


@compiled
def _count_newlines(text):
    count = 0
    for i in range(text.size):
        count += text[i] == ord("\n")
    return count


@compiled
def _find_newlines(text, ends):
    """Writes the places of the newlines to `ends`, which has room for just so many."""
    found = 0
    block = 0
    start = address_of(text)
    while block + BLOCK <= text.size:
        newlines = newline_mask(start + block)
        while newlines != np.uint64(0):
            ends[found] = block + lowest_bit(newlines)
            newlines = clear_lowest_bit(newlines)
            found += 1
        block += BLOCK
    for i in range(block, text.size):
        if text[i] == ord("\n"):
            ends[found] = i
            found += 1


@compiled
def _copy_lines(buffer, begin, ends, texts, offsets):
    """Copies the lines that end at `ends` one behind the other, without the newlines."""
    source, target = address_of(buffer), address_of(texts)
    to = 0
    offsets[0] = 0
    for line in range(ends.size):
        end = ends[line]
        copy(target + to, source + begin, end - begin)
        to += end - begin
        offsets[line + 1] = to
        begin = end + 1
