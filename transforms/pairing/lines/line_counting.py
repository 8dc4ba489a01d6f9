"""Counts lines, and finds other facts about a text before it is scored."""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Bytes
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.file_reads import descriptor_of
from beam_bleu.transforms.native.memory import BLOCK, address_of
from beam_bleu.transforms.pairing.files.chunks import Open, opened
from beam_bleu.transforms.pairing.files.parts import PartMemory, read_parts
from beam_bleu.transforms.pairing.files.streams import Stream, compression
from beam_bleu.transforms.pairing.lines.file_counting import (
    CountedParts,
    count_blocks,
    count_parts,
    part_bytes_in,
)
from beam_bleu.transforms.pairing.lines.ranges import (
    ByteRange,
    LineCounts,
    block_bytes,
)
from beam_bleu.transforms.progress import PROGRESS

COMPRESSED_DATA = {
    ".gz": b"\x1f\x8b\x08",
    ".bz2": b"BZh91AY&SY",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".xz": b"\xfd7zXZ\0",
}
"""The first bytes of compressed files. No text begins with them."""

_MOST_MAGIC = max(map(len, COMPRESSED_DATA.values()))

_DECOMPRESS = {".gz": "zcat", ".bz2": "bzcat", ".zst": "zstdcat", ".xz": "xzcat"}
"""The programs that write the text of a compressed file to a pipe."""

MAX_LINE_BYTES = 1 << 26
"""The largest number of bytes of a line, if the user does not give another one."""


def count_lines(
    stream: Stream,
    part: ByteRange,
    open_file: Open,
    version: str | None = None,
    max_line_bytes: int | None = MAX_LINE_BYTES,
) -> LineCounts:
    """Counts the newlines of a range, block by block.

    Args:
      stream: the stream.
      part: the range.
      open_file: opens its file.
      version: the version of the file.
      max_line_bytes: the largest number of bytes of a line. Lines within a part are checked
        when they are scored; here the limit bounds the amount of decompressed text. None if lines
        that are too long are only left out.

    Raises:
      InputError: the file cannot be read, is truncated, or has a line that is too long.
    """
    counted = CountedText(stream, part, max_line_bytes)
    is_plain = not compression(part.shard.file.path)
    with opened(stream, part.shard.file, open_file) as file:
        parts = _counted_parts(file, part) if is_plain else None
        if parts is not None and (max_line_bytes is None or parts.longest <= max_line_bytes):
            counted.add_parts(parts)
            return counted.counts(version)
        memory = PartMemory(counted.part_bytes)
        for _ in read_parts(stream, part.shard.file, part.start, part.stop, lambda _: file, memory):
            counted.add(memory.text, memory.array, memory.begin, memory.end)
            if is_plain:
                PROGRESS.add(memory.end - memory.begin)
    return counted.counts(version)


def _counted_parts(file: BinaryIO, part: ByteRange) -> CountedParts | None:
    """The counts of a range; None if it cannot be read as usual, or is not on this machine."""
    descriptor = descriptor_of(file)
    if descriptor is None:
        return None
    return count_parts(descriptor, part, PROGRESS.add)


class CountedText:
    """Counts the newlines of the text of a range. Mutable.

    Args:
      stream: the stream.
      part: the range.
      max_line_bytes: as in `count_lines`.

    Attributes:
      part_bytes: the largest number of bytes to add at once, if the file is not compressed.
    """

    def __init__(
        self, stream: Stream, part: ByteRange, max_line_bytes: int | None = MAX_LINE_BYTES
    ) -> None:
        self._stream = stream
        self._range = part
        self._max_line_bytes = max_line_bytes
        self._block = block_bytes(part.range_bytes)
        self.part_bytes = part_bytes_in(part.range_bytes)
        self._counted: list[int] = []  # the newlines of each part
        self._lines = self._text_bytes = self._nul_bytes = self._control_bytes = 0
        self._line_bytes = 0  # of the unfinished line at the end of the last part
        self._last_byte = b"\n"

    @property
    def is_unfinished(self) -> bool:
        """Whether the text so far ends with a line that has no newline."""
        return self._last_byte != b"\n"

    def add(self, text: bytes | bytearray, array: Bytes, begin: int, end: int) -> None:
        """Adds the bytes begin <= i < end, at least one.

        Args:
          text: bytes.
          array: the same bytes, uint8.
          begin: the first one.
          end: the one after the last one.

        Raises:
          InputError: the text is compressed data, or has a line that is too long.
        """
        path, start = self._range.shard.file.path, self._range.start
        if start == self._text_bytes == 0:
            refuse_compressed(self._stream, path, bytes(text[begin : begin + _MOST_MAGIC]))
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
        self._last_byte = bytes(text[end - 1 : end])

    def add_parts(self, parts: CountedParts) -> None:
        """Adds the whole text of the range. It has no line that is too long.

        Raises:
          InputError: the text is compressed data.
        """
        if self._range.start == 0:
            refuse_compressed(self._stream, self._range.shard.file.path, parts.head)
        self._counted += parts.newlines.tolist()
        self._text_bytes += parts.text_bytes
        self._nul_bytes += parts.nul_bytes
        self._control_bytes += parts.control_bytes
        self._last_byte = parts.last_byte

    def counts(self, version: str | None) -> LineCounts:
        """The counts, after all bytes were added."""
        file = self._range.shard.file
        counted = self._counted or [0]
        is_plain = not compression(file.path)
        parts_in_block = self._block // self.part_bytes if is_plain else len(counted)
        newlines = np.add.reduceat(counted, np.arange(0, len(counted), parts_in_block))
        return LineCounts(
            self._range,
            newlines.astype(np.min_scalar_type(newlines.max())),
            unfinished_line=self._range.stop == file.size and self.is_unfinished,
            text_bytes=self._text_bytes,
            nul_bytes=self._nul_bytes,
            control_bytes=self._control_bytes,
            version=version,
        )


def refuse_compressed(stream: Stream, path: str, text: bytes) -> None:
    """Refuses a text that begins like a compressed file."""
    suffix = next((each for each, begin in COMPRESSED_DATA.items() if text.startswith(begin)), None)
    if suffix is None:
        return
    if compression(path):
        raise InputError(
            stream.told(f"it was compressed twice: its text is {suffix} data", path),
            "decompress it once",
        )
    if stream.pipe:
        raise InputError(
            stream.told(f"the pipe brings {suffix} data, not text", path),
            f"decompress it before the pipe: {_DECOMPRESS[suffix]} FILE | ...",
        )
    raise InputError(
        stream.told(f"it is {suffix} data, but its name does not say so", path),
        f"add {suffix} to its name, or decompress it",
    )


def line_too_long(max_line_bytes: int) -> tuple[str, str]:
    """(what is wrong, what to do) with a line, or with bytes without a newline, above the limit."""
    return (
        f"has more than {max_line_bytes} bytes",
        "check that the file is text with a newline after each segment; "
        "if its lines are that long, raise --max_line_bytes",
    )


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
