"""Looks at the files of a result in its folder: are they of the last run, and of one result?

A run that fails leaves the earlier result in place. But each run removes _SUCCESS when it starts,
so a folder without this file has the result of an earlier run, or none.
"""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import os
from collections.abc import Iterator, Sequence

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import RUN_RECORD, SCORES, SUCCESS, TOTALS
from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.shown_names import natural_order
from beam_bleu.transforms.wiring.filesystems import is_local

NAME_A_RESULT = "name a scores.json or a totals.json of beam-bleu, or a folder with one"


def is_folder(path: str) -> bool:
    """Whether a path is that of a folder with a result, and not of the result itself."""
    # An object store has no folders.
    return os.path.isdir(path) if is_local(path) else not path.endswith(".json")


def named(word: str) -> list[str]:
    """The files and folders that a word of the command line names: the matches of a pattern.

    Hidden ones match no pattern. A local file that has the name of a pattern is meant itself.

    Returns:
      the paths, those of a pattern in natural order.

    Raises:
      InputError: nothing matches the pattern, or the matches cannot be listed.
    """
    path = word.removeprefix("file://")
    if glob.escape(path) == path or (is_local(path) and os.path.exists(path)):
        return [path]
    with of_input(path):
        paths = glob.glob(path, recursive=True) if is_local(path) else storage.paths_matching(path)
    if not paths:
        raise InputError(f"nothing matches {path}", "check the path")
    return [*natural_order(paths)]


def exists(path: str) -> bool:
    """Whether there is a file or a folder."""
    with of_input(path):
        return storage.exists(path)


def read(path: str) -> bytes:
    """The bytes of a file.

    Raises:
      InputError: it is not a regular file, or it cannot be read.
    """
    with of_input(path), storage.reading(path):
        return storage.read(path)


@dataclasses.dataclass(frozen=True)
class ResultFile:
    """A file with a result that was read.

    Attributes:
      path: its path.
      data: its bytes.
      folder: its folder, if the user has named this; "" if the user has named the file, because
        other files beside it can be those of another result.
    """

    path: str
    data: bytes
    folder: str

    def beside(self, name: str) -> bytes | None:
        """The bytes of another file of the result; None if there is none."""
        path = f"{self.folder}/{name}"
        return read(path) if self.folder and exists(path) else None


def result_file(path: str, names: Sequence[str], *, must_be_last: bool = True) -> ResultFile:
    """The file with a result at a path.

    Args:
      path: a file or a folder.
      names: the names that it can have in a folder; the first one that is there is read.
      must_be_last: whether a folder, or the folder of a totals.json, must have the file _SUCCESS.
        Without it, its result can be that of an earlier run.

    Raises:
      InputError: there is no such file, or it cannot be read; or the last run into the folder
        failed, or has not ended.
    """
    path = path.removeprefix("file://")
    folder, file = "", path
    if is_folder(path):
        folder = path.rstrip("/")
        there = [name for name in names if exists(f"{folder}/{name}")]
        if not there:
            raise InputError(f"{path} has no {' and no '.join(names)}", NAME_A_RESULT)
        file = f"{folder}/{there[0]}"
    elif not exists(path):
        raise InputError(f"there is no {path}", NAME_A_RESULT)
    data = read(file)
    where, name = os.path.split(file)
    # Totals that are named can be a copy. Then no run.json is beside them: only runs write one.
    is_of_run = folder or (name == TOTALS and exists(os.path.join(where, RUN_RECORD)))
    # Asked after the file is read: a run removes _SUCCESS before it replaces the file.
    if must_be_last and is_of_run and not exists(os.path.join(where, SUCCESS)):
        raise InputError(
            f"{where or '.'} has no {SUCCESS}: the last run into it failed, or is under way, and "
            f"the {name} can be that of an earlier run",
            f"run it again; or, to use it anyway, name the {SCORES}, or copy {file} elsewhere",
        )
    return ResultFile(file, data, folder)


def require_same_scores(path: str, *, is_same: bool) -> None:
    """Checks that a file belongs to the scores.json beside it.

    Raises:
      InputError: it belongs to another scores.json.
    """
    if not is_same:
        raise InputError(
            f"{path} does not belong to the {SCORES} beside it: its scores_sha256 does not match",
            "run it again, or copy the files of one result again",
        )


@contextlib.contextmanager
def of_input(path: str) -> Iterator[None]:
    """Makes the error of a path's filesystem that of an input."""
    try:
        yield
    except JobError as error:
        raise InputError(error.cause, error.remedy) from error
    except ValueError as error:  # Beam knows no filesystem of this kind
        raise InputError(
            f"{path}: there is no such filesystem here: {error}", NAME_A_RESULT
        ) from error
