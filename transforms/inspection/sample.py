"""A sample of the segments of a corpus, with their texts: small, and the same for every split.

It has whole blocks of neighbouring segments, at equal distances, so that each text can be compared
with those of the lines around it; and the first and the last segments.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from beam_bleu.transforms.native.arrays import Integers, Sums
from beam_bleu.transforms.pairing.batch import SegmentBatch

_CANDIDATES, _REFERENCES = "the candidates of ", "references "
"""What the names of streams begin with; a system or a position from 1 follows."""

_EDGE = 256  # how many segments are taken from the beginning, and from the end
_BLOCK_BITS = 5  # blocks of 32 segments
# The most segments of all blocks. With many systems there are fewer, to bound the memory.
_MOST_ROWS, _FEWEST_ROWS, _MOST_TEXTS = 1024, 128, 8192

_MOST_CHARACTERS = 600  # longer texts are cut
_LARGEST_NUMBER = 2**40  # larger numbers are not positions, but digests of ids


@dataclasses.dataclass(frozen=True, eq=False)
class Stream:
    """The texts that are not empty of a system or of a position of references, in order."""

    name: str
    numbers: Integers
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def is_of_candidates(self) -> bool:
        return self.name.startswith(_CANDIDATES)

    @functools.cached_property
    def data(self) -> str:
        return "\n".join(self.texts)


@dataclasses.dataclass(frozen=True, eq=False)
class Sample(Sums):
    """The sample of a part of a corpus: texts by streams and numbers of segments. `largest` is that
    of all segments, also of those that are not taken.
    """

    rows: Mapping[int, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    names: tuple[str, ...] = ()
    largest: int = -1

    @classmethod
    def of(cls, batch: SegmentBatch, other: int = -1) -> Sample:
        """The sample of a batch; nothing if its segments have no texts or no positions."""
        numbers, largest = batch.numbers, max(_largest_number(batch), other)
        if numbers is None or not batch.candidates or not 0 <= largest < _LARGEST_NUMBER:
            return cls()
        names = [f"{_REFERENCES}{place}" for place in range(1, len(batch.references) + 1)]
        names += [_CANDIDATES + system for system in batch.systems]
        taken = np.flatnonzero(_is_taken(numbers, largest, len(names)))
        # Rows, one by one: pyarrow.compute, which `take` imports, would slow the start.
        columns = [
            [column[row].as_py() for row in taken.tolist()]
            for column in (*batch.references, *batch.candidates)
        ]
        rows = {
            number: {
                name: text[:_MOST_CHARACTERS]
                for name, text in zip(names, row, strict=True)
                if text is not None
            }
            for number, *row in zip(numbers[taken].tolist(), *columns, strict=True)
        }
        return cls(rows, tuple(names), largest)

    def __add__(self, other: Sample) -> Sample:
        if not self.names or not other.names:
            return self if self.names else other
        largest = max(self.largest, other.largest)
        names = tuple(dict.fromkeys((*self.names, *other.names)))
        rows = {**self.rows, **other.rows}
        for number in self.rows.keys() & other.rows.keys():  # batches of other systems
            rows[number] = {**self.rows[number], **other.rows[number]}
        numbers = np.array(sorted(rows), np.int64)
        kept = numbers[_is_taken(numbers, largest, len(names))].tolist()
        return Sample({number: rows[number] for number in kept}, names, largest)

    def streams(self) -> list[Stream]:
        streams = []
        for name in self.names:
            texts = {
                number: row[name] for number, row in sorted(self.rows.items()) if row.get(name)
            }
            streams.append(Stream(name, np.array([*texts], np.int64), tuple(texts.values())))
        return streams

    @property
    def nbytes(self) -> int:
        return sum(len(text) for row in self.rows.values() for text in row.values())


class Sampling:
    """Takes the sample of batches. Each one waits until the next one comes: otherwise the texts of
    the last segments of every batch would be taken.
    """

    def __init__(self) -> None:
        self._sample = Sample()
        self._waiting: SegmentBatch | None = None

    def add(self, batch: SegmentBatch) -> None:
        self._take(_largest_number(batch))
        self._waiting = batch

    def _take(self, largest: int) -> None:
        if self._waiting is not None:
            self._sample += Sample.of(self._waiting, largest)

    @property
    def total(self) -> Sample:
        self._take(-1)
        self._waiting = None
        return self._sample


def _largest_number(batch: SegmentBatch) -> int:
    return -1 if batch.numbers is None or not len(batch.numbers) else int(batch.numbers.max())


def _is_taken(numbers: Integers, largest: int, streams: int) -> npt.NDArray[np.bool_]:
    """Which segments up to the largest number are in the sample. A larger number takes none that a
    smaller one left out, except the last ones, so the division of the corpus does not matter.
    """
    most = min(max(_MOST_TEXTS // streams, _FEWEST_ROWS), _MOST_ROWS) >> _BLOCK_BITS
    distance = max((largest >> _BLOCK_BITS) // most, 0).bit_length()  # a power of 2 of blocks
    taken: npt.NDArray[np.bool_] = (numbers >> _BLOCK_BITS) & ((1 << distance) - 1) == 0
    if streams * _EDGE <= _MOST_TEXTS:
        taken |= (numbers < _EDGE) | (numbers > largest - _EDGE)
    return taken
