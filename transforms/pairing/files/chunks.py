"""Reads a file's bytes in chunks, decompressed, up to the end that it had when it was listed."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from beam_bleu.transforms.errors import BleuError, unreadable
from beam_bleu.transforms.native.file_reads import descriptor_of
from beam_bleu.transforms.pairing.files.decompression import decompressed
from beam_bleu.transforms.pairing.files.streams import (
    FoundFile,
    Stream,
    changed,
    compression,
)
from beam_bleu.transforms.progress import PROGRESS

Open = Callable[[str], BinaryIO]
"""Opens a file to read its raw bytes."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclasses.dataclass
class Unread:
    """The text of a file that is not read yet. Mutable.

    Attributes:
      at: where it begins in the file.
      stop: where it ends.
      descriptor: the open file, if it is on this machine.
    """

    at: int
    stop: int
    descriptor: int | None = None


def read_chunks(
    stream: Stream, found: FoundFile, chunk_bytes: int, open_file: Open
) -> Iterator[bytes]:
    """The text of a whole file, chunk by chunk, without a byte order mark at its start.

    Every chunk but the first and the last one has `chunk_bytes`. The text of a compressed file
    comes in chunks of any size, and the bytes that are read are added to the progress of the run.
    Of other files the caller must add the bytes that it uses, because it may read bytes twice.

    Raises:
      InputError: the file cannot be read, is truncated, or has changed.
    """
    return _without_mark(_chunks(stream, found, chunk_bytes, open_file))


def _chunks(stream: Stream, found: FoundFile, chunk_bytes: int, open_file: Open) -> Iterator[bytes]:
    suffix = compression(found.path)
    if suffix:
        with opened(stream, found, open_file) as file:
            read = _added(file)
            yield from decompressed(read, suffix, lambda what: stream.told(what, found.path))
        return
    chunk = b""

    def read_fully(file: BinaryIO, size: int) -> int:
        nonlocal chunk
        chunk = file.read(size)
        # A single read may return less.
        while len(chunk) < size and (more := file.read(size - len(chunk))):
            chunk += more
        return len(chunk)

    for _ in read_range(stream, found, Unread(0, found.size), chunk_bytes, open_file, read_fully):
        yield chunk


def read_range(
    stream: Stream,
    found: FoundFile,
    unread: Unread,
    most: int,
    open_file: Open,
    read: Callable[[BinaryIO, int], int],
) -> Iterator[None]:
    """Reads a range of a file that is not compressed, part by part.

    Args:
      stream: the stream.
      found: the file.
      unread: the range. Before each part, others may have read more of it.
      most: the bytes of a part.
      open_file: opens the file.
      read: reads a part from the file, of this size if the file has as much; returns its size.

    Raises:
      InputError: the file cannot be read, or has changed.
    """
    with opened(stream, found, open_file) as file:
        unread.descriptor = descriptor_of(file)
        at = 0  # the place of `file`
        while unread.at < unread.stop:
            if at != unread.at:
                file.seek(unread.at)
            wanted = min(most, unread.stop - unread.at)
            size = read(file, wanted)
            at = unread.at = unread.at + size
            if size < wanted:
                what = f"ends at byte {at}, and had {found.size} when listed"
                raise changed(stream, found.path, what)
            yield
        if unread.stop == found.size:
            if at != unread.at:
                file.seek(unread.at)
            if file.read(1):
                what = f"has more than the {found.size} bytes it had when listed"
                raise changed(stream, found.path, what)


@contextlib.contextmanager
def opened(stream: Stream, found: FoundFile, open_file: Open) -> Iterator[BinaryIO]:
    """Opens a file. Whatever a filesystem raises until it is closed is an `InputError`."""
    try:
        with open_file(found.path) as file:
            yield file
    except (BleuError, MemoryError):
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        what = f"{stream.label}: cannot be read"
        raise unreadable(what, error, "check the file", stream.shown(found.path)) from error


def _added(file: BinaryIO) -> Callable[[int], bytes]:
    """A function that reads a file, and adds what it reads to the progress of the run."""

    def read(size: int) -> bytes:
        data = file.read(size)
        PROGRESS.add(len(data))
        return data

    return read


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks of a file, without a byte order mark at its start."""
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
