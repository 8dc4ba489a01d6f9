"""NUL characters: rare ones are counted, frequent ones mean another encoding."""

from __future__ import annotations

import gzip
import io

import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.notices import sentences
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines.correspondence import nul_notices
from beam_bleu.transforms.pairing.lines.line_counting import count_lines
from beam_bleu.transforms.pairing.lines.ranges import LineCounts, cut

STREAMS = [Stream("references", "r"), Stream("candidates x", "c")]
LATIN = "".join(f"a plain sentence of text, number {i}\n" for i in range(40))
THAI = "".join("ประโยคภาษาไทยที่ไม่มีช่องว่าง\n" for i in range(40))


def counted(*texts: bytes, range_bytes: int = 64, suffix: str = "") -> list[LineCounts]:
    counts = []
    for stream, text in enumerate(texts):
        shard = Shard(stream, 0, FoundFile(f"/data/{stream}{suffix}", len(text)))
        counts += [
            count_lines(STREAMS[stream], part, lambda path, text=text: io.BytesIO(text))
            for part in cut(shard, range_bytes)
        ]
    return counts


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [LATIN, THAI])
def test_utf_16_and_utf_32_without_a_mark_are_bad_data(text, encoding):
    with pytest.raises(InputError) as error:
        nul_notices(STREAMS, counted(LATIN.encode(), text.encode(encoding)))
    assert error.value.cause.endswith(": /data/1")


def test_a_compressed_file_is_judged_by_its_text():
    bad = gzip.compress(LATIN.encode("utf-16-le"))
    with pytest.raises(InputError, match=r"\d+ of \d+ bytes are NUL .*: /data/0\.gz"):
        nul_notices(STREAMS, counted(bad, suffix=".gz"))


def test_one_bad_shard_among_good_ones_is_found():
    good, bad = LATIN.encode() * 50, LATIN.encode("utf-16-le")
    counts = counted(good)
    shard = Shard(0, 1, FoundFile("/data/bad", len(bad)))
    counts += [count_lines(STREAMS[0], part, lambda _: io.BytesIO(bad)) for part in cut(shard, 64)]
    with pytest.raises(InputError, match="/data/bad"):
        nul_notices(STREAMS, counts)


def test_a_rare_nul_is_counted_whatever_the_ranges():
    text = LATIN.replace("number 7", "number\x007\x00").encode()
    for range_bytes in (16, 1000, 1 << 26):
        counts = counted(LATIN.encode(), text, range_bytes=range_bytes)
        (warning,) = sentences(nul_notices(STREAMS, counts))
        assert warning.startswith("candidates x: the text has 2 NUL characters (U+0000)")
