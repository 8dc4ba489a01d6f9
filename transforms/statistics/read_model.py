"""Wires the reading of a SentencePiece model to Beam's filesystems."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from beam_bleu.transforms.definition.sentencepiece_model import SentencePieceModel
from beam_bleu.transforms.errors import BleuError, InputError, unreadable

__all__ = ["LARGEST_MODEL", "read_model"]

LARGEST_MODEL = 1 << 30
"""Bytes that a model may have: it is held in memory, and travels with the job."""


def read_model(path: str) -> SentencePieceModel:
    """The model in a file of any filesystem that Beam knows.

    Raises:
      InputError: the file cannot be read, is no regular file, or is too large.
      JobError: this process cannot open another file.
    """
    try:
        if isinstance(FileSystems.get_filesystem(path), LocalFileSystem) and not _size(path):
            # The kernel's own files, too, say that they are empty; some never end.
            return SentencePieceModel.of(b"")
        with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            return SentencePieceModel.of(_all_of(file))
    except BleuError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise unreadable("cannot be read", error, "check the path") from error


def _size(path: str) -> int:
    """The bytes of a file of this machine, which must be a regular one."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise InputError(f"cannot be read: it is {what}, not a file", "name a .model file")
    if status.st_size > LARGEST_MODEL:
        raise _too_large()
    return status.st_size


def _all_of(file: BinaryIO) -> bytes:
    """The bytes of an open file, read piece by piece: one read may give less than asked for."""
    data = bytearray()
    while piece := file.read(min(1 << 24, LARGEST_MODEL + 1 - len(data))):
        data += piece
        if len(data) > LARGEST_MODEL:
            raise _too_large()
    return bytes(data)


def _too_large() -> InputError:
    return InputError(
        f"cannot be used: it has more than {LARGEST_MODEL} bytes",
        "name a .model file of SentencePiece, which has some megabytes",
    )
