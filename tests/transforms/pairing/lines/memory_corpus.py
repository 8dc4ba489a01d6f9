"""Corpora in memory: files that are made from lines, so no expected line comes from reading."""

from __future__ import annotations

import dataclasses
import functools
import io
import itertools
from typing import BinaryIO

from compressing import COMPRESS
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream
from beam_bleu.transforms.pairing.lines.line_counting import LineCounts, count_lines, cut
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.pairing.lines.plan import Plan, make_plan
from beam_bleu.transforms.pairing.paired import bad_records_error

MARK = b"\xef\xbb\xbf"


@dataclasses.dataclass(frozen=True)
class MemoryFile:
    """A file: its lines, and its text as bytes before compression."""

    path: str
    lines: tuple[str, ...]
    text: bytes
    suffix: str = ""

    @property
    def data(self) -> bytes:
        return COMPRESS[self.suffix](self.text)


@dataclasses.dataclass(frozen=True)
class MemoryCorpus:
    """Streams of files, with what the code under test needs to read them."""

    files: tuple[tuple[MemoryFile, ...], ...]

    @property
    def streams(self) -> list[Stream]:
        return [Stream(f"stream {i}", f"pattern {i}") for i in range(len(self.files))]

    def lines(self, stream: int) -> list[str]:
        return [line for file in self.files[stream] for line in file.lines]

    def file(self, path: str) -> MemoryFile:
        return next(file for stream in self.files for file in stream if file.path == path)

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.file(path).data)

    def counts(self, range_bytes: int) -> list[LineCounts]:
        counts = []
        for i, files in enumerate(self.files):
            for number, file in enumerate(files):
                found = FoundFile(file.path, len(file.data))
                shard = Shard(i, number, found, is_last=number == len(files) - 1)
                parts = cut(shard, range_bytes)
                counts += [count_lines(self.streams[i], part, self.open) for part in parts]
        return counts

    def plan(self, range_bytes: int) -> Plan:
        return make_plan(self.streams, self.counts(range_bytes), "any")

    def read(self, plan: Plan, most: int) -> list[list[str]]:
        """The lines that the readers give for each stream, at most this number at a time."""
        texts: list[list[str]] = [[] for _ in self.files]
        for portion in plan.portions():
            for stream, pieces, lines in zip(self.streams, portion.pieces, texts, strict=True):
                lines += read_pieces(LineReader(stream, pieces, self.open), most)
        return texts


def read_pieces(reader: LineReader, most: int) -> list[str]:
    lines = []
    while taken := reader.available(most):
        column = reader.take(taken)
        if reader.bad:
            raise bad_records_error(reader.bad, 1, taken)
        lines += column.to_pylist()
    reader.finish()
    return lines


_LINE = st.one_of(
    st.just(""), st.text("ab é😀\r\x00\x85\u2028\ufeff", max_size=12), st.text("ab ", max_size=150)
)


@functools.cache  # hypothesis checks each new strategy
def _lines(size: int) -> st.SearchStrategy[list[str]]:
    return st.lists(_LINE, min_size=size, max_size=size)


@st.composite
def corpora(draw: st.DrawFn, suffixes: tuple[str, ...] = tuple(COMPRESS)) -> MemoryCorpus:
    """Corpora of hostile lines, each stream split in its own way into shards, empty ones too."""
    size = draw(st.integers(1, 50))
    streams = []
    for stream in range(draw(st.integers(1, 3))):
        lines, files = draw(_lines(size)), []
        bounds = [0, *sorted(draw(st.lists(st.integers(0, size), max_size=4))), size]
        for number, (first, last) in enumerate(itertools.pairwise(bounds)):
            of_file = tuple(lines[first:last])
            text = "".join(f"{line}\n" for line in of_file).encode()
            if text.startswith(MARK) or draw(st.booleans()):
                text = MARK + text  # a second mark is text
            if of_file and of_file[-1] and draw(st.booleans()):
                text = text[:-1]
            suffix = draw(st.sampled_from(suffixes))
            files.append(MemoryFile(f"{stream}-{number}.txt{suffix}", of_file, text, suffix))
        streams.append(tuple(files))
    return MemoryCorpus(tuple(streams))
