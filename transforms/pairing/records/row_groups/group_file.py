"""What a format of files says about itself whose rows lie in groups, and what an open file can do.

A group is a row group of Parquet, a record batch of Arrow or a block of Avro. One worker reads it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from beam_bleu.transforms.pairing.files.streams import Stream

if TYPE_CHECKING:
    from beam_bleu.transforms.errors import InputError
    from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
    from beam_bleu.transforms.pairing.records.row_groups.group_plan import GroupPiece


class GroupsChangedError(Exception):
    """The groups of a file are not those of its plan, so the file has changed."""


class GroupFile(Protocol):
    """An open file."""

    @property
    def schema(self) -> pa.Schema:
        """All columns."""

    def groups(self) -> tuple[Sequence[int], Sequence[int]]:
        """The numbers of rows of all groups, and their bytes."""

    def batches(
        self, piece: GroupPiece, paths: Sequence[ColumnPath], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The rows of neighbouring groups, in order.

        Args:
          piece: the groups.
          paths: what is read. Batches can lack all other columns, and other parts of these columns.
          batch_rows: the largest number of rows of a batch.

        Raises:
          GroupsChangedError: the file does not have these groups.
          InputError: the file cannot be read.
        """


@dataclasses.dataclass(frozen=True)
class GroupFormat:
    """A format of files whose rows lie in groups.

    Attributes:
      label: its name in messages.
      a_file: one of its files, with an article.
      group: what one of its groups is called.
      group_plural: what several of them are called.
      check: raises a better error for a file that could not be opened, if there is one. Its
        arguments are the stream, the path, the open file and its size.
      open: opens a file. Its arguments are the open file and the groups that are read, None to read
        only the columns and the groups' sizes.
      explained: a better error for what a library says of a file; None if there is none.
    """

    label: str
    a_file: str
    group: str
    group_plural: str
    check: Callable[[Stream, str, pa.NativeFile, int], None]
    open: Callable[[pa.NativeFile, GroupPiece | None], GroupFile]
    explained: Callable[[Stream, str, str], InputError | None]
