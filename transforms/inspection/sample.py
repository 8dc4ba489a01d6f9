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
      texts: for each stream, the texts by the numbers of their segments, from 0.
      largest: the largest number of all segments, also of those that are not taken.
    """

    texts: Mapping[str, Mapping[int, str]] = dataclasses.field(default_factory=dict)
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
        columns = {f"{REFERENCES}{place}": c for place, c in enumerate(batch.references, 1)}
        columns |= {
            CANDIDATES + system: column
            for system, column in zip(batch.systems, batch.candidates, strict=True)
        }
        rows = np.flatnonzero(_is_taken(numbers, largest, len(columns)))
        taken = numbers[rows].tolist()
        ranges = list(_ranges(rows))
        return cls(
            {
                name: {
                    number: text
                    for number, text in zip(taken, _texts(column, ranges), strict=True)
                    if text is not None
                }
                for name, column in columns.items()
            },
            largest,
        )

    def __add__(self, other: Sample) -> Sample:
        if not self.texts or not other.texts:
            return self if self.texts else other
        largest = max(self.largest, other.largest)
        names = dict.fromkeys([*self.texts, *other.texts])
        both = {name: {**self.texts.get(name, {}), **other.texts.get(name, {})} for name in names}
        numbers = np.array(sorted({number for texts in both.values() for number in texts}))
        kept = set(numbers[_is_taken(numbers, largest, len(both))].tolist()) if len(numbers) else ()
        return Sample(
            {
                name: {number: text for number, text in texts.items() if number in kept}
                for name, texts in both.items()
            },
            largest,
        )

    @property
    def nbytes(self) -> int:
        """About how many bytes all texts have."""
        return sum(len(text) for texts in self.texts.values() for text in texts.values())


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
