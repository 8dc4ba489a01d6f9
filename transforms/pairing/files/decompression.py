"""Streaming decompression that checks that the data is complete, as Beam's own reader does not.

Every member of a compressed file must reach its end-of-stream mark, and only another member (or, in
some formats, zero bytes) may follow.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable, Iterator
from typing import Any

from isal import igzip_lib

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.streams import Compression

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_READ = 1 << 16  # bytes of the compressed file that are read at a time
_MOST = 1 << 20  # the largest number of bytes that a member returns at once
# Bytes of text that a .zst or .xz file may refer back to: each open file needs this memory.
_LARGEST_WINDOW = 1 << 27


class _GzipMember:
    """isal's decompressor, with whole headers: isal 1.9 misreads optional parts that are cut."""

    def __init__(self) -> None:
        # It checks the member's checksum and length, and its header's checksum if there is one.
        self._member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        self._header: bytes | None = b""  # what has come of it; None after it

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
