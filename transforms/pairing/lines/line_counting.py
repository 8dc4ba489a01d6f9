"""Counts the lines of the ranges of a corpus in parallel, and finds other facts about its text.

A range has about 64 blocks, and is larger in a larger corpus, so that the plan does not grow. If
compiled code finds anything unusual, Python reads the file again, and says what is wrong.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses
import os
from collections.abc import Generator, Iterator, Sequence

import numpy as np

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Bytes, Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.masks import byte_masks
from beam_bleu.transforms.native.memory import (
    BLOCK,
    READ_AHEAD,
    address_of,
    count_bits,
    descriptor_of,
    load_byte,
    load_int,
    lowest_bit,
    pread_function,
    read_fully,
    store_byte,
    store_int,
)
from beam_bleu.transforms.pairing.files.chunks import (
    BYTE_ORDER_MARK,
    PART,
    UTF16_MARKS,
    Open,
    PartMemory,
    opened,
    read_chunks,
    read_parts,
)
from beam_bleu.transforms.pairing.files.streams import Shard, Stream, compression
from beam_bleu.transforms.progress import PROGRESS

# The first bytes of compressed files: no text begins with them.
COMPRESSED_DATA = {
    ".gz": b"\x1f\x8b\x08",
    ".bz2": b"BZh91AY&SY",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".xz": b"\xfd7zXZ\0",
}

_MOST_MAGIC = max(map(len, COMPRESSED_DATA.values()))

_PARTS_OF_CALL = 32  # how many parts one call counts: few enough that the progress of a run is seen

_HEAD = 16  # how many of the first bytes of a range are kept
TAIL = 3  # and of the last ones, for the end of a last line, and a blank one after it

# The state of the compiled function: an array of int64 with these places.
_NULS, _CONTROLS, _LINE_BYTES, _LONGEST, _STATE_SIZE = range(5)

MAX_LINE_BYTES = 1 << 26


def count_lines(
    stream: Stream,
    part: ByteRange,
    open_file: Open,
    version: str | None = None,
    max_line_bytes: int | None = MAX_LINE_BYTES,
) -> LineCounts:
    """Counts newlines, block by block. `max_line_bytes` only bounds how much is decompressed."""
    counted = CountedText(stream, part, version, max_line_bytes)
    is_plain = not compression(part.shard.file.path)
    with opened(stream, part.shard.file, open_file) as file:
        descriptor = descriptor_of(file) if is_plain else None
        if descriptor is not None and counted.add_file(descriptor):
            return counted.counts()
        memory = PartMemory(counted.part_bytes)
        for _ in read_parts(stream, part.shard.file, part.start, part.stop, lambda _: file, memory):
            counted.add(memory.text, memory.array, memory.begin, memory.end)
            if is_plain:
                PROGRESS.add(memory.end - memory.begin)
    return counted.counts()


class CountedText:
    """Counts the newlines of the text of a range."""

    def __init__(
        self, stream: Stream, part: ByteRange, version: str | None, max_line_bytes: int | None
    ) -> None:
        self._stream = stream
        self._version = version
        self._range = part
        self._max_line_bytes = max_line_bytes
        self._block = block_bytes(part.range_bytes)
        # A block has one or several parts.
        self.part_bytes = self._block if self._block % PART else PART
        self._counted: list[int] = []  # the newlines of each part
        self._lines = self._text_bytes = self._nul_bytes = self._control_bytes = 0
        self._line_bytes = 0  # of the unfinished line at the end of the last part
        self._tail = b""

    def add(self, text: bytes | bytearray, array: Bytes, begin: int, end: int) -> None:
        """Adds the bytes begin <= i < end, at least one. `array` is the same text as uint8."""
        path, start = self._range.shard.file.path, self._range.start
        if start == self._text_bytes == 0:
            refuse_undecoded(self._stream, path, bytes(text[begin : begin + _MOST_MAGIC]))
        newlines, nuls, controls = count_bytes(array[begin:end])
        self._line_bytes += (text.find(b"\n", begin, end) if newlines else end) - begin
        if self._max_line_bytes is not None and self._line_bytes > self._max_line_bytes:
            place = f"line {self._lines + 1}" if start == 0 else f"a line after byte {start}"
            what, remedy = line_too_long(self._max_line_bytes)
            raise InputError(self._stream.told(f"{place} {what}", path), remedy)
        if newlines:
            self._line_bytes = end - 1 - text.rfind(b"\n", begin, end)
        self._lines += newlines
        self._counted.append(newlines)
        self._text_bytes += end - begin
        self._nul_bytes += nuls
        self._control_bytes += controls
        self._tail = (self._tail + bytes(text[max(begin, end - TAIL) : end]))[-TAIL:]

    def add_file(self, descriptor: int) -> bool:
        """Adds the range's text from an open file; False if something is unusual."""
        start, stop, file = self._range.start, self._range.stop, self._range.shard.file
        try:
            head = os.pread(descriptor, min(_HEAD, stop - start), start)
        except OSError:
            return False
        marked = len(BYTE_ORDER_MARK) if start == 0 and head.startswith(BYTE_ORDER_MARK) else 0
        if stop - start == marked:
            return False
        text = np.empty(self.part_bytes + READ_AHEAD, np.uint8)
        newlines = np.zeros(-(-(stop - start) // self.part_bytes), np.int64)
        state = np.zeros(_STATE_SIZE, np.int64)
        state[_LINE_BYTES] = -marked
        for first in range(0, len(newlines), _PARTS_OF_CALL):
            of_call = newlines[first : first + _PARTS_OF_CALL]
            begin = start + first * self.part_bytes
            end = min(begin + len(of_call) * self.part_bytes, stop)
            arguments = descriptor, begin, end, self.part_bytes, text, of_call, state
            if not count_in_file(pread_function(), *arguments):
                return False
            PROGRESS.add(end - begin)
        try:
            self._tail = os.pread(descriptor, TAIL, max(stop - TAIL, start + marked))
            if stop == file.size and os.pread(descriptor, 1, stop):
                return False
        except OSError:
            return False
        nuls, controls, _, longest = state.tolist()
        if self._max_line_bytes is not None and longest > self._max_line_bytes:
            return False
        if start == 0:
            refuse_undecoded(self._stream, file.path, head[marked:])
        self._counted = newlines.tolist()
        self._text_bytes = stop - start - marked
        self._nul_bytes, self._control_bytes = nuls, controls
        return True

    def read(self, open_file: Open) -> Generator[bytes, None, None]:
        file = self._range.shard.file
        is_plain = not compression(file.path)
        for chunk in read_chunks(self._stream, file, self.part_bytes, open_file):
            self.add(chunk, np.frombuffer(chunk, np.uint8), 0, len(chunk))
            if is_plain:
                PROGRESS.add(len(chunk))
            yield chunk
        if self._tail[-1:] not in (b"", b"\n"):
            yield b"\n"

    def counts(self) -> LineCounts:
        file = self._range.shard.file
        counted = self._counted or [0]
        is_plain = not compression(file.path)
        parts_in_block = self._block // self.part_bytes if is_plain else len(counted)
        newlines = np.add.reduceat(counted, np.arange(0, len(counted), parts_in_block))
        return LineCounts(
            self._range,
            newlines.astype(np.min_scalar_type(newlines.max())),
            tail=self._tail,
            text_bytes=self._text_bytes,
            nul_bytes=self._nul_bytes,
            control_bytes=self._control_bytes,
            version=self._version,
        )


def refuse_undecoded(stream: Stream, path: str, text: bytes) -> None:
    if text.startswith(UTF16_MARKS):
        remedy = f"convert it: iconv -f UTF-16 -t UTF-8 {stream.shown(path)} > NEW"
        raise InputError(stream.told("its text is in UTF-16", path), remedy)
    suffix = next(
        (ending for ending, begin in COMPRESSED_DATA.items() if text.startswith(begin)), None
    )
    if suffix is not None:
        remedy = f"decompress it; or add {suffix} to its name, if it is not compressed twice"
        raise InputError(stream.told(f"its text is {suffix} data", path), remedy)


def line_too_long(max_line_bytes: int) -> tuple[str, str]:
    remedy = "check that the file is text; if its lines are that long, raise --max_line_bytes"
    return f"has more than {max_line_bytes} bytes", remedy


# Newlines; NULs; control characters that are not white space, including NULs.
_line_masks = byte_masks(["\n"], [0], [("\x00", "\x08"), ("\x0e", "\x1b")])


@inner
def count_blocks(begin, end):
    """(newlines, NULs, control characters) of the blocks that begin at addresses before `end`."""
    newlines = nuls = controls = 0
    for block in range(begin, end, BLOCK):
        newline, nul, control = _line_masks(block)
        newlines += count_bits(newline)
        if control != np.uint64(0):
            nuls += count_bits(nul)
            controls += count_bits(control)
    return newlines, nuls, controls


@inner
def _first_newline(text):
    at = text
    while _line_masks(at)[0] == np.uint64(0):
        at += BLOCK
    return at + lowest_bit(_line_masks(at)[0]) - text


@inner
def _after_last_newline(text, size):
    at = text + size
    while load_byte(at - 1) != ord("\n"):
        at -= 1
    return text + size - at


@compiled
def count_in_file(pread, descriptor, start, stop, part_bytes, text, newlines, state):
    """Counts the newlines of each part of a range. False if not all bytes could be read."""
    begin, state_address = address_of(text), address_of(state)
    line_bytes, longest = load_int(state_address, _LINE_BYTES), load_int(state_address, _LONGEST)
    nuls = controls = 0
    for part in range(newlines.size):
        at = start + part * part_bytes
        size = min(part_bytes, stop - at)
        if not read_fully(pread, descriptor, begin, size, at):
            return False
        for i in range(size, size + BLOCK):
            store_byte(begin + i, ord(" "))  # so the last block has nothing else to count
        lines, more_nuls, more_controls = count_blocks(begin, begin + size)
        nuls += more_nuls
        controls += more_controls
        newlines[part] = lines
        if lines:
            longest = max(longest, line_bytes + _first_newline(begin))
            line_bytes = _after_last_newline(begin, size)
        else:
            line_bytes += size
            longest = max(longest, line_bytes)
    store_int(state_address, _NULS, load_int(state_address, _NULS) + nuls)
    store_int(state_address, _CONTROLS, load_int(state_address, _CONTROLS) + controls)
    store_int(state_address, _LINE_BYTES, line_bytes)
    store_int(state_address, _LONGEST, longest)
    return True


@compiled
def count_bytes(text):
    """(newlines, NULs, control characters that are not white space, including NULs)."""
    start = address_of(text)
    whole = text.size - text.size % BLOCK
    newlines, nuls, controls = count_blocks(start, start + whole)
    for i in range(whole, text.size):
        byte = text[i]
        newlines += byte == ord("\n")
        nuls += byte == 0
        controls += byte < 9 or 13 < byte < 28
    return newlines, nuls, controls


BLOCKS_IN_RANGE = 64
SMALLEST_RANGE = 16  # bytes; also of a block
# Bytes; a larger block is a multiple of it, and so of the parts in which a file is read.
CHUNK = 1 << 20

SMALL_RANGE, USUAL_RANGE = 1 << 24, 1 << 26
MANY_RANGES = 1 << 8  # with as many ranges, or half as many, threads end at about the same time
MOST_RANGES = 1 << 16  # unless there are more files: tens of megabytes of counts


@dataclasses.dataclass(frozen=True)
class ByteRange:
    """Bytes start <= i < stop of a shard, in a corpus whose largest range has `range_bytes`."""

    shard: Shard
    start: int
    stop: int
    range_bytes: int


@dataclasses.dataclass(frozen=True)
class LineCounts:
    """The newlines of each block of a range, or of a compressed file, its last bytes (`TAIL`), and
    its bytes of text.
    """

    range: ByteRange
    newlines: Integers
    tail: bytes
    text_bytes: int = 0
    nul_bytes: int = 0
    control_bytes: int = 0
    version: str | None = None


def block_bytes(range_bytes: int) -> int:
    block = max(range_bytes // BLOCKS_IN_RANGE, SMALLEST_RANGE)
    return block - block % CHUNK if block > CHUNK else block


def cut_corpus(shards: Sequence[Shard], range_bytes: int | None) -> list[ByteRange]:
    """The ranges of all streams, the longest first, so that no worker ends with one of these."""
    if range_bytes is None:
        range_bytes = range_bytes_for(sum(shard.file.size for shard in shards))
    parts = [part for shard in shards for part in cut(shard, range_bytes)]
    return sorted(parts, key=lambda part: part.start - part.stop)


def longest_first(sizes: Integers, usual: int) -> list[int]:
    """The order of units: first those of twice the usual size or more, then the others in order."""
    lengths = np.where(sizes < 2 * usual, 0, sizes)
    order: list[int] = np.argsort(-lengths, kind="stable").tolist()
    return order


def range_bytes_for(corpus_bytes: int) -> int:
    """Small ranges divide a small corpus among threads; larger ones open files less often."""
    range_bytes = SMALL_RANGE
    while range_bytes < USUAL_RANGE and range_bytes * MANY_RANGES < corpus_bytes:
        range_bytes *= 2
    while range_bytes * MOST_RANGES < corpus_bytes:
        range_bytes *= 2
    return range_bytes


def cut(shard: Shard, range_bytes: int) -> Iterator[ByteRange]:
    """The ranges of a shard. A compressed shard is one range, an empty one is one empty range."""
    size = shard.file.size
    if compression(shard.file.path) or not size:
        yield ByteRange(shard, 0, size, range_bytes)
        return
    for start in range(0, size, range_bytes):
        yield ByteRange(shard, start, min(start + range_bytes, size), range_bytes)
