"""Looks at the files of a result in its folder: are they of the last run, and of one result?

A run that fails leaves the earlier result in place. But each run removes _SUCCESS when it starts,
so a folder without this file has the result of an earlier run, or none.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator

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


def beside(file: str, name: str) -> str:
    """The path of another file in the folder of a file."""
    folder, slash, _ = file.rpartition("/")
    return f"{folder}{slash}{name}"


def require_last(file: str, *, is_named: bool) -> None:
    """Checks that a file is of the last run into its folder, and that this run was successful.

    Call it after the file is read: a run removes _SUCCESS before it replaces the file.

    Args:
      file: a scores.json or a totals.json.
      is_named: whether the user has named the file, and not its folder. Then it can be a copy
        without the files beside it, which is known by the run.json: only runs write one. A
        scores.json that is named is always accepted.

    Raises:
      InputError: the last run failed, or has not ended.
    """
    name = file.rpartition("/")[2]
    if (is_named and name != TOTALS) or exists(beside(file, SUCCESS)):
        return
    if is_named and not exists(beside(file, RUN_RECORD)):
        return
    anyway = (
        f"name the file to judge it anyway: {file}"
        if name == SCORES
        else f"copy {file} to another folder to use it anyway"
    )
    raise InputError(
        f"{os.path.dirname(file) or '.'} has no {SUCCESS}: the last run into it failed, or is "
        f"under way, and the {name} can be that of an earlier run",
        f"run it again, or {anyway}",
    )


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
