"""Writing and reading the result on any of Beam's filesystems."""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from collections.abc import Iterator

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.hadoopfilesystem import HadoopFileSystem
from apache_beam.io.localfilesystem import LocalFileSystem

from transforms.errors import JobError

SCORES = "scores.json"

RENAMING = (LocalFileSystem, HadoopFileSystem)
"""Filesystems with an atomic rename; on object stores a put is atomic."""


def scores_path(folder: str) -> str:
    """Where the result document of a job is."""
    return FileSystems.join(folder, SCORES)


@contextlib.contextmanager
def output_folder(folder: str, in_process: bool) -> Iterator[str]:
    """The folder for scores.json: the given one, or a temporary one.

    Raises:
      JobError: it is on this machine and cannot be written.
    """
    if not folder:
        with tempfile.TemporaryDirectory(prefix="beam-bleu-") as temporary:
            yield temporary
        return
    if in_process and isinstance(FileSystems.get_filesystem(folder), LocalFileSystem):
        # Found out now rather than at the end of a long job.
        try:
            os.makedirs(folder, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            if os.path.isdir(os.path.join(folder, SCORES)):
                raise IsADirectoryError(None, f"its {SCORES} is a folder")
        except OSError as error:
            raise JobError(
                f"--output {folder} cannot be written: {error.strerror}", "check the folder"
            ) from error
    yield folder


def write_atomically(path: str, data: bytes) -> None:
    """Writes a file so that a reader sees all of it or what was there before.

    Raises:
      JobError: it cannot be written.
    """
    try:
        folder = FileSystems.split(path)[0]
        filesystem = FileSystems.get_filesystem(path)
        if not isinstance(filesystem, RENAMING):
            _write(path, data)
            return
        if not FileSystems.exists(folder):
            with contextlib.suppress(OSError):  # made by another attempt in the meantime
                FileSystems.mkdirs(folder)
        temporary = FileSystems.join(folder, f".{SCORES}.{uuid.uuid4().hex}")
        try:
            _write(temporary, data)
            if isinstance(filesystem, LocalFileSystem):
                os.replace(temporary, path)
            else:
                FileSystems.rename([temporary], [path])
        except BaseException:
            with contextlib.suppress(Exception):
                FileSystems.delete([temporary])
            raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise JobError(f"{path} cannot be written: {error}", "check the folder") from error


def last_written(folder: str) -> float | None:
    """When scores.json was written (seconds of its filesystem's clock), or None."""
    path = scores_path(folder)
    try:
        return FileSystems.last_updated(path) if FileSystems.exists(path) else None
    except Exception as error:
        raise JobError(f"{path} cannot be looked at: {error}", "check --output") from error


def read_scores(folder: str, written_before: float | None) -> bytes:
    """The result document that the job wrote.

    Args:
      folder: the job's output.
      written_before: what `last_written` gave before the job ran.

    Raises:
      JobError: it is not there, or is the one that was there before.
    """
    path = scores_path(folder)
    if last_written(folder) in (None, written_before):
        raise JobError(
            f"the runner reported success, but the job wrote no {path}",
            "the runner lost the last step, or its workers see another filesystem",
        )
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        data: bytes = file.read()
    return data


def _write(path: str, data: bytes) -> None:
    with FileSystems.create(path, "application/json", CompressionTypes.UNCOMPRESSED) as file:
        file.write(data)
