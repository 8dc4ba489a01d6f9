"""Wires the reading of a SentencePiece model to Beam's filesystems."""

from __future__ import annotations

from apache_beam.io.filesystem import CompressionTypes

from beam_bleu.transforms.errors import BleuError, unreadable
from beam_bleu.transforms.text.text import SentencePieceModel
from beam_bleu.transforms.wiring.filesystems import filesystem_of

__all__ = ["read_model"]


def read_model(path: str) -> SentencePieceModel:
    """The model in a file on any filesystem that Beam knows."""
    try:
        with filesystem_of(path).open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            data = file.read()
    except BleuError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise unreadable("cannot be read", error, "check the path") from error
    return SentencePieceModel.of(data)
