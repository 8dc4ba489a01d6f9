"""Plans portions: which lines each one has, and where they are in each file, by newline counts."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from beam_bleu.transforms.errors import lost_data
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream, changed, compression
from beam_bleu.transforms.pairing.lines.correspondence import (
    Cuts,
    require_equal_line_counts,
    require_same_lines,
)
from beam_bleu.transforms.pairing.lines.line_counting import (
    TAIL,
    ByteRange,
    LineCounts,
    block_bytes,
    longest_first,
)


@dataclasses.dataclass(frozen=True)
class Piece:
    """Lines of one file, `skip` newlines after byte `start`; `first_line` counts the header. If the
    file `ends_blank`, a blank line follows the last one.
    """

    file: FoundFile
    version: str | None
    start: int
    skip: int
    first_line: int
    lines: int
    ends_file: bool
    ends_blank: bool = False


@dataclasses.dataclass(frozen=True)
class Portion:
    first_line: int
    lines: int
    pieces: tuple[tuple[Piece, ...], ...]


class Plan:
    """All lines of a corpus, cut into portions. `segments` are the lines of each stream."""

    def __init__(self, texts: Sequence[_StreamLines], range_bytes: int) -> None:
        self.segments = texts[0].lines
        self.shards = [[file.shard for file in text.files] for text in texts]
        self.lines = [[file.lines for file in text.files] for text in texts]
        self.versions = [[file.version for file in text.files] for text in texts]
        self.bytes = sum(shard.file.size for of_stream in self.shards for shard in of_stream)
        self._texts = texts
        self._bounds, self._order = _divide(texts, range_bytes)
        self.portion_count = len(self._order)

    def portions(self) -> Iterator[Portion]:
        """The portions in order, one by one: all of them at once could fill the memory."""
        return map(self._portion, range(self.portion_count))

    def portions_to_read(self) -> Iterator[Portion]:
        return map(self._portion, self._order)

    def _portion(self, number: int) -> Portion:
        first, last = self._bounds[number : number + 2]
        pieces = tuple(tuple(text.pieces(first, last)) for text in self._texts)
        return Portion(first, last - first, pieces)


def make_plan(
    streams: Sequence[Stream],
    counts: Iterable[LineCounts],
    cuts: Cuts = "same",
    header_lines: int = 0,
    may_end_blank: bool = False,
) -> Plan:
    """Cuts a corpus into portions of about the size of a range. With `may_end_blank`, a blank line
    at the end of a file does not count.
    """
    by_stream: list[list[LineCounts]] = [[] for _ in streams]
    for count in counts:
        by_stream[count.range.shard.stream].append(count)
    for stream, of_stream in zip(streams, by_stream, strict=True):
        of_stream.sort(key=lambda count: (count.range.shard.number, count.range.start))
        _check_complete(stream, [count.range for count in of_stream])
    texts = [
        _StreamLines(stream, of_stream, header_lines, may_end_blank)
        for stream, of_stream in zip(streams, by_stream, strict=True)
    ]
    plan = Plan(texts, by_stream[0][0].range.range_bytes)
    if cuts == "same":
        require_same_lines(streams, plan.shards, plan.lines)
    require_equal_line_counts(streams, [text.lines for text in texts])
    return plan


def _check_complete(stream: Stream, ranges: Sequence[ByteRange]) -> None:
    """Checks that each byte of a stream was counted once. Otherwise a score could look right."""
    number, start, is_last = 0, 0, False
    for part in ranges:
        shard = part.shard
        if (shard.number, part.start) != (number, start):
            break
        start = part.stop
        if start == shard.file.size:
            number, start, is_last = number + 1, 0, shard.is_last
    else:
        if is_last and start == 0:
            return
    raise lost_data(f"{stream}: not every byte was counted exactly once")


class _FileLines:
    """The first bytes of a file's blocks, and the newlines before them, without the header."""

    def __init__(
        self,
        stream: Stream,
        counts: Sequence[LineCounts],
        header_lines: int,
        may_end_blank: bool,
    ) -> None:
        self.shard = counts[0].range.shard
        self.version = counts[0].version
        if any(count.version != self.version for count in counts):
            raise changed(stream, self.shard.file.path, "was changed while its lines were counted")
        self.block = block = block_bytes(counts[0].range.range_bytes)
        newlines = np.concatenate([count.newlines for count in counts], dtype=np.int64)
        self.starts = np.concatenate(
            [count.range.start + block * np.arange(len(count.newlines)) for count in counts]
        )
        self.before = np.cumsum(newlines) - newlines
        tail = b"".join(count.tail for count in counts[-TAIL:])
        self.ends_blank = may_end_blank and tail.endswith((b"\n\n", b"\n\r\n"))
        lines = int(newlines.sum()) + (tail[-1:] not in (b"", b"\n")) - self.ends_blank
        self.header = min(header_lines, lines)
        self.lines = lines - self.header

    def piece(self, first: int, last: int) -> Piece:
        # A line begins after a newline, so the block must begin before that newline.
        in_file = first + self.header
        block = max(int(np.searchsorted(self.before, in_file)) - 1, 0)
        return Piece(
            file=self.shard.file,
            version=self.version,
            start=int(self.starts[block]),
            skip=in_file - int(self.before[block]),
            first_line=in_file,
            lines=last - first,
            ends_file=last == self.lines,
            ends_blank=self.ends_blank,
        )


