"""Finds the filesystem of a path: one of this project's for object stores, otherwise Beam's."""

from __future__ import annotations

from typing import Any

from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from beam_bleu.transforms.object_store_kinds import kind_of

__all__ = ["filesystem_of", "is_local", "join", "split"]


def is_local(path: str) -> bool:
    """Whether a path is on the filesystem of the machine that asks.

    Raises:
      ValueError: there is no filesystem for this kind of path.
    """
    # Beam's local filesystem has no scheme. Getting a filesystem takes longer, because Beam looks
    # at all kinds of them each time.
    if FileSystems.get_scheme(path) is None:
        return True
    if kind_of(path) is not None:
        return False
    return isinstance(FileSystems.get_filesystem(path), LocalFileSystem)


def filesystem_of(path: str) -> Any:
    """The filesystem of a path, with the methods of Beam's `FileSystem` that are used here.

    Raises:
      ValueError: there is none for this kind of path.
    """
    if kind_of(path) is None:
        return FileSystems.get_filesystem(path)
    from beam_bleu.transforms.wiring.object_stores import ObjectStores  # most runs need none

    return ObjectStores()


def join(folder: str, *names: str) -> str:
    """The path of a file in a folder."""
    if kind_of(folder) is not None:
        return "/".join([folder.rstrip("/"), *(name.strip("/") for name in names)])
    path: str = FileSystems.join(folder, *names)
    return path


def split(path: str) -> tuple[str, str]:
    """The folder and the name of a file."""
    if kind_of(path) is not None:
        folder, _, name = path.rpartition("/")
        return folder, name
    folder, name = FileSystems.split(path)
    return folder, name
