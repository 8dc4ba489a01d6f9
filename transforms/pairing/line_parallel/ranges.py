"""Ranges: what a corpus is cut into, so that its lines are counted in parallel.

A range is what a worker counts at a time, and a block, of which it has about
64, is the grain of the plan. Ranges grow with the corpus, so that the plan,
which is made in one place, does not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.line_parallel.streams import Shard, compression

BLOCKS_IN_RANGE = 64
SMALLEST_RANGE = 16
"""Bytes; a block is no smaller, either."""
CHUNK = 1 << 20
"""Bytes of a file that are read at a time; a larger block is a multiple."""

USUAL_RANGE = 1 << 26
MOST_RANGES = 1 << 16
"""Ranges of a corpus unless its files are more: some tens of megabytes of counts."""


@dataclasses.dataclass(frozen=True)
class ByteRange:
    """Bytes start <= i < stop of a shard, counted by one worker.

    Attributes:
      range_bytes: the most that a range of this corpus has, unless its file is compressed.
    """

    shard: Shard
    start: int
    stop: int
    range_bytes: int


@dataclasses.dataclass(frozen=True)
class LineCounts:
    """The newlines of a range.

    Attributes:
      range: the range.
      newlines: the newlines of each of its blocks (of `block_bytes`), of a compressed file
        one number; integers of as few bytes as they fit in, because they are many.
      unfinished_line: whether the range ends its file with a line that has no newline.
      text_bytes: the bytes of its text, which are more than the range's where that is compressed.
      nul_bytes: how many of them are 0.
      control_bytes: how many are control characters and no white space, NULs included.
      version: what tells this version of the file from others (`file_versions.version_of`); None if
        its filesystem does not tell.
    """

    range: ByteRange
    newlines: Integers
    unfinished_line: bool
    text_bytes: int = 0
    nul_bytes: int = 0
    control_bytes: int = 0
    version: str | None = None


def block_bytes(range_bytes: int) -> int:
    """The bytes of a block where ranges have so many."""
    block = max(range_bytes // BLOCKS_IN_RANGE, SMALLEST_RANGE)
    return block - block % CHUNK if block > CHUNK else block


def cut_corpus(shards: Sequence[Shard], range_bytes: int | None) -> Iterator[ByteRange]:
    """The ranges of all shards of all streams.

    Args:
      shards: the shards.
      range_bytes: the most that a range has; if None, what suits the corpus.
    """
    if range_bytes is None:
        range_bytes = range_bytes_for(sum(shard.file.size for shard in shards))
    for shard in shards:
        yield from cut(shard, range_bytes)


def range_bytes_for(corpus_bytes: int) -> int:
    """The most that a range has, in a corpus of so many bytes in all streams together."""
    range_bytes = USUAL_RANGE
    while range_bytes * MOST_RANGES < corpus_bytes:
        range_bytes *= 2
    return range_bytes


def cut(shard: Shard, range_bytes: int) -> Iterator[ByteRange]:
    """The ranges of a shard; a compressed one cannot be cut, an empty one has one empty range."""
    size = shard.file.size
    if compression(shard.file.path) or not size:
        yield ByteRange(shard, 0, size, range_bytes)
        return
    for start in range(0, size, range_bytes):
        yield ByteRange(shard, start, min(start + range_bytes, size), range_bytes)
