"""Reads the lines of a file with a plan for only this file."""

from __future__ import annotations

import io

from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines.line_counting import MAX_LINE_BYTES, count_lines, cut
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import make_plan
from beam_bleu.transforms.pairing.paired import bad_records_error

STREAM = Stream("candidates LIUM", "a*")


def read_file(text: bytes, path: str = "a.txt", **choices: int) -> list[str]:
    """The lines of a file with these bytes, read with a plan for only this file."""
    return read_changed(text, text, path, **choices)


def read_changed(
    counted: bytes,
    read: bytes,
    path: str = "a.txt",
    range_bytes: int = 1 << 26,
    limit: int = MAX_LINE_BYTES,
) -> list[str]:
    """The lines of a file that had other bytes when its lines were counted."""
    parts = cut(Shard(0, 0, FoundFile(path, len(counted))), range_bytes)
    counts = [
        count_lines(STREAM, part, lambda _: io.BytesIO(counted), None, limit) for part in parts
    ]
    lines = []
    for portion in make_plan([STREAM], counts).portions():
        reader = LineReader(STREAM, portion.pieces[0], lambda _: io.BytesIO(read), limit)
        while taken := reader.available(1000):
            column = reader.take(taken)
            if reader.bad:
                raise bad_records_error(reader.bad, 1, taken)
            lines += column.to_pylist()
    return lines
