"""Reads a file's text, decompressed, up to the end that the file had when it was listed.

Unlike Beam's reader, decompression checks that the data is complete: every member of a file must
reach its end-of-stream mark, and only another member (or, in some formats, zero bytes) may follow.
"""

from __future__ import annotations

import bz2
import codecs
import collections
import contextlib
import dataclasses
import gzip
import io
import lzma
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO, cast

import numpy as np
from isal import igzip_lib

from beam_bleu.transforms.errors import BleuError, InputError, unreadable
from beam_bleu.transforms.native.masks import LOOK_BACK
from beam_bleu.transforms.native.memory import READ_AHEAD, descriptor_of
from beam_bleu.transforms.pairing.files.streams import (
    Compression,
    FoundFile,
    Stream,
    changed,
    compression,
)
from beam_bleu.transforms.progress import PROGRESS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Open = Callable[[str], BinaryIO]  # opens a file to read its raw bytes

UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

PART = 1 << 19  # few enough bytes to stay in the processor's cache until they are used

_AHEAD = 2  # how many pieces are made ahead


@dataclasses.dataclass
class Unread:
    at: int
    stop: int
    descriptor: int | None = None


def read_chunks(
    stream: Stream, listed: FoundFile, chunk_bytes: int, open_file: Open
) -> Iterator[bytes]:
    """The text of a whole file in chunks. Only compressed files add to the progress here."""
    suffix = compression(listed.path)
    if suffix:
        with opened(stream, listed, open_file) as file:

            def read(size: int) -> bytes:
                data = file.read(size)
                PROGRESS.add(len(data))
                return data

            text = decompressed(read, suffix, lambda what: stream.told(what, listed.path))
            yield from _without_mark(text)
        return
    memory = PartMemory(chunk_bytes)
    for _ in read_parts(stream, listed, 0, listed.size, open_file, memory):
        yield bytes(memory.text[memory.begin : memory.end])


@contextlib.contextmanager
def opened(stream: Stream, listed: FoundFile, open_file: Open) -> Iterator[BinaryIO]:
    """Opens a file. What a filesystem raises until it is closed becomes an `InputError`."""
    try:
        with open_file(listed.path) as file:
            yield file
    except (BleuError, MemoryError):
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        what = f"{stream.label}: cannot be read"
        raise unreadable(what, error, "check the file", stream.shown(listed.path)) from error


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    head = b""
    chunks = iter(chunks)
    for chunk in chunks:
        head += chunk
        if len(head) >= len(BYTE_ORDER_MARK):
            break
    head = head.removeprefix(BYTE_ORDER_MARK)
    if head:
        yield head
    yield from chunks


class PartMemory:
    """Memory for one part at a time, from `begin` to `end`. Before it are the last bytes of the
    part before, and after it bytes that compiled code may read. `array` is `text` as uint8.
    """

    def __init__(self, part_bytes: int = PART) -> None:
        self.text = bytearray(LOOK_BACK + part_bytes + READ_AHEAD)
        self.array = np.frombuffer(self.text, np.uint8)
        self.begin = self.end = LOOK_BACK
        self._space = memoryview(self.text)[LOOK_BACK : LOOK_BACK + part_bytes]
        self.forget()

    def forget(self) -> None:
        self.unread = Unread(0, 0)
        self.begin = self.end = LOOK_BACK
        self.text[:LOOK_BACK] = b"\n" * LOOK_BACK

    def put(self, text: bytes | memoryview) -> None:
        self._keep_last()
        self._space[: len(text)] = text
        self.end = LOOK_BACK + len(text)

    def read(self, file: io.BufferedIOBase, most: int) -> int:
        """Reads the next part from a file. Returns its size: less than `most` at the file's end."""
        self._keep_last()
        size = 0
        # A single read may return less.
        while size < most and (more := file.readinto(self._space[size:most])):
            size += more
        self.end = LOOK_BACK + size
        return size

    @property
    def part_bytes(self) -> int:
        return len(self._space)

    def _keep_last(self) -> None:
        self.text[:LOOK_BACK] = self.text[self.end - LOOK_BACK : self.end]
        self.begin = LOOK_BACK


def put_parts(chunks: Iterable[bytes], memory: PartMemory) -> Iterator[None]:
    most = memory.part_bytes
    for chunk in chunks:
        for at in range(0, len(chunk), most):
            memory.put(memoryview(chunk)[at : at + most])
            yield


def read_parts(
    stream: Stream, listed: FoundFile, start: int, stop: int, open_file: Open, memory: PartMemory
) -> Iterator[None]:
    """Reads the bytes start <= i < stop of a file part by part, a compressed file as a whole. The
    caller can read further parts itself (`memory.unread`).
    """
    memory.forget()
    most = memory.part_bytes
    if compression(listed.path):
        yield from put_parts(read_chunks(stream, listed, most, open_file), memory)
        return
    unread = memory.unread = Unread(start, stop)
    with opened(stream, listed, open_file) as file:
        unread.descriptor = descriptor_of(file)
        at = 0  # the place of `file`
        while unread.at < unread.stop:
            if at != unread.at:
                file.seek(unread.at)
            wanted = min(most, unread.stop - unread.at)
            size = memory.read(cast(io.BufferedIOBase, file), wanted)
            is_first = unread.at == 0
            at = unread.at = unread.at + size
            if size < wanted:
                what = f"ends at byte {at}, and had {listed.size} when listed"
                raise changed(stream, listed.path, what)
            if is_first and memory.text.startswith(BYTE_ORDER_MARK, memory.begin, memory.end):
                memory.begin += len(BYTE_ORDER_MARK)
            if memory.begin < memory.end:
                yield
        if unread.stop == listed.size:
            if at != unread.at:
                file.seek(unread.at)
            if file.read(1):
                what = f"has more than the {listed.size} bytes it had when listed"
                raise changed(stream, listed.path, what)


