"""The temporary folder of a join: rows wait there, and not in memory, if the job runs here."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from beam_bleu.pipeline.errors.reporting import uninterrupted
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.paired import Source


@contextlib.contextmanager
def with_row_folder(source: Source, in_process: bool) -> Iterator[Source]:
    """The source with a temporary folder, if it has a use for one. It is removed afterwards.

    Args:
      source: the source of a command line.
      in_process: whether the job runs on this machine. Other workers do not see the folder.

    Raises:
      JobError: there is no folder for temporary files.
    """
    if not in_process or not hasattr(source, "row_folder"):
        yield source
        return
    # Only joins need these modules.
    from beam_bleu.transforms.pairing.records.joins.row_folder import RowFolder

    joined: Any = source
    folder = ""
    try:
        with uninterrupted():
            folder = _new_folder()
        changed: Source = dataclasses.replace(joined, row_folder=RowFolder(folder))
        yield changed
    finally:
        if folder:
            with uninterrupted():
                shutil.rmtree(folder, ignore_errors=True)


def _new_folder() -> str:
    try:
        return tempfile.mkdtemp(prefix="beam-bleu-")  # only this user can open it
    except OSError as error:
        raise JobError(
            f"there is no folder for the rows of the join: {error.strerror}",
            "name a folder that you can write: TMPDIR=DIR",
        ) from error