class _StreamLines:
    """The number of each file's first line, then of all lines, int64 (files + 1,), and the bytes
    before each file, with one block more for opening it.
    """

    def __init__(
        self,
        stream: Stream,
        counts: Sequence[LineCounts],
        header_lines: int,
        may_end_blank: bool,
    ) -> None:
        by_file = itertools.groupby(counts, key=lambda count: count.range.shard.number)
        self.files = [
            _FileLines(stream, list(of_file), header_lines, may_end_blank) for _, of_file in by_file
        ]
        self.first_lines = np.cumsum([0] + [file.lines for file in self.files])
        self.lines = int(self.first_lines[-1])
        costs = [file.shard.file.size + file.block for file in self.files]
        self.offsets = np.cumsum([0, *costs])
        self.bytes = int(self.offsets[-1])
        self.is_compressed = any(compression(file.shard.file.path) for file in self.files)

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """The pieces with these lines, and empty files between them, which may have lines now."""
        begin_at = int(np.searchsorted(self.first_lines, first))
        if self.first_lines[begin_at] != first:
            begin_at -= 1
        for index in range(begin_at, len(self.files)):
            file, start = self.files[index], int(self.first_lines[index])
            if last <= start and last < self.lines:
                return
            begin, stop = max(first, start), min(last, start + file.lines)
            if begin < stop or not file.lines:
                yield file.piece(begin - start, stop - start)

    def cuts(self) -> tuple[Integers, Integers]:
        """(lines at which a portion may start, bytes of the stream before them)."""
        firsts, offsets = self.first_lines[:-1], self.offsets[:-1]
        if self.is_compressed:
            return firsts, offsets
        return (
            np.concatenate(
                [
                    np.maximum(file.before - file.header, 0) + at
                    for file, at in zip(self.files, firsts, strict=True)
                ]
            ),
            np.concatenate(
                [file.starts + at for file, at in zip(self.files, offsets, strict=True)]
            ),
        )


def _divide(texts: Sequence[_StreamLines], range_bytes: int) -> tuple[list[int], list[int]]:
    """Divides all lines into portions, by the blocks of the largest stream, so that its text is
    never read twice.

    If streams are compressed, the largest compressed one leads, and a portion begins only at a line
    where a file begins in all of them.

    Returns:
      (portions + 1,), each portion's first line, then the number of all lines; and (portions,), the
        numbers of the portions in the order in which workers should read them.
    """
    compressed = [text for text in texts if text.is_compressed]
    leader = max(compressed or texts, key=lambda text: text.bytes)
    lines, before = leader.cuts()
    allowed = np.ones(len(lines), bool)
    for text in compressed:
        allowed &= np.isin(lines, text.first_lines)
    lines, before = lines[allowed], before[allowed]
    total = sum(text.bytes for text in texts)
    # One portion for each range_bytes of all streams. It begins at the first possible line in them.
    portion_bytes = max(leader.bytes * range_bytes // max(total, 1), 1)  # of only the leader
    _, first_of_portion = np.unique(before // portion_bytes, return_index=True)
    begins, before = lines[first_of_portion], before[first_of_portion]
    # The lines are in order. np.unique would import numpy.ma at each start.
    later = (np.diff(begins, prepend=0) != 0) & (begins < texts[0].lines)
    sizes = np.diff(before[later], prepend=0, append=leader.bytes)
    bounds = [0, *begins[later].tolist(), texts[0].lines]
    return bounds, longest_first(sizes, portion_bytes)
