"""Files whose rows lie in groups: what each format does, and the errors of all of them.

A group is a row group of Parquet, a record batch of Arrow or a block of Avro. One worker reads it.
"""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from beam_bleu.transforms.errors import BleuError, InputError, lacks_open_files, open_file_limit
from beam_bleu.transforms.pairing.files.streams import Stream, changed

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath
    from beam_bleu.transforms.pairing.records.row_groups.group_plan import GroupPiece


class GroupsChangedError(Exception):
    """The groups of a file are not those of its plan, so the file has changed."""


class GroupFile(abc.ABC):
    """An open file of a format.

    Args:
      source: the open file.
      piece: the groups that are read; None to read only the columns and the groups' sizes.

    Attributes:
      label: the format's name in messages.
      a_file: one of its files, with an article.
      groups_name: what its groups are called.
      schema: all columns.
    """

    label: str
    a_file: str
    groups_name: str
    schema: pa.Schema

    @abc.abstractmethod
    def __init__(self, source: pa.NativeFile, piece: GroupPiece | None) -> None: ...

    @abc.abstractmethod
    def groups(self) -> tuple[Sequence[int], Sequence[int]]:
        """The numbers of rows of all groups, and their bytes."""

    @abc.abstractmethod
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
        """

    @staticmethod
    def why_not(source: pa.NativeFile, size: int) -> tuple[str, str] | None:
        """(what is wrong, what to do) with a file that could not be opened, if it is known."""
        return None

    @staticmethod
    def explained(said: str) -> tuple[str, str] | None:
        """(what is wrong, what to do) for what a library says of a file, if it is known."""
        return None


@contextlib.contextmanager
def errors_named(
    form: type[GroupFile], stream: Stream, path: str, groups: range | None = None
) -> Iterator[None]:
    """Makes an `InputError` of each error inside."""
    try:
        yield
    except (BleuError, MemoryError):
        raise
    except GroupsChangedError:
        raise changed(stream, path, "was changed after its footer was read") from None
    except Exception as error:  # Arrow and each filesystem have exceptions of their own
        if lacks_open_files(error):
            raise open_file_limit(stream.told("cannot be read", path)) from error
        if isinstance(error, FileNotFoundError):
            raise InputError(
                stream.told("the file was removed while the job ran", path),
                "start again when the file is complete, and do not remove it",
            ) from error
        said = str(error).strip().partition("\n")[0].rstrip(".")
        if told := form.explained(said):
            raise InputError(stream.told(told[0], path), told[1]) from error
        where = f"{form.groups_name} {groups.start} to {groups[-1]}: " if groups else ""
        raise damaged(form, stream, path, f"{where}{said}") from error


def damaged(form: type[GroupFile], stream: Stream, path: str, what: str) -> InputError:
    """The error for a file that cannot be read."""
    return InputError(
        stream.told(f"the {form.label} file cannot be read: {what}", path),
        "check the file, for example copy it again",
    )
