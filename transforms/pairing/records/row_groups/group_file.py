"""Files whose rows lie in groups: what each format does, and the errors of all of them.

A group is a row group of Parquet, a record batch of Arrow or a block of Avro. One worker reads it.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from beam_bleu.transforms.errors import BleuError, InputError, lacks_open_files, open_file_limit
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.columns.wanted import ColumnPath


CHANGED = "its groups are not those that it had when the job was planned"


@dataclasses.dataclass(frozen=True)
class GroupPiece:
    """Neighbouring groups of one file.

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


class GroupFile(abc.ABC):
    """An open file of a format.

    Args:
      source: the open file.
      piece: the groups that are read; None to read only the columns and the groups' sizes.

    Attributes:
      label: the format's name in messages.
      groups_name: what its groups are called.
      marks: the bytes that a file can begin with, each with those that it ends with.
      schema: all columns.
    """

    label: str
    groups_name: str
    marks: Mapping[bytes, bytes]
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
          ArrowInvalid: the file does not have these groups.
        """


def require_format(form: type[GroupFile], source: pa.NativeFile, stream: Stream, path: str) -> None:
    """Checks the first and the last bytes of a file.

    Raises:
      InputError: it is empty, truncated, or of another format.
    """
    size = source.size()
    head = source.read_at(min(size, max(map(len, form.marks))), 0)
    begin = next(filter(head.startswith, form.marks), None)
    if begin is None:
        raise InputError(
            stream.told(f"this is not a file of {form.label}", path),
            "check the path and --input_format; such a file is not compressed as a whole",
        )
    end = form.marks[begin]
    if end and (size < 3 * len(end) or source.read_at(len(end), size - len(end)) != end):
        raise InputError(
            stream.told(f"the {form.label} file is truncated: its footer is missing", path),
            "copy it again, or wait until it is written",
        )
    source.seek(0)  # pyarrow wants this after read_at


@contextlib.contextmanager
def errors_named(
    form: type[GroupFile], stream: Stream, path: str, groups: range | None = None
) -> Iterator[None]:
    """Makes an `InputError` of each error inside."""
    try:
        yield
    except pa.ArrowMemoryError as error:
        what = f"{error}: it is damaged, or its {form.groups_name} are too large for the memory"
        raise damaged(form, stream, path, what) from error
    except (BleuError, MemoryError):
        raise
    except Exception as error:  # Arrow and each filesystem have exceptions of their own
        if lacks_open_files(error):
            raise open_file_limit(stream.told("cannot be read", path)) from error
        said = str(error).strip().partition("\n")[0].rstrip(".")
        where = f"{form.groups_name} {groups.start} to {groups[-1]}: " if groups else ""
        raise damaged(form, stream, path, f"{where}{said}") from error


def damaged(form: type[GroupFile], stream: Stream, path: str, what: str) -> InputError:
    """The error for a file that cannot be read."""
    return InputError(
        stream.told(f"the {form.label} file cannot be read: {what}", path),
        "check the file, for example copy it again",
    )
