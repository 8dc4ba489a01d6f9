"""Finds the filesystem of a path: one of this project's for object stores, otherwise Beam's.

Loading Beam takes half a second, and paths of this machine need none of it.
"""

from __future__ import annotations

import os
from typing import Any

from beam_bleu.transforms.object_store_kinds import kind_of

__all__ = ["filesystem_of", "is_local", "join"]


def is_local(path: str) -> bool:
    """Whether a path is on the filesystem of the machine that asks."""
    return "://" not in path


def filesystem_of(path: str) -> Any:
    """The filesystem of a path, with the methods of Beam's `FileSystem` that are used here.

    Raises:
      ValueError: there is none for this kind of path.
    """
    if kind_of(path) is None:
        from apache_beam.io.filesystems import FileSystems

        return FileSystems.get_filesystem(path)
    from beam_bleu.transforms.wiring.object_stores import ObjectStores  # most runs need none

    return ObjectStores()


def join(folder: str, *names: str) -> str:
    """The path of a file in a folder."""
    if is_local(folder):
        return os.path.join(folder, *names)
    return "/".join([folder.rstrip("/"), *(name.strip("/") for name in names)])
