"""Files whose rows lie in groups: what each format does.

A group is a row group of Parquet, a record batch of Arrow, a block of Avro, or a whole file of CSV.
One worker reads it.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from beam_bleu.transforms.pairing.files.streams import FoundFile

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
    from beam_bleu.transforms.pairing.records.record_files import RecordFiles


@dataclasses.dataclass(frozen=True)
class GroupPiece:
    """Neighbouring groups of one file.

    Attributes:
      file: the file.
      version: the version of the file, or None.
      groups: the numbers of the groups, from 0.
      first_row: the number of the first row in the file, from 0.
      rows: their number of rows.
      bytes: their bytes, of all columns and before compression, if the format knows them so.
      bytes_before: those of the groups before them in the file.
    """

    file: FoundFile
    version: str | None
    groups: range
    first_row: int
    rows: int
    bytes: int
    bytes_before: int


class GroupFile(abc.ABC):
    """An open file of a format.

    Args:
      source: the open file.
      piece: the groups that are read; None to read only the columns and the groups' sizes.
      files: all files, and what is read of them.
      path: the path of the file.

    Attributes:
      mark: how each file of the format begins.
      remedy: what to do if it cannot be read.
      schema: all columns.
    """

    mark = b""
    remedy = "check the path and --input_format; if they are right, copy the file again"
    schema: pa.Schema

    @abc.abstractmethod
    def __init__(
        self, source: pa.NativeFile, piece: GroupPiece | None, files: RecordFiles, path: str
    ) -> None: ...

    @abc.abstractmethod
    def groups(self) -> list[tuple[int, int]]:
        """The number of rows and the bytes of each group."""

    @abc.abstractmethod
    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The rows of neighbouring groups, in order."""
