"""Wires the reading of a SentencePiece model to Beam's filesystems."""

from __future__ import annotations

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from transforms.config import SentencePieceModel
from transforms.errors import InputError

__all__ = ["read_model"]


def read_model(path: str) -> SentencePieceModel:
    """The model in a file of any filesystem that Beam knows.

    Raises:
      InputError: the file cannot be read.
    """
    try:
        with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            return SentencePieceModel.of(file.read())
    except Exception as error:  # each filesystem has exceptions of its own
        raise InputError(f"cannot be read: {error}", "check the path") from error
