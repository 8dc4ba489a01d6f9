"""Reads a file's text, decompressed, up to the end that the file had when it was listed."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import io
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import BinaryIO, cast

import numpy as np

from beam_bleu.transforms.errors import BleuError, unreadable
from beam_bleu.transforms.native.masks import LOOK_BACK
from beam_bleu.transforms.native.memory import READ_AHEAD, descriptor_of
from beam_bleu.transforms.pairing.files.decompression import decompressed
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream, changed, compression
from beam_bleu.transforms.progress import PROGRESS

Open = Callable[[str], BinaryIO]  # opens a file to read its raw bytes

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
    """Memory for one part at a time, from `begin` to `end`. Mutable.

    Before the part are the last bytes of the part before it. After it are bytes that compiled code
    can read. `array` is the memory `text` as uint8.
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
    """Reads the bytes start <= i < stop of a file part by part, without a byte order mark; a
    compressed file as a whole. The caller can read further parts from the descriptor of
    `memory.unread`.
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
    """Gives the same pieces and errors. Closing it does not wait for a thread in a filesystem."""
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