def read_ahead(pieces: Generator[bytes, None, None], threads: int) -> Generator[bytes, None, None]:
    """Gives the same pieces and errors, made ahead by a thread, for which closing does not wait."""
    if threads == 1:
        yield from pieces
        return
    pool = ThreadPoolExecutor(1)
    waiting: collections.deque[Future[bytes | None]] = collections.deque()
    try:
        for _ in range(_AHEAD):
            waiting.append(pool.submit(next, pieces, None))
        while (piece := waiting.popleft().result()) is not None:
            waiting.append(pool.submit(next, pieces, None))
            yield piece
    finally:
        for future in waiting:
            future.cancel()
        pool.submit(pieces.close)
        pool.shutdown(wait=False)


_READ = 1 << 16  # bytes of the compressed file that are read at a time
_MOST = 1 << 20  # the largest number of bytes that a member returns at once
# Bytes of text that a .zst or .xz file may refer back to: each open file needs this memory.
_LARGEST_WINDOW = 1 << 27


class _GzipMember:
    """isal's decompressor, which gets only whole headers: isal 1.9 misreads some that are cut."""

    def __init__(self) -> None:
        # It checks the member's checksum and length, and its header's checksum if there is one.
        self._member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        self._header: bytes | None = b""  # the bytes of it so far; None once it is complete

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if self._header is not None:
            self._header += data
            if not self._header.startswith(_GZIP_BEGIN[: len(self._header)]):
                # isal waits for 10 bytes before it says this.
                raise gzip.BadGzipFile("incorrect header check")
            if len(self._header) > 3 and self._header[3] & _GZIP_UNKNOWN:  # isal accepts these
                raise gzip.BadGzipFile("unknown header flags set")
            if len(self._header) <= _MOST and not _has_gzip_header(self._header):
                return b""
            data, self._header = self._header, None
        out: bytes = self._member.decompress(data, max_length)
        return out

    @property
    def needs_input(self) -> bool:
        return self._header is not None or bool(self._member.needs_input)

    @property
    def eof(self) -> bool:
        return bool(self._member.eof)

    @property
    def unused_data(self) -> bytes:
        unused: bytes = self._member.unused_data
        return unused


def _has_gzip_header(data: bytes) -> bool:
    if len(data) < 10:
        return False
    flags, at = data[3], 10
    if flags & 4:  # an extra field, after its length
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for flag in (8, 16):  # a name and a comment, each with a zero byte at its end
        if flags & flag:
            end = data.find(b"\0", at)
            if end < 0:
                return False
            at = end + 1
    return len(data) >= at + (2 if flags & 2 else 0)  # with its checksum


_GZIP_BEGIN = b"\x1f\x8b\x08"  # the magic number, and the only method of compression
_GZIP_UNKNOWN = 0xE0  # unknown flags, which could change what follows, so RFC 1952 demands an error

_ZSTD: dict[Any, int] = {
    zstd.DecompressionParameter.window_log_max: _LARGEST_WINDOW.bit_length() - 1
}

_MEMBERS: dict[Compression, Callable[[], Any]] = {
    ".gz": _GzipMember,
    ".bz2": bz2.BZ2Decompressor,
    ".xz": lambda: lzma.LZMADecompressor(memlimit=_LARGEST_WINDOW + _BESIDES),
    ".zst": lambda: zstd.ZstdDecompressor(options=_ZSTD),
}
_PADDED = (".gz", ".xz")  # the formats that allow zero bytes after a member
_BESIDES = 1 << 25  # more than the bytes that xz needs in addition to its dictionary

_COPY_AGAIN = "compress or copy the file again"
_OF_WINDOWS: dict[Compression, str] = {
    ".zst": "; a window above 128 MiB is refused (zstd --long=28)",
    ".xz": "; a dictionary larger than that of xz -9 is refused",
}
_ERRORS: Any = (igzip_lib.IsalError, OSError, EOFError, lzma.LZMAError, zstd.ZstdError)


def decompressed(
    read: Callable[[int], bytes], compression: Compression, told: Callable[[str], str]
) -> Iterator[bytes]:
    """The text of a file, in pieces of at most about a megabyte. `read` gives b"" at its end."""
    taken = 0

    def more() -> bytes:
        nonlocal taken
        data = read(_READ)
        taken += len(data)
        return data

    data = more()
    if not data:
        raise InputError(told(f"the file is empty, not {compression} data"), _COPY_AGAIN)
    while data:
        member = _MEMBERS[compression]()
        while not member.eof:
            if member.needs_input and not data and not (data := more()):
                what = f"truncated: the {compression} data ends at byte {taken}, before its end"
                raise InputError(told(what), _COPY_AGAIN)
            try:
                out = member.decompress(data, _MOST)
            except _ERRORS as error:
                what = f"bad {compression} data before byte {taken}: {error}"
                remedy = _COPY_AGAIN + _OF_WINDOWS.get(compression, "")
                raise InputError(told(what), remedy) from error
            data = b""
            if out:
                yield out
        data = member.unused_data or more()
        if compression in _PADDED:
            while data and not (data := data.lstrip(b"\0")):
                data = more()
