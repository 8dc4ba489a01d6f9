"""Whole files: compressed corpora that one worker reads once, from beginning to end.

A compressed file cannot be cut, and decompressing it takes about as long as scoring its text on two
cores. So its lines are not counted before they are scored, unless this lets several workers score.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Generator, Iterator, Sequence

import numpy as np

from beam_bleu.transforms.pairing.files.chunks import Open, read_chunks
from beam_bleu.transforms.pairing.files.streams import Shard, Stream, compression
from beam_bleu.transforms.pairing.lines.correspondence import Cuts
from beam_bleu.transforms.pairing.lines.line_counting import CountedText
from beam_bleu.transforms.pairing.lines.plan import Piece
from beam_bleu.transforms.pairing.lines.ranges import (
    USUAL_RANGE,
    ByteRange,
    LineCounts,
    cut,
    range_bytes_for,
)
from beam_bleu.transforms.progress import PROGRESS

ENDLESS = 1 << 62
"""The number of lines of a file whose lines are not counted yet."""

_MOST_RANGES = 4
"""The most ranges, of the usual size, of a corpus with several shards that is read once.

One worker reads this in a few seconds, so there is little to win from several.
"""


@dataclasses.dataclass(frozen=True)
class WholeFiles:
    """A corpus whose files are read in lockstep, shard by shard.

    Attributes:
      shards: the shards of each stream, in order; each stream has as many.
      range_bytes: the largest size of a range in this corpus.
    """

    shards: tuple[tuple[Shard, ...], ...]
    range_bytes: int

    @property
    def bytes(self) -> int:
        """The bytes of all files, before decompression."""
        return sum(shard.file.size for of_stream in self.shards for shard in of_stream)

    def corresponding(self) -> Iterator[tuple[Shard, ...]]:
        """The shards of all streams with the same lines, for each such lines."""
        return zip(*self.shards, strict=True)

    def ranges(self) -> Iterator[ByteRange]:
        """The ranges of all files, to count their lines."""
        for shard in itertools.chain.from_iterable(self.shards):
            yield from cut(shard, self.range_bytes)


def read_once(
    shards: Sequence[Sequence[Shard]], range_bytes: int | None, cuts: Cuts
) -> WholeFiles | None:
    """The corpus as whole files, or None if its lines must be counted first.

    Args:
      shards: the shards of each stream, in order.
      range_bytes: the largest size of a range; None: it is chosen for the size of the corpus.
      cuts: where the streams may be cut into shards.
    """
    files = list(itertools.chain.from_iterable(shards))
    if not any(compression(shard.file.path) for shard in files):
        return None
    size = sum(shard.file.size for shard in files)
    most = _MOST_RANGES * (USUAL_RANGE if range_bytes is None else range_bytes)
    if range_bytes is None:
        range_bytes = range_bytes_for(size)
    counts = {len(of_stream) for of_stream in shards}
    one_each = counts == {1}
    corresponding = cuts == "same" and len(counts) == 1 and size <= most
    if not one_each and not corresponding:
        return None
    return WholeFiles(tuple(map(tuple, shards)), range_bytes)


class CountedFile:
    """A file that is read from beginning to end while its lines are counted.

    Args:
      stream: the stream.
      shard: the file.
      range_bytes: the largest size of a range in this corpus.
      version: the version of the file.
      open_file: opens the file.
      max_line_bytes: as in `count_lines`.

    Attributes:
      piece: all lines of the file.
    """

    def __init__(
        self,
        stream: Stream,
        shard: Shard,
        range_bytes: int,
        version: str | None,
        open_file: Open,
        max_line_bytes: int | None,
    ) -> None:
        self._stream = stream
        self._shard = shard
        self._open_file = open_file
        self._counted = CountedText(
            stream, ByteRange(shard, 0, shard.file.size, range_bytes), max_line_bytes
        )
        self.piece = Piece(shard.file, version, 0, 0, 0, ENDLESS, ends_file=True)

    def text(self) -> Generator[bytes, None, None]:
        """The text, with a newline after its last line.

        Raises:
          InputError: as in `count_lines`.
        """
        counted, file = self._counted, self._shard.file
        is_plain = not compression(file.path)
        for chunk in read_chunks(self._stream, file, counted.part_bytes, self._open_file):
            counted.add(chunk, np.frombuffer(chunk, np.uint8), 0, len(chunk))
            if is_plain:
                PROGRESS.add(len(chunk))
            yield chunk
        if counted.is_unfinished:
            yield b"\n"

    @property
    def counts(self) -> LineCounts:
        """The counts, after all of the text was taken."""
        return self._counted.counts(self.piece.version)
