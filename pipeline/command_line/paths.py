"""Paths on the command line: on this machine or on any filesystem that Beam knows."""

from __future__ import annotations

import os

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from beam_bleu.pipeline.command_line.known_filesystems import FILESYSTEMS, has_module
from beam_bleu.transforms.errors import UsageError


def checked_path(flag: str, path: str, anywhere: bool) -> str:
    """A path on a filesystem that is installed; absolute if it must mean the same `anywhere`."""
    path = path.removeprefix("file://")
    if not path:
        raise UsageError(f"{flag} is empty", "name a path")
    scheme = path.partition("://")[0]
    # Beam itself would notice some of the missing libraries only when it opens a file.
    if scheme in FILESYSTEMS and not has_module(FILESYSTEMS[scheme].library):
        raise UsageError(
            f"{flag} {path}: the library for {scheme}:// is not installed here: "
            f"there is no module {FILESYSTEMS[scheme].library}",
            FILESYSTEMS[scheme].remedy,
        )
    try:
        filesystem = FileSystems.get_filesystem(path)
    except (ValueError, BeamIOError) as error:
        known = ", ".join(f"{scheme}://" for scheme in FILESYSTEMS)
        raise UsageError(
            f"{flag} {path}: there is no such filesystem here: {error}",
            f"use a path of this machine, or one that begins with {known}",
        ) from error
    if anywhere and isinstance(filesystem, LocalFileSystem):
        return os.path.abspath(path)  # an engine's workers run in other folders
    return path
