"""Reads files of saved totals, from this machine or from any filesystem that Beam knows."""

from __future__ import annotations

import os
from collections.abc import Mapping

from beam_bleu.pipeline.output.file_names import SCORES, TOTALS
from beam_bleu.pipeline.output.result_files import beside, exists, read, require_last
from beam_bleu.pipeline.saved.saved_totals import SavedTotals, texts_of, versions_of
from beam_bleu.pipeline.saved.totals_file import totals_of
from beam_bleu.transforms.errors import InputError, UsageError, unreadable


def read_totals(path: str) -> SavedTotals:
    """The saved totals in a file, or in the output folder of a run on this machine.

    Raises:
      UsageError: the path is of a filesystem that is not installed.
      InputError: the file is missing, unreadable or damaged, it is no totals.json, its folder has
        the result of an earlier run or of several runs, or its texts became tokens with other
        versions of libraries than those that are installed here.
    """
    path = path.removeprefix("file://")
    in_folder = os.path.isdir(path)
    file = f"{path.rstrip('/')}/{TOTALS}" if in_folder else path
    data = read_file(file)
    require_last(file, is_named=not in_folder)
    return totals_in(data, file, in_folder=in_folder)


def totals_in(data: bytes, path: str, *, in_folder: bool) -> SavedTotals:
    """The saved totals in the bytes of a file.

    Args:
      data: the bytes.
      path: the path of the file, for messages.
      in_folder: whether the file stands for its folder, so that it must belong to the scores.json
        beside it, if there is one.

    Raises:
      InputError: as in `read_totals`.
    """
    has_scores = in_folder and exists(beside(path, SCORES))
    saved = totals_of(data, path, read(beside(path, SCORES)) if has_scores else None)
    _require_same_versions(saved, path)
    return saved


def read_file(path: str) -> bytes:
    """The bytes of a file.

    Raises:
      UsageError: the path is of a filesystem that is not installed.
      InputError: the file is missing or unreadable.
    """
    if not path:
        raise UsageError("the name of a file is empty", "name a totals.json")
    try:
        if "://" not in path:
            with open(path, "rb") as file:
                return file.read()
        # Importing Beam takes as long as merging a year of files.
        from beam_bleu.pipeline.command_line.paths import checked_path
        from beam_bleu.pipeline.output import storage

        return storage.read(checked_path("FILE", path, anywhere=True))
    except UsageError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise unreadable(
            "the totals cannot be read",
            error,
            "check the path and its permissions; only a run with --save_totals writes totals.json",
            path,
        ) from error


def _require_same_versions(saved: SavedTotals, path: str) -> None:
    # Signatures name the versions that are installed. They must be those that made the tokens.
    try:
        here = versions_of(texts_of(saved.totals, saved.scorings, saved.slicing))
    except ImportError as error:  # no such package is installed
        raise InputError(
            f"{path}: its tokens were made with {_shown(saved.versions)}, and {error}",
            "install the same version here",
        ) from error
    if here != dict(saved.versions):
        raise InputError(
            f"{path}: its tokens were made with {_shown(saved.versions)}, and installed here is "
            f"{_shown(here)}",
            "read it where the same versions are installed",
        )


def _shown(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
