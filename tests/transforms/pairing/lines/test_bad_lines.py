"""Bad text, files that change and long lines give errors that name the place."""

from __future__ import annotations

import io
import itertools
import tracemalloc
import zlib

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from memory_corpus import COMPRESS, MARK, MemoryCorpus, MemoryFile
from reading_lines import STREAM, read_changed, read_file

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.text_columns import offsets_of, text_bytes
from beam_bleu.transforms.pairing.bad_records import bad_records_error
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines.line_counting import COMPRESSED_DATA, count_lines
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import make_plan
from beam_bleu.transforms.pairing.lines.ranges import cut


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(st.binary(max_size=8).map(lambda text: text.replace(b"\n", b"")), min_size=1))
def test_invalid_utf8_is_what_python_cannot_decode(lines):
    text = b"".join(line + b"\n" for line in lines)
    if text.startswith(MARK):
        text = MARK + text
    assume(
        not text.startswith(tuple(COMPRESSED_DATA.values()))
    )  # the text is refused because of this line
    bad = [(i, place) for i, line in enumerate(lines) if (place := undecodable(line)) is not None]
    if not bad:
        assert read_file(text) == [line.decode() for line in lines]
        return
    line, place = bad[0]
    with pytest.raises(InputError) as refused:
        read_file(text)
    assert refused.value.cause == (
        f"candidates LIUM: line {line + 1}: invalid UTF-8 at byte {place + 1} "
        f"of the line (0x{lines[line][place]:02x}): a.txt"
    )


