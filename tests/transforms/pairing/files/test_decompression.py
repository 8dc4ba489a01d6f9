"""Files are read ahead and decompressed in bounded pieces: all of their text, or an error."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import lzma
import random
import struct
import threading
import time
import zlib
from collections.abc import Callable, Generator

import pytest
import zstandard

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.chunks import decompressed, read_ahead

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": functools.partial(bz2.compress, compresslevel=1),
    ".xz": functools.partial(lzma.compress, preset=0),
    # With a checksum, as the command-line tool writes it.
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
TEXT = "".join(f"line {i}: größer\n" for i in range(12)).encode()
OTHER_TEXT = "".join(f"the second part, {i * i}\n" for i in range(9)).encode()
ZSTD_SKIPPABLE_FRAME = struct.pack("<II", 0x184D2A50, 4) + b"note"

each_compression = pytest.mark.parametrize("suffix", COMPRESS)


def decompress(data: bytes, suffix: str, read_size: int | None = None) -> bytes:
    """The text of a file, read with the requested sizes or at most `read_size` bytes at a time."""
    file = io.BytesIO(data)

    def read(size: int) -> bytes:
        return file.read(min(size, read_size or size))

    return b"".join(decompressed(read, suffix, "references: {}: a.txt".format))


def incompressible(size: int) -> bytes:
    return random.Random(1).randbytes(size)


@each_compression
def test_all_members_come_back_in_order(suffix):
    for members in (
        [TEXT],
        [TEXT, b"", OTHER_TEXT],  # cat a.gz b.gz; an empty member is a member
        [b""],
        [b"", b"", TEXT],
        [b"\xc3", b"\xb6\n"],  # a character may lie across members
        [b"x"] * 40,
        [incompressible(3000), incompressible(10)],
    ):
        data = b"".join(map(COMPRESS[suffix], members))
        for read_size in (1, 7, None):
            assert decompress(data, suffix, read_size) == b"".join(members)
    # More than any read or piece, so that members begin and end inside reads.
    first, second = incompressible(1_500_000), incompressible(300_001)
    assert decompress(COMPRESS[suffix](first) + COMPRESS[suffix](second), suffix) == first + second


def test_zero_bytes_may_follow_a_member():
    # Tapes and tar pad with zeros, and gzip itself ignores them; xz pads to four bytes.
    for suffix, zeros in ((".gz", 1), (".gz", 100_000), (".xz", 4), (".xz", 100_000)):
        padded = COMPRESS[suffix](TEXT) + bytes(zeros)
        both = padded + COMPRESS[suffix](OTHER_TEXT) + bytes(zeros)
        for read_size in (5, None):
            assert decompress(padded, suffix, read_size) == TEXT
            assert decompress(both, suffix, read_size) == TEXT + OTHER_TEXT


@each_compression
def test_pieces_are_bounded_and_the_file_is_read_piece_by_piece(suffix):
    # A piece must have about a megabyte, because a worker keeps a few pieces of every stream.
    file = io.BytesIO(COMPRESS[suffix](bytes(16 << 20)))
    pieces = [len(piece) for piece in decompressed(file.read, suffix, str)]
    assert sum(pieces) == 16 << 20
    assert max(pieces) <= 2 << 20
    # The first text must come long before the file's end is read.
    file = io.BytesIO(COMPRESS[suffix](incompressible(4 << 20)))
    next(decompressed(file.read, suffix, str))
    assert file.tell() <= 2 << 20


@each_compression
def test_truncation_at_every_byte_is_an_error(suffix):
    first = COMPRESS[suffix](TEXT)
    data = first + COMPRESS[suffix](OTHER_TEXT)
    for length in range(len(data)):
        read_size = (1, 7, None)[length % 3]
        if length == len(first):
            # The rest is a complete file; nothing in it shows that there was more.
            assert decompress(data[:length], suffix, read_size) == TEXT
            continue
        with pytest.raises(InputError):
            decompress(data[:length], suffix, read_size)


@each_compression
def test_a_flipped_bit_never_gives_another_text(suffix):
    # Some bits of a header do not affect the text (gzip: the time, the system).
    data = COMPRESS[suffix](TEXT)
    harmless = 0
    for position in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            try:
                text = decompress(bytes(flipped), suffix)
            except InputError:
                continue
            assert text == TEXT, f"bit {bit} of byte {position}"
            harmless += 1
    assert harmless <= 8 * 10, "more than the headers' ten bytes of no meaning"


def test_members_of_bgzip_have_an_extra_field_wherever_a_read_ends():
    plain = gzip.compress(TEXT, mtime=0)
    extra = struct.pack("<HccHH", 6, b"B", b"C", 2, len(plain) + 7)
    member = plain[:3] + b"\x04" + plain[4:10] + extra + plain[10:]
    for read_size in (*range(1, 20), None):
        assert decompress(member * 3, ".gz", read_size) == TEXT * 3


def test_the_optional_parts_of_a_gzip_header_are_skipped():
    # Another member's header has an extra field, a long name, a comment and its own checksum.
    plain = gzip.compress(TEXT, mtime=0)
    extra = struct.pack("<H", 5) + b"extra"
    header = plain[:3] + b"\x1e" + plain[4:10] + extra + b"n" * 70_000 + b"\0comment\0"
    checksum = struct.pack("<H", zlib.crc32(header) & 0xFFFF)
    for read_size in (7, None):
        assert decompress(header + checksum + plain[10:], ".gz", read_size) == TEXT
    wrong = struct.pack("<H", zlib.crc32(header) & 0xFFFF ^ 1)
    with pytest.raises(InputError, match=r"bad \.gz data before byte"):
        decompress(header + wrong + plain[10:], ".gz")


def test_zstd_frames_without_text_are_skipped_but_may_not_be_cut():
    read_size = 7
    frame = COMPRESS[".zst"](TEXT)  # pzstd writes such frames before, seekable files after
    assert decompress(ZSTD_SKIPPABLE_FRAME + frame, ".zst", read_size) == TEXT
    assert decompress(frame + ZSTD_SKIPPABLE_FRAME, ".zst", read_size) == TEXT
    for length in range(1, len(ZSTD_SKIPPABLE_FRAME)):
        for before in (b"", frame):
            with pytest.raises(InputError):
                decompress(before + ZSTD_SKIPPABLE_FRAME[:length], ".zst", read_size)


GARBAGE = [b"x", b"\n", b"\x1f", b"\x1f\x8b\x08", b"BZ", b"BZh9", b"\xfd7zXZ", b"\x28\xb5\x2f"]


@each_compression
def test_what_is_not_compressed_data_is_named(suffix):
    whole = COMPRESS[suffix](TEXT)
    wrong = [COMPRESS[real](TEXT) for real in COMPRESS if real != suffix]
    wrong += [TEXT, *(whole + garbage for garbage in (*GARBAGE, TEXT, b"\x50\x2a\x4d\x18"))]
    wrong += [whole + bytes(16)] if suffix in (".bz2", ".zst") else []
    # The last eight bytes of gzip: four of the checksum, four of the length; and unknown flags.
    if suffix == ".gz":
        damaged = [(byte, 1) for byte in range(-8, 0)] + [(3, flag) for flag in (0x20, 0x40, 0x80)]
        for byte, bits in damaged:
            member = bytearray(gzip.compress(TEXT, mtime=0))
            member[byte] ^= bits
            wrong += [bytes(member), bytes(member) + whole, whole + bytes(member)]
    for data in wrong:
        for read_size in (1, None):
            with pytest.raises(InputError, match=r"^references: .*: a\.txt\b"):
                decompress(data, suffix, read_size)
    with pytest.raises(InputError, match=f"the file is empty, not {suffix} data: a.txt"):
        decompress(b"", suffix)


def test_a_window_that_is_too_large_is_refused_with_a_remedy():
    parameters = zstandard.ZstdCompressionParameters(window_log=28)  # as `zstd --long` does
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with_window = compressor.compress(TEXT) + compressor.flush()
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    with_dictionary = lzma.compress(TEXT, filters=filters)
    for data, suffix in ((with_window, ".zst"), (with_dictionary, ".xz")):
        with pytest.raises(InputError, match=f"bad {suffix} data before byte") as caught:
            decompress(data, suffix)
        assert "is refused" in caught.value.remedy


PIECES = [b"%d" % i for i in range(50)]
each_number_of_threads = pytest.mark.parametrize("threads", [1, 2])


class Pieces:
    """A text that says how much of it was made, and whether it was closed."""

    def __init__(self, error_after: int | None = None) -> None:
        self._error_after = error_after
        self.made = 0
        self.is_closed = False

    def all(self) -> Generator[bytes, None, None]:
        try:
            for piece in PIECES:
                if self.made == self._error_after:
                    raise ValueError("bad piece")
                self.made += 1
                yield piece
        finally:
            self.is_closed = True


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen in ten seconds")


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = set(threading.enumerate())
    yield
    wait_until(lambda: set(threading.enumerate()) <= before)


@each_number_of_threads
def test_it_gives_the_same_pieces_and_an_error_at_its_place(threads):
    pieces = Pieces()
    assert list(read_ahead(pieces.all(), threads)) == PIECES
    wait_until(lambda: pieces.is_closed)
    for place in (0, 2, 49):
        ahead = read_ahead(Pieces(error_after=place).all(), threads)
        assert [next(ahead) for _ in range(place)] == PIECES[:place]
        with pytest.raises(ValueError, match="bad piece"):
            next(ahead)
        assert list(ahead) == []


@each_number_of_threads
def test_few_pieces_are_made_ahead_and_closing_ends_them(threads):
    pieces = Pieces()
    ahead = read_ahead(pieces.all(), threads)
    for _ in range(10):
        next(ahead)
    time.sleep(0.05)  # more would be made now
    assert pieces.made <= 12
    ahead.close()
    wait_until(lambda: pieces.is_closed)
    assert pieces.made <= 12


def test_closing_does_not_wait_for_a_filesystem_that_is_stuck():
    goes_on, has_gone_on = threading.Event(), threading.Event()

    def stuck() -> Generator[bytes, None, None]:
        yield b"first"
        goes_on.wait(60)
        has_gone_on.set()
        yield b"second"

    ahead = read_ahead(stuck(), threads=2)
    assert next(ahead) == b"first"
    ahead.close()
    assert not has_gone_on.is_set()
    goes_on.set()
