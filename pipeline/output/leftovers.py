"""Removes the files of runs that were killed long ago from the output folder."""

from __future__ import annotations

import os

from apache_beam.io.filesystems import FileSystems

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import RECEIPT, WRITTEN
from beam_bleu.pipeline.output.output_folder import (
    aside_folder,
    is_of_result,
    is_part_file_of,
    scores_path,
)
from beam_bleu.transforms.wiring.filesystems import is_local

_DEAD = 14 * 24 * 3600.0
"""Seconds without a new file. After this time a run that left files has certainly ended."""

_WRITTEN_ATOMICALLY = (*WRITTEN, RECEIPT)


def remove_leftovers(output: str) -> None:
    """Removes files of runs that were killed long ago, if they have names that a run gives.

    Call it just after scores.json was written, because its time shows the filesystem's clock.
    """
    then = storage.modified(scores_path(output)) - _DEAD
    aside = aside_folder(output)
    left: dict[str, list[storage.Entry]] = {}
    for entry in storage.listed(aside):
        left.setdefault(entry.name.partition("/")[0], []).append(entry)
    for run, entries in left.items():
        removed = [entry.name for entry in entries if _is_left_by(run, entry.name)]
        if removed and all(0 < entry.modified < then for entry in entries):
            storage.remove_files(aside, removed)
            for folder in ("staged", "former", ""):
                storage.remove_if_empty(FileSystems.join(aside, run, folder))
    storage.remove_if_empty(aside)
    if is_local(output):
        temporary = [
            name
            for name in storage.names(output)
            if storage.is_temporary(name, _WRITTEN_ATOMICALLY)
            and _is_old_file(os.path.join(output, name), then)
        ]
        storage.remove_files(output, temporary)


def _is_old_file(path: str, then: float) -> bool:
    # A link that leads nowhere is not a file of ours, and must not keep the others.
    return os.path.isfile(path) and os.lstat(path).st_mtime < then


def _is_left_by(run: str, path: str) -> bool:
    """Whether a file in the hidden folder has a name that this run uses."""
    folder, _, name = path.removeprefix(f"{run}/").rpartition("/")
    if folder == "staged":
        return is_part_file_of(run, name)
    if folder == "former":
        return is_of_result(name)
    return not folder and (name == RECEIPT or storage.is_temporary(name, _WRITTEN_ATOMICALLY))