def undecodable(line: bytes) -> int | None:
    """The first byte that Python's decoder refuses."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


@pytest.mark.parametrize(
    ("line", "byte", "reason"),
    [
        (b"caf\xe9 noir", 4, "Latin-1"),
        (b"\xff\xfea\x00", 1, "UTF-16"),
    ],
)
@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize(
    "place",
    [
        0,
    ],
)
def test_the_error_of_invalid_utf8_names_file_line_and_byte(suffix, place, line, byte, reason):
    good = [f"line {i}".encode() for i in range(900)]
    lines = [*good[:place], line, *good[place:]]
    # The file comes after another one, and the line is far from the start of its portion.
    first = MemoryFile("first" + suffix, ("a", "b"), b"a\nb\n", suffix)
    bad = MemoryFile("bad" + suffix, ("",) * len(lines), b"\n".join(lines), suffix)
    corpus = MemoryCorpus(((first, bad),))
    with pytest.raises(InputError) as error:
        corpus.read(corpus.plan(100), 64)
    assert error.value.cause == (
        f"stream 0: line {place + 1}: invalid UTF-8 at byte {byte} of the line "
        f"(0x{line[byte - 1]:02x}): bad{suffix}"
    ), reason


@pytest.mark.parametrize("range_bytes", [16, 1 << 26])
@pytest.mark.parametrize(
    ("counted", "read", "reason"),
    [
        (b"a\nb\nc\n", b"a\nb\n", "a line is gone"),
        (b"a\nb\nc\n", b"a\nb\nc", "the last newline is gone"),
        (b"a\nb\n", b"", "all is gone"),
        (b"a\nb\nc\n", b"a\nbbc\n", "as many bytes, but a newline fewer"),
        (b"x" * 15 + b"\n" + b"y" * 5, b"x" * 20 + b"\n", "as many bytes, but a line fewer"),
        (b"line\n" * 60, b"line\n" * 59 + b"line", "the last newline of many lines"),
    ],
)
def test_a_file_that_shrinks_after_it_was_counted_is_an_error(counted, read, reason, range_bytes):
    with pytest.raises(InputError) as error:
        read_changed(counted, read, range_bytes=range_bytes)
    assert error.value.cause.startswith("candidates LIUM: the file "), reason
    assert error.value.cause.endswith(": a.txt")
    assert "the file changed while the job ran" in error.value.remedy


@pytest.mark.parametrize("range_bytes", [16, 1 << 26])
@pytest.mark.parametrize(
    ("counted", "read", "reason"),
    [
        (b"a\nb\n", b"a\nb\nc\n", "a line more"),
        (b"a\nb", b"a\nbcd\n", "the unfinished line was cut: its score would be wrong"),
        (b"line\n" * 60, b"line\n" * 61, "a line more than many"),
    ],
)
def test_a_file_that_grows_after_it_was_counted_is_an_error(counted, read, reason, range_bytes):
    with pytest.raises(InputError):
        pytest.fail(f"{reason}: got {read_changed(counted, read, range_bytes=range_bytes)}")


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESS if suffix])
@pytest.mark.parametrize(
    ("read", "reason"),
    [
        ([b"a\nb\n"], "a line fewer"),
        ([b"a\nb\nc\nd\n"], "a line more"),
        ([b"a\nb\nc\n", b"d"], "an unfinished line more in a member of its own"),
    ],
)
def test_a_compressed_file_that_changes_after_it_was_counted_is_an_error(suffix, read, reason):
    counted = COMPRESS[suffix](b"a\nb\nc\n")
    changed = b"".join(map(COMPRESS[suffix], read))
    with pytest.raises(InputError):
        pytest.fail(f"{reason}: got {read_changed(counted, changed, 'a' + suffix)}")


class Unanswering(io.BytesIO):
    """A file on a filesystem that fails in the middle."""

    def __init__(self, path: str) -> None:
        super().__init__()

    def readinto(self, memory: object) -> int:
        raise TimeoutError("the store does not answer")


def refuse(path: str) -> io.BytesIO:
    raise PermissionError(13, "Permission denied", path)


@pytest.mark.parametrize(
    ("open_file", "reason"), [(refuse, "Permission denied"), (Unanswering, "does not answer")]
)
def test_errors_of_the_filesystem_name_stream_and_file(open_file, reason):
    (part,) = cut(Shard(0, 0, FoundFile("/data/a.txt", 6)), 16)
    with pytest.raises(InputError) as error:
        count_lines(STREAM, part, open_file)
    assert error.value.cause.startswith("candidates LIUM: cannot be read: ")
    assert error.value.cause.endswith(": /data/a.txt")
    assert reason in error.value.cause


# Lines that are too long


def count_and_read(data: bytes, suffix: str, range_bytes: int, max_line_bytes: int) -> None:
    path = f"/data/a{suffix}"
    stream = Stream("candidates x", path)
    counts = [
        count_lines(stream, part, lambda _: io.BytesIO(data), None, max_line_bytes)
        for part in cut(Shard(0, 0, FoundFile(path, len(data))), range_bytes)
    ]
    for portion in make_plan([stream], counts).portions():
        reader = LineReader(stream, portion.pieces[0], lambda _: io.BytesIO(data), max_line_bytes)
        while lines := reader.available(3):
            reader.take(lines)
            if reader.bad:
                raise bad_records_error(reader.bad[:1], lines)


def refused(text: bytes, max_line_bytes: int, suffix: str = "", range_bytes: int = 1 << 26) -> str:
    """The error for a text when it is counted or, if there is none, when it is read."""
    with pytest.raises(InputError) as error:
        count_and_read(COMPRESS[suffix](text), suffix, range_bytes, max_line_bytes)
    return error.value.cause


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize(
    "end",
    [
        b"\n",
        b"",
    ],
)
def test_the_error_of_a_too_long_line_names_its_file_and_number(suffix, end):
    for length in (101, 3 << 20):
        text = b"one\n" * 1000 + b"x" * length + end
        assert refused(text, 100, suffix) == (
            f"candidates x: line 1001 has more than 100 bytes: /data/a{suffix}"
        )


def test_a_line_with_exactly_the_limit_of_bytes_is_read():
    data = b"x" * 100 + b"\n" + b"\xc3\xa9" * 50
    stream = Stream("candidates x", "/data/a")
    (part,) = cut(Shard(0, 0, FoundFile("/data/a", len(data))), 1 << 26)
    counts = [count_lines(stream, part, lambda _: io.BytesIO(data), None, 100)]
    (portion,) = make_plan([stream], counts).portions()
    reader = LineReader(stream, portion.pieces[0], lambda _: io.BytesIO(data), 100)
    assert reader.take(reader.available(5)).to_pylist() == ["x" * 100, "é" * 50]
    reader.finish()


def test_a_bomb_is_refused_before_it_is_decompressed():
    read = 0

    class Endless(io.RawIOBase):
        """Gigabytes of zeros, compressed."""

        def __init__(self) -> None:
            self._compressor = zlib.compressobj(wbits=31)

        def read(self, size: int = -1) -> bytes:
            nonlocal read
            assert read < 200 << 20
            read += 1 << 20
            return self._compressor.compress(bytes(1 << 20)) or self.read(size)

    stream = Stream("candidates x", "/data/a.gz")
    (part,) = cut(Shard(0, 0, FoundFile("/data/a.gz", 4 << 20)), 1 << 26)
    with pytest.raises(InputError, match=r"line 1 has more than 1048576 bytes: /data/a.gz"):
        count_lines(stream, part, lambda _: Endless(), None, 1 << 20)


# Bad lines next to good ones


def is_utf8(line: bytes) -> bool:
    return undecodable(line) is None


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=9).map(lambda text: text.replace(b"\n", b"")),
            st.sampled_from([b"a\tb", b"\tb", b"a\t", b"a b", b"x" * 40, b"\xff" * 40, b"a\tb\tc"]),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([1, 2]),
    st.integers(1, 20),
    st.sampled_from([16, 1 << 26]),
    st.integers(0, 1 << 40),
)
def test_all_bad_lines_are_told_and_the_others_are_read(lines, fields, limit, range_bytes, first):
    text = b"".join(line + b"\n" for line in lines)
    assume(not text.startswith((*COMPRESSED_DATA.values(), MARK)))
    stream = Stream("candidates x", "a.txt")
    counts = [
        count_lines(stream, part, lambda _: io.BytesIO(text), None, None)
        for part in cut(Shard(0, 0, FoundFile("a.txt", len(text))), range_bytes)
    ]
    found: dict[int, tuple[str, bytes]] = {}
    columns: list[tuple[str, ...]] = []
    bytes_read = []
    for portion in make_plan([stream], counts).portions():
        opened = LineReader(
            stream, portion.pieces[0], lambda _: io.BytesIO(text), limit, first + portion.first_line
        )
        while taken := opened.available(7):
            column = opened.take(taken)
            offsets = offsets_of(column)
            data = text_bytes(column).tobytes()
            bytes_read += [
                data[start - offsets[0] : stop - offsets[0]]
                for start, stop in itertools.pairwise(offsets.tolist())
            ]
            parts = opened.split(column, fields)
            bad_rows = {each.number - first for each in opened.bad}
            for each in opened.bad:
                row = each.number - first
                assert each.place == f"line {row + 1}"
                assert row not in found
                found[row] = (each.reason, each.raw)
            rows = range(len(columns), len(columns) + taken)
            for row, values in zip(rows, zip(*map(list, parts), strict=True), strict=True):
                columns.append(() if row in bad_rows else tuple(each.as_py() for each in values))
        opened.finish()
    expected: dict[int, tuple[str, bytes]] = {}
    for row, line in enumerate(lines):
        if len(line) > limit:
            expected[row] = ("line-too-long", line[: limit + 1])
        elif not is_utf8(line):
            expected[row] = ("invalid-utf8", line)
        elif fields == 2 and len(line.decode().rstrip().split("\t")) != 2:
            expected[row] = ("wrong-number-of-fields", line)
    assert found == expected
    # Digests are made of these bytes, so they must not depend on the division of the work.
    assert bytes_read == [line[: limit + 1] for line in lines]
    for row, line in enumerate(lines):
        if row not in expected:
            assert "\t".join(columns[row]) == line.decode()


def test_the_rest_of_a_line_that_is_too_long_is_not_kept():
    class Long(io.RawIOBase):
        """A line of 512 MiB after another one."""

        def __init__(self) -> None:
            self.at = 0

        def seek(self, to: int, whence: int = 0) -> int:
            self.at = to
            return to

        def readinto(self, memory: memoryview) -> int:
            stop = min(self.at + len(memory), (1 << 29) + 4)
            data = bytearray(b"x" * (stop - self.at))
            for place, byte in ((0, b"a"), (1, b"\n"), (stop - self.at - 1, b"\n")):
                if (self.at == 0 or place > 1) and (place < 2 or stop == (1 << 29) + 4):
                    data[place : place + 1] = byte
            self.at = stop
            memory[: len(data)] = data
            return len(data)

    stream = Stream("candidates x", "a.txt")
    (part,) = cut(Shard(0, 0, FoundFile("a.txt", (1 << 29) + 4)), 1 << 30)
    counts = [count_lines(stream, part, lambda _: Long(), None, None)]
    (portion,) = make_plan([stream], counts).portions()
    tracemalloc.start()
    reader = LineReader(stream, portion.pieces[0], lambda _: Long(), 1 << 20)
    while taken := reader.available(1):
        reader.take(taken)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (bad,) = reader.bad
    assert (bad.reason, len(bad.raw)) == ("line-too-long", 1 << 20)
    assert most < 64 << 20


# Compressed data that is read as text


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESS if suffix])
def test_compressed_data_without_its_suffix_is_an_error(suffix):
    data = COMPRESS[suffix](b"some text\n" * 100)
    with pytest.raises(InputError) as error:
        read_file(data, "a.txt")
    assert (
        error.value.cause
        == f"{STREAM.label}: it is {suffix} data, but its name does not say so: a.txt"
    )
    assert error.value.remedy == f"add {suffix} to its name, or decompress it"


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESS if suffix])
def test_text_that_was_compressed_twice_is_an_error(suffix):
    data = COMPRESS[suffix](COMPRESS[suffix](b"some text\n" * 100))
    with pytest.raises(InputError, match=f"compressed twice: its text is {suffix} data"):
        read_file(data, f"a{suffix}")
