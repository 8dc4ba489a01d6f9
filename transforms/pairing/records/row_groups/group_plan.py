"""The plan for Parquet files: their rows get numbers, and row groups are put into portions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream
from beam_bleu.transforms.pairing.lines.ranges import longest_first, range_bytes_for
from beam_bleu.transforms.pairing.records.columns.choosing import (
    FileChoice,
    require_same_columns,
)
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen

_FILE_BYTES = 1 << 20
"""The cost of opening a file, in bytes, so that a portion never has tens of thousands of files."""


@dataclasses.dataclass(frozen=True)
class Footer(FileChoice):
    """What the footer of a file says.

    Attributes:
      version: the version of the file; None if its filesystem has no versions.
      rows: int64, the number of rows of each row group.
      bytes: int64, the bytes of each row group, of all columns and before compression.
    """

    version: str | None
    rows: Integers
    bytes: Integers


@dataclasses.dataclass(frozen=True)
class GroupPiece:
    """Neighbouring row groups of one file.

    Attributes:
      file: the file.
      version: the version of the file, or None.
      groups: the numbers of the groups, from 0. A file without rows has none.
      group_rows: the number of rows of each of them.
      first_row: the number of the first row in the file, from 0.
      bytes: their bytes, of all columns and before compression, if the format knows them so.
      bytes_before: those of the groups before them in the file.
    """

    file: FoundFile
    version: str | None
    groups: range
    group_rows: tuple[int, ...]
    first_row: int
    bytes: int
    bytes_before: int

    @property
    def rows(self) -> int:
        """The number of all rows."""
        return sum(self.group_rows)


@dataclasses.dataclass(frozen=True)
class GroupPortion:
    """Row groups that one worker reads.

    Attributes:
      first_record: the number of the first row in the whole input, from 0.
      pieces: the row groups, in order.
      chosen: the columns that are read.
    """

    first_record: int
    pieces: tuple[GroupPiece, ...]
    chosen: Chosen

    @property
    def records(self) -> int:
        """The number of all rows."""
        return sum(piece.rows for piece in self.pieces)

    @property
    def bytes(self) -> int:
        """The bytes of the row groups, of all columns and before compression."""
        return sum(piece.bytes for piece in self.pieces)


@dataclasses.dataclass(frozen=True)
class GroupPlan:
    """All rows of an input, in portions.

    Attributes:
      footers: the footers of all files, in order.
      chosen: the columns that are read.
      portion_bytes: about how many bytes a portion has.
    """

    footers: Sequence[Footer]
    chosen: Chosen
    portion_bytes: int

    @property
    def rows(self) -> int:
        """The number of all rows."""
        return sum(int(footer.rows.sum()) for footer in self.footers)

    @property
    def bytes(self) -> int:
        """The bytes of all row groups, of all columns and before compression."""
        return sum(int(footer.bytes.sum()) for footer in self.footers)

    def portions(self) -> Iterator[GroupPortion]:
        """Yields the portions in order. A row group that is larger than that is one portion."""
        first = rows = cost = 0
        pieces: list[GroupPiece] = []
        for piece in self._pieces():
            size = piece.bytes + _FILE_BYTES
            if pieces and cost + size > self.portion_bytes:
                yield GroupPortion(first, tuple(pieces), self.chosen)
                first, rows, cost, pieces = first + rows, 0, 0, []
            pieces.append(piece)
            rows += piece.rows
            cost += size
        yield GroupPortion(first, tuple(pieces), self.chosen)

    def portions_to_read(self) -> list[GroupPortion]:
        """The portions in the order in which workers should read them."""
        portions = list(self.portions())
        sizes = np.array([portion.bytes for portion in portions], np.int64)
        return [portions[number] for number in longest_first(sizes, self.portion_bytes)]

    def _pieces(self) -> Iterator[GroupPiece]:
        """The pieces of all files, each with as many row groups as a portion may have."""
        for footer in self.footers:
            starts = [0]
            size = 0
            for group, group_bytes in enumerate(footer.bytes.tolist()):
                if size and size + group_bytes + _FILE_BYTES > self.portion_bytes:
                    starts.append(group)
                    size = 0
                size += group_bytes
            before = np.concatenate([[0], np.cumsum(footer.rows)])
            for start, stop in zip(starts, [*starts[1:], len(footer.rows)], strict=True):
                yield GroupPiece(
                    footer.shard.file,
                    footer.version,
                    range(start, stop),
                    tuple(footer.rows[start:stop].tolist()),
                    int(before[start]),
                    int(footer.bytes[start:stop].sum()),
                    int(footer.bytes[:start].sum()),
                )


def make_group_plan(
    stream: Stream, footers: Iterable[Footer], portion_bytes: int | None
) -> GroupPlan:
    """Numbers the rows of all files, and cuts them into portions.

    Args:
      stream: the stream.
      footers: the footers of all files, in any order.
      portion_bytes: about how many bytes a portion has; None: a size that suits the input.

    Raises:
      InputError: there are no rows, or files do not have the wanted columns, or different ones.
      JobError: a footer is missing, or is there twice.
    """
    ordered = sorted(footers, key=lambda footer: footer.shard.number)
    numbers = [footer.shard.number for footer in ordered]
    if numbers != list(range(len(ordered))) or not ordered or not ordered[-1].shard.is_last:
        raise JobError(
            f"{stream}: not every footer was read exactly once",
            "the runner lost or repeated data: do not use it for this job",
        )
    chosen = require_same_columns(stream, ordered)
    if not any(footer.rows.any() for footer in ordered):
        raise InputError(
            f"{stream.label}: there are no rows: {stream.pattern}",
            "check that the files were written",
        )
    if portion_bytes is None:
        portion_bytes = range_bytes_for(sum(int(footer.bytes.sum()) for footer in ordered))
    return GroupPlan(ordered, chosen, portion_bytes)
