"""Bad text, files that change and long lines give errors that name the place."""

from __future__ import annotations

import io
import itertools
import tracemalloc
import zlib

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from memory_corpus import COMPRESS, MARK, STREAM, read_changed, read_file

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.text_columns import offsets_of, text_bytes
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines.line_counting import COMPRESSED_DATA, count_lines, cut
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import make_plan

COMPRESSED = [suffix for suffix in COMPRESS if suffix]


def undecodable(line: bytes) -> int | None:
    """The first byte that Python's decoder refuses."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


CHANGES = [
    (b"a\nb\nc\n", b"a\nb\n", "a line is gone"),
    (b"a\nb\nc\n", b"a\nb\nc", "the last newline is gone"),
    (b"a\nb\n", b"", "all is gone"),
    (b"a\nb\nc\n", b"a\nbbc\n", "as many bytes, but a newline fewer"),
    (b"x" * 15 + b"\n" + b"y" * 5, b"x" * 20 + b"\n", "as many bytes, but a line fewer"),
    (b"line\n" * 60, b"line\n" * 59 + b"line", "the last newline of many lines"),
    (b"a\nb\n", b"a\nb\nc\n", "a line more"),
    (b"a\nb", b"a\nbcd\n", "the unfinished line was cut: its score would be wrong"),
    (b"line\n" * 60, b"line\n" * 61, "a line more than many"),
]


@pytest.mark.parametrize(("counted", "read", "reason"), CHANGES)
def test_a_file_that_changes_after_it_was_counted_is_an_error(counted, read, reason):
    for range_bytes in (16, 1 << 26):
        with pytest.raises(InputError, match=r"^candidates LIUM: .*: a\.txt"):
            read_changed(counted, read, range_bytes=range_bytes)


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


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_the_error_of_a_bad_line_names_its_file_and_number(suffix):
    for line, end, said in (
        (b"x" * 101, b"\n", "line 1001 has more than 100 bytes"),
        (b"x" * (3 << 20), b"", "line 1001 has more than 100 bytes"),
        (b"caf\xe9", b"\n", "line 1001: invalid UTF-8 at byte 4 of the line (0xe9)"),
    ):
        text = COMPRESS[suffix](b"one\n" * 1000 + line + end)
        with pytest.raises(InputError) as error:
            read_file(text, f"/data/a{suffix}", limit=100)
        assert error.value.cause == f"candidates LIUM: {said}: /data/a{suffix}"


def test_a_line_that_is_too_long_is_not_kept():
    text = b"a\n" + b"x" * (20 << 20) + b"\n"
    tracemalloc.start()
    with pytest.raises(InputError, match="line 2 has more than 1000000 bytes"):
        read_file(text, limit=1_000_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 12 << 20


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


@settings(derandomize=True, deadline=None, max_examples=100)
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
        elif undecodable(line) is not None:
            expected[row] = ("invalid-utf8", line)
        elif fields == 2 and len(line.decode().rstrip().split("\t")) != 2:
            expected[row] = ("wrong-number-of-fields", line)
    assert found == expected
    # Digests are made of these bytes, so they must not depend on the division of the work.
    assert bytes_read == [line[: limit + 1] for line in lines]
    for row, line in enumerate(lines):
        if row not in expected:
            assert "\t".join(columns[row]) == line.decode()


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_compressed_data_in_place_of_text_is_an_error(suffix):
    data = COMPRESS[suffix](b"some text\n" * 100)
    with pytest.raises(InputError, match=f"its text is {suffix} data: a.t"):
        read_file(data)
    with pytest.raises(InputError, match=f"its text is {suffix} data"):
        read_file(COMPRESS[suffix](data), f"a{suffix}")
