"""Wires the reading of a SentencePiece model to Beam's filesystems."""

from __future__ import annotations

from typing import BinaryIO

from apache_beam.io.filesystem import CompressionTypes

from beam_bleu.transforms.errors import BleuError, InputError, unreadable
from beam_bleu.transforms.text.text import SentencePieceModel
from beam_bleu.transforms.wiring.filesystems import filesystem_of

__all__ = ["LARGEST_MODEL", "read_model"]

LARGEST_MODEL = 1 << 30
"""The largest size of a model in bytes: it is kept in memory and sent with the job."""


def read_model(path: str) -> SentencePieceModel:
    """The model in a file on any filesystem that Beam knows."""
    try:
        with filesystem_of(path).open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            return SentencePieceModel.of(_all_of(file))
    except BleuError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise unreadable("cannot be read", error, "check the path") from error


def _all_of(file: BinaryIO) -> bytes:
    """The bytes of an open file, read in pieces: one read may return less than requested."""
    data = bytearray()
    while piece := file.read(min(1 << 24, LARGEST_MODEL + 1 - len(data))):
        data += piece
        if len(data) > LARGEST_MODEL:
            raise InputError(
                f"cannot be used: it has more than {LARGEST_MODEL} bytes",
                "name a .model file of SentencePiece; such a file has a few megabytes",
            )
    return bytes(data)
