"""Finds the filesystem of a path: Beam's, or for s3:// one with the same methods."""

from __future__ import annotations

from typing import Any

from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

__all__ = ["filesystem_of", "is_local"]


def is_local(path: str) -> bool:
    """Whether a path is on the filesystem of the machine that asks.

    Raises:
      ValueError: there is no filesystem for this kind of path.
    """
    # Beam's local filesystem has no scheme. Getting a filesystem takes longer, because Beam looks
    # at all kinds of them each time.
    if FileSystems.get_scheme(path) is None:
        return True
    return isinstance(FileSystems.get_filesystem(path), LocalFileSystem)


def filesystem_of(path: str) -> Any:
    """The filesystem of a path, with the methods of Beam's `FileSystem`.

    Raises:
      ValueError: there is none for this kind of path.
    """
    of_beam = FileSystems.get_filesystem(path)
    if FileSystems.get_scheme(path) != "s3":
        return of_beam
    from beam_bleu.transforms.wiring.s3 import S3  # its library is large, and often not installed

    return S3.like(of_beam)
