"""A sample of the segments of a corpus, with their texts: small, and the same for every split.

It has whole blocks of neighbouring segments, at equal distances, so that each text can be compared
with those of the lines around it; and the first and the last segments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.wiring.sums import Sums

CANDIDATES, REFERENCES = "the candidates of ", "references "
"""What the names of streams begin with; a system or a position from 1 follows."""

# How many segments are taken from the beginning, and from the end.
_EDGE = 256

_BLOCK_BITS = 5  # blocks of 32 segments
# The most segments of all blocks. With many systems there are fewer, to bound the memory.
_MOST_ROWS, _FEWEST_ROWS, _MOST_TEXTS = 1024, 128, 8192

# Longer texts are cut.
_MOST_CHARACTERS = 600

# Texts that are longer, taken together, are cut before they become strings.
_MOST_BYTES = 1 << 20

# Larger numbers are not positions, but digests of ids.
_LARGEST_NUMBER = 2**40


@dataclasses.dataclass(frozen=True, eq=False)
class Sample(Sums):
    """The sample of a part of a corpus.

    Attributes:
      rows: by the numbers of segments, from 0, their texts by the names of the streams.
      streams: the names of all streams.
      largest: the largest number of all segments, also of those that are not taken.
    """

    rows: Mapping[int, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    streams: tuple[str, ...] = ()
    largest: int = -1

    @classmethod
    def of(cls, batch: SegmentBatch, other: int = -1) -> Sample:
        """The sample of a batch; nothing if its segments have no texts or no positions.

        Args:
          batch: the batch.
          other: the number of another segment of the corpus.
        """
        numbers, largest = batch.numbers, max(largest_number(batch), other)
        if numbers is None or not batch.candidates or not 0 <= largest < _LARGEST_NUMBER:
            return cls()
        streams = [f"{REFERENCES}{place}" for place in range(1, len(batch.references) + 1)]
        streams += [CANDIDATES + system for system in batch.systems]
        taken = np.flatnonzero(_is_taken(numbers, largest, len(streams)))
        ranges = list(_ranges(taken))
        columns = [_texts(column, ranges) for column in (*batch.references, *batch.candidates)]
        rows = {
            number: {
                stream: text for stream, text in zip(streams, row, strict=True) if text is not None
            }
            for number, *row in zip(numbers[taken].tolist(), *columns, strict=True)
        }
        return cls(rows, tuple(streams), largest)

    def __add__(self, other: Sample) -> Sample:
        if not self.streams or not other.streams:
            return self if self.streams else other
        largest = max(self.largest, other.largest)
        streams = tuple(dict.fromkeys((*self.streams, *other.streams)))
        rows = dict(self.rows)
        for number, row in other.rows.items():
            rows[number] = {**rows.get(number, {}), **row}
        numbers = np.array(sorted(rows), np.int64)
        kept = numbers[_is_taken(numbers, largest, len(streams))].tolist()
        return Sample({number: rows[number] for number in kept}, streams, largest)

    @property
    def texts(self) -> dict[str, dict[int, str]]:
        """By the name of each stream, its texts by the numbers of their segments."""
        return {
            stream: {number: row[stream] for number, row in self.rows.items() if stream in row}
            for stream in self.streams
        }

    @property
    def nbytes(self) -> int:
        """About how many bytes all texts have."""
        return sum(len(text) for row in self.rows.values() for text in row.values())


class Sampling:
    """Mutable: the sample of the batches so far.

    A batch waits until the next one is there, which tells that its last segments are not the last
    ones of the corpus. Otherwise the texts of all batches' last segments would be taken.
    """

    def __init__(self) -> None:
        self._sample = Sample()
        self._waiting: SegmentBatch | None = None

    def add(self, batch: SegmentBatch) -> None:
        """Adds a batch."""
        self._take(largest_number(batch))
        self._waiting = batch

    def _take(self, largest: int) -> None:
        if self._waiting is not None:
            self._sample += Sample.of(self._waiting, largest)

    @property
    def total(self) -> Sample:
        """The sample of all batches."""
        self._take(-1)
        self._waiting = None
        return self._sample


def largest_number(batch: SegmentBatch) -> int:
    """The largest number of the segments of a batch; -1 if there is none."""
    return -1 if batch.numbers is None or not len(batch.numbers) else int(batch.numbers.max())


def _is_taken(numbers: Integers, largest: int, streams: int) -> npt.NDArray[np.bool_]:
    """Which segments are in the sample of those up to the largest number.

    A larger number never takes a segment that a smaller one did not take, except the last ones. So
    the sample of a corpus does not depend on how it was divided.
    """
    most = min(max(_MOST_TEXTS // streams, _FEWEST_ROWS), _MOST_ROWS) >> _BLOCK_BITS
    distance = max((largest >> _BLOCK_BITS) // most, 0).bit_length()  # a power of 2 of blocks
    taken: npt.NDArray[np.bool_] = (numbers >> _BLOCK_BITS) & ((1 << distance) - 1) == 0
    if streams * _EDGE <= _MOST_TEXTS:
        taken |= (numbers < _EDGE) | (numbers > largest - _EDGE)
    return taken


def _ranges(rows: Integers) -> Iterator[tuple[int, int]]:
    """The ranges of neighbours that rows in order consist of."""
    if not len(rows):
        return
    ends = np.flatnonzero(np.diff(rows) > 1)
    starts = [0, *(ends + 1).tolist()]
    for start, end in zip(starts, [*ends.tolist(), len(rows) - 1], strict=True):
        yield int(rows[start]), int(rows[end]) + 1


def _texts(column: pa.LargeStringArray, ranges: list[tuple[int, int]]) -> Iterator[str | None]:
    """The texts of ranges of rows, cut; None where there is none."""
    for start, stop in ranges:
        part = column[start:stop]
        if part.nbytes <= _MOST_BYTES:
            yield from (text and text[:_MOST_CHARACTERS] for text in part.to_pylist())
        else:
            for text in part:
                data = text.as_buffer()
                most = 4 * _MOST_CHARACTERS
                yield data and data[:most].to_pybytes().decode(errors="ignore")[:_MOST_CHARACTERS]
