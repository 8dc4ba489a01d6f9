"""Reads saved results: a scores.json, a totals.json, or a folder with one of them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from beam_bleu.pipeline.gates.results import GatedResult, gated
from beam_bleu.transforms.errors import InputError, JobError, unreadable

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.saved_totals import SavedTotals

_TOTALS, _SCORES = "totals.json", "scores.json"

_SUCCESS = "_SUCCESS"

_REMEDY = "name a scores.json or a totals.json of beam-bleu, or a folder with one"


@dataclasses.dataclass(frozen=True)
class ReadResult:
    """A result that was read.

    Attributes:
      result: what gates see of it.
      totals: everything that was added up; None if the file is a scores.json.
    """

    result: GatedResult
    totals: SavedTotals | None = None


def read_result(path: str, *, with_totals: bool = False, must_be_last: bool = False) -> ReadResult:
    """The result at a path.

    Args:
      path: a scores.json, a totals.json or a folder with one.
      with_totals: whether to read the totals.json of a folder that has both. It says the same and
        more, but takes longer to read.
      must_be_last: whether a folder must have the file _SUCCESS. Without it, its result can be that
        of an earlier run, because a run that fails leaves the earlier result in place.

    Raises:
      InputError: there is no such result, it cannot be read, or it is damaged.
    """
    names = (_TOTALS, _SCORES) if with_totals else (_SCORES, _TOTALS)
    file = _file_of(path.removeprefix("file://"), names, must_be_last)
    data = _read(file)
    try:
        document = json.loads(data)
        if not isinstance(document, dict) or not {"scores", "format"} & document.keys():
            raise TypeError(document)
        if "scores" in document:
            return ReadResult(gated(document, path))
        from beam_bleu.pipeline.saved.reading import read_totals  # loads the kernel: a second

        totals = read_totals(file)  # checks the format, the version and the checksum
        return ReadResult(gated(totals.document, path), totals)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{file} is no result of beam-bleu, or it is damaged", _REMEDY) from error


def _file_of(path: str, names: tuple[str, str], must_be_last: bool) -> str:
    """The file with the result at a path."""
    if not _is_folder(path):
        if not _exists(path):
            raise InputError(f"there is no {path}", _REMEDY)
        return path
    for name in names:
        file = f"{path.rstrip('/')}/{name}"
        if _exists(file):
            if must_be_last and not _exists(f"{path.rstrip('/')}/{_SUCCESS}"):
                raise InputError(
                    f"{path} has no {_SUCCESS}: the last run failed, or it has not ended, and the "
                    f"{name} can be that of an earlier run",
                    f"run it again, or name the file to judge it anyway: {file}",
                )
            return file
    raise InputError(f"{path} has no {_SCORES} and no {_TOTALS}", _REMEDY)


# Beam takes half a second to load, so files of this machine are read without it.


def _is_local(path: str) -> bool:
    return "://" not in path


def _exists(path: str) -> bool:
    if _is_local(path):
        return os.path.lexists(path)
    from beam_bleu.pipeline.output import storage

    with _of_input():
        return storage.exists(path)


def _is_folder(path: str) -> bool:
    # An object store has no folders.
    return os.path.isdir(path) if _is_local(path) else not path.endswith(".json")


def _read(path: str) -> bytes:
    if not _is_local(path):
        from beam_bleu.pipeline.output import storage

        with _of_input(), storage.reading(path):
            return storage.read(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # to open a pipe could block
            raise InputError(f"{path} is not a regular file", _REMEDY)
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise unreadable("a result cannot be read", error, "check its permissions", path) from error


@contextlib.contextmanager
def _of_input() -> Iterator[None]:
    """Makes the error of a filesystem that of an input."""
    try:
        yield
    except JobError as error:
        raise InputError(error.cause, error.remedy) from error
    except ValueError as error:  # Beam knows no filesystem of this kind
        raise InputError(str(error), _REMEDY) from error
