"""Lines of a record file, before they are parsed."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.text_columns import offsets_of, padded
from beam_bleu.transforms.pairing.bad_records import MAX_RAW_BYTES, BadReason, BadRecord


@dataclasses.dataclass(frozen=True)
class RawLines:
    """Neighbouring lines of one file. Each line is a record.

    Attributes:
      column: the lines without their newlines, in a padded column.
      first: the number of the first record in the input, from 0.
      label: the input in messages.
      path: the file, as messages show it.
      first_place: the number of the first line in the file, from 1.
      bad: the lines that are too long or not UTF-8, in order. Their content in `column` is of no
        use, and may not be UTF-8.
    """

    column: pa.LargeStringArray
    first: int
    label: str
    path: str
    first_place: int
    bad: tuple[BadRecord, ...] = ()

    def readable(self) -> tuple[pa.LargeStringArray, npt.NDArray[np.bool_]]:
        """The lines with empty texts in place of the bad ones, and bool (rows,): which are bad."""
        is_bad = np.zeros(len(self.column), bool)
        if not self.bad:
            return self.column, is_bad
        is_bad[[record.number - self.first for record in self.bad]] = True
        column = pc.if_else(pa.array(is_bad), pa.scalar("", pa.large_string()), self.column)
        return padded(column), is_bad

    def line(self, row: int) -> bytes:
        """The bytes of a line."""
        begin, end = offsets_of(self.column)[row : row + 2].tolist()
        return bytes(memoryview(self.column.buffers()[2])[begin:end])

    def bad_record(self, row: int, reason: BadReason, what: str, remedy: str) -> BadRecord:
        """Makes a bad record of a line."""
        return BadRecord(
            self.first + row,
            self.label,
            self.path,
            f"line {self.first_place + row}",
            reason,
            what,
            remedy,
            self.line(row)[:MAX_RAW_BYTES],
        )
