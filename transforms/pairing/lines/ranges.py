"""Ranges: the parts of a corpus whose lines are counted in parallel.

A range has about 64 blocks, and the plan starts to read only at blocks. Ranges are larger in a
larger corpus, so that the plan, which one worker makes, does not grow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.files.streams import Shard, compression

BLOCKS_IN_RANGE = 64
SMALLEST_RANGE = 16  # bytes; also of a block
# Bytes; a larger block is a multiple of it, and so of the parts in which a file is read.
CHUNK = 1 << 20

SMALL_RANGE, USUAL_RANGE = 1 << 24, 1 << 26
MANY_RANGES = 1 << 8  # with as many ranges, or half as many, threads end at about the same time
MOST_RANGES = 1 << 16  # unless there are more files: tens of megabytes of counts


@dataclasses.dataclass(frozen=True)
class ByteRange:
    """Bytes start <= i < stop of a shard, in a corpus whose largest range has `range_bytes`."""

    shard: Shard
    start: int
    stop: int
    range_bytes: int


@dataclasses.dataclass(frozen=True)
class LineCounts:
    """What is found in a range.

    Attributes:
      newlines: those of each of its blocks, one number for a compressed file, in the smallest type
        of integers that is large enough.
      unfinished_line: whether the range ends its file with a line that has no newline.
      text_bytes: the bytes of its text, after decompression.
      control_bytes: control characters that are not white space, including NULs.
    """

    range: ByteRange
    newlines: Integers
    unfinished_line: bool
    text_bytes: int = 0
    nul_bytes: int = 0
    control_bytes: int = 0
    version: str | None = None


def block_bytes(range_bytes: int) -> int:
    block = max(range_bytes // BLOCKS_IN_RANGE, SMALLEST_RANGE)
    return block - block % CHUNK if block > CHUNK else block


def cut_corpus(shards: Sequence[Shard], range_bytes: int | None) -> list[ByteRange]:
    """The ranges of all streams, the longest first: one of two workers must not get these."""
    if range_bytes is None:
        range_bytes = range_bytes_for(sum(shard.file.size for shard in shards))
    parts = [part for shard in shards for part in cut(shard, range_bytes)]
    return sorted(parts, key=lambda part: part.start - part.stop)


def longest_first(sizes: Integers, usual: int) -> list[int]:
    """The order in which workers should work on units of these sizes, int64 (units,).

    A long one, such as a large compressed file, must not begin last. Units of less than twice the
    usual size stay in their order, because neighbours in a file are best read one after the other.
    """
    lengths = np.where(sizes < 2 * usual, 0, sizes)
    order: list[int] = np.argsort(-lengths, kind="stable").tolist()
    return order


def range_bytes_for(corpus_bytes: int) -> int:
    """The size of a range. Small ones divide a small corpus among threads. Larger ones need fewer
    openings of files, and a shorter plan.
    """
    range_bytes = SMALL_RANGE
    while range_bytes < USUAL_RANGE and range_bytes * MANY_RANGES < corpus_bytes:
        range_bytes *= 2
    while range_bytes * MOST_RANGES < corpus_bytes:
        range_bytes *= 2
    return range_bytes


def cut(shard: Shard, range_bytes: int) -> Iterator[ByteRange]:
    """The ranges of a shard. A compressed shard is one range, an empty one is one empty range."""
    size = shard.file.size
    if compression(shard.file.path) or not size:
        yield ByteRange(shard, 0, size, range_bytes)
        return
    for start in range(0, size, range_bytes):
        yield ByteRange(shard, start, min(start + range_bytes, size), range_bytes)
