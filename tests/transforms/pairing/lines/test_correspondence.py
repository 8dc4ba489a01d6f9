"""Streams must have the same shards and numbers of lines, and few NUL characters."""

from __future__ import annotations

import gzip
import io
import itertools

import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.notices import sentences
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream, shards_in_order
from beam_bleu.transforms.pairing.lines.correspondence import (
    nul_notices,
    require_equal_line_counts,
    require_same_lines,
    require_same_shards,
)
from beam_bleu.transforms.pairing.lines.line_counting import LineCounts, count_lines, cut

STREAMS = [
    Stream("references", "r/*"),
    Stream("candidates a", "a/*"),
    Stream("candidates b", "b/*"),
]


def shards(*streams: str) -> list[list[Shard]]:
    """The shards of streams whose paths are written as words, in any order."""
    return [
        shards_in_order(i, STREAMS[i], [FoundFile(path, 1) for path in paths.split()])
        for i, paths in enumerate(streams)
    ]


def test_shards_correspond_or_those_that_are_missing_are_named():
    for names in (
        ("r/part-1.gz r/part-2.gz r/part-10.gz", "a/p10 a/p1 a/p2"),
        ("r/x r/y", "whole", "b/x b/y"),
        ("whole", "a/x a/y", "b/x b/y"),
    ):
        require_same_shards(STREAMS, shards(*names))
    for one, other, missing in (
        ("r/p-0 r/p-1 r/p-2", "a/p-0 a/p-2 a/p-3", ["r/p-1", "a/p-3"]),
        ("r/p-0 r/p-1 r/p-2", "a/p-0 a/p-1", ["r/p-2"]),
        (" ".join(f"r/{i}" for i in range(9)), "a/0 a/8", ["r/1", "r/2", "r/3", "7 of"]),
        ("r/x_de r/x-b_de", "a/x a/x-b", ["candidates a", "references", "order"]),
    ):
        with pytest.raises(InputError) as error:
            require_same_shards(STREAMS, shards(one, other))
        assert all(name in error.value.cause for name in missing)
        assert "--cuts any" in error.value.remedy


def test_shards_must_have_the_same_numbers_of_lines():
    of_three = shards("r/0 r/1", "whole", "b/0 b/1")
    require_same_lines(STREAMS, of_three, [[5, 6], [12], [5, 6]])
    require_same_lines(STREAMS, shards("r/0 r/1", "whole"), [[5, 6], [11]])
    require_same_lines(STREAMS, shards("one", "two"), [[5], [6]])  # named with the streams
    names = [" ".join(f"{name}/part-{i}" for i in range(1, 11)) for name in "ra"]
    for lines, count in (
        ([[100, 101, 100] + [100] * 7, [100] * 10], 1),
        ([[1] * 10, [1, 2] * 5], 5),
    ):
        with pytest.raises(InputError) as error:
            require_same_lines(STREAMS, shards(*names), lines)
        assert f"{count} of 10 shards" in error.value.cause
        assert f"shard 2 has {lines[0][1]} line" in error.value.cause
        assert f"{lines[1][1]} in candidates a: r/part-2, a/part-2" in error.value.cause


def test_the_message_begins_with_the_stream_that_is_unlike_the_others():
    streams = [*(Stream(f"candidates {i}", f"/data/{i}") for i in range(20)), STREAMS[0]]
    for lines, cause in (
        ([71] + [72] * 20, "candidates 0 have 71 lines, candidates 1 have 72: /data/0, /data/1"),
        ([1, 72], "candidates 19 have 1 line, references have 72: /data/19, r/*"),
        ([72, 72, 71], "references have 71 lines, candidates 18 have 72: r/*, /data/18"),
        (
            [0] * 21,
            "the corpus is empty, no stream has a line: /data/0, /data/1, /data/2, /data/3 and 17",
        ),
    ):
        with pytest.raises(InputError) as error:
            require_equal_line_counts(streams[-len(lines) :], lines)
        assert error.value.cause.startswith(cause)


LATIN = "".join(f"a plain sentence of text, number {i}\n" for i in range(40))


def counted(*texts: bytes, range_bytes: int = 64, suffix: str = "") -> list[LineCounts]:
    """The counts of each text, as the files of the first stream."""
    return [
        count_lines(STREAMS[0], part, lambda path, text=text: io.BytesIO(text))
        for number, text in enumerate(texts)
        for part in cut(
            Shard(0, number, FoundFile(f"/data/{number}{suffix}", len(text))), range_bytes
        )
    ]


def test_utf_16_and_utf_32_without_a_mark_are_bad_data():
    thai, malayalam = "ประโยคภาษาไทยที่ไม่มีช่องว่าง\n" * 40, "ഒരുവാക്യം\n" * 40
    encodings = ["utf-16-le", "utf-16-be", "utf-32-le"]
    for encoding, text in itertools.product(encodings, (LATIN, thai, malayalam)):
        with pytest.raises(InputError, match=": /data/1"):  # one bad shard among good ones
            nul_notices(STREAMS, counted(LATIN.encode() * 50, text.encode(encoding)))
    bad = gzip.compress(LATIN.encode("utf-16-le"))  # judged by its text
    with pytest.raises(InputError, match=r"\d+ of \d+ bytes are NUL .*: /data/0\.gz"):
        nul_notices(STREAMS, counted(bad, suffix=".gz"))


def test_a_rare_nul_is_counted_whatever_the_ranges():
    text = LATIN.replace("number 7", "number\x007\x00").encode()
    for range_bytes in (16, 1000, 1 << 26):
        (warning,) = sentences(nul_notices(STREAMS, counted(text, range_bytes=range_bytes)))
        assert warning.startswith("references: the text has 2 NUL characters (U+0000)")
