"""The streams of a sample, and what is found in them.

A stream has the texts of a system, or of a position of references.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from beam_bleu.transforms.inspection.sample import CANDIDATES
from beam_bleu.transforms.native.arrays import Bytes

CELLS = 512
"""How many kinds of sequences of four bytes are told apart, by a hash."""

# How many bytes of a text are compared with others.
_COMPARED = 96


class Finding(NamedTuple):
    """Something that is wrong with the input, or may be.

    Attributes:
      kind: its kind, which `allow` takes.
      is_certain: whether the input must not be scored.
      cause: what is wrong, and where.
      remedy: what to do.
    """

    kind: str
    is_certain: bool
    cause: str
    remedy: str


class Stream:
    """The texts of a stream that are not empty, in the order of their segments.

    Attributes:
      name: the name of the stream, as in the sample.
      numbers: the numbers of their segments, int64 (texts,).
      texts: the texts.
    """

    def __init__(self, name: str, texts: Mapping[int, str]) -> None:
        self.name = name
        filled = sorted((number, text) for number, text in texts.items() if text)
        self.numbers = np.array([number for number, _ in filled], np.int64)
        self.texts = [text for _, text in filled]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def is_of_candidates(self) -> bool:
        """Whether it has the texts of a system."""
        return self.name.startswith(CANDIDATES)

    @functools.cached_property
    def data(self) -> str:
        """All texts, a line each, after an empty one."""
        return "\n".join(["", *self.texts])

    @functools.cached_property
    def cells(self) -> Bytes:
        """Which sequences of four bytes each text has, uint8 (texts, CELLS) of 0 and 1."""
        encoded = [text[:_COMPARED].encode()[:_COMPARED].lower() for text in self.texts]
        letters = np.frombuffer(b"".join(encoded), np.uint8).astype(np.uint32)
        rows = np.repeat(np.arange(len(encoded)), [len(text) for text in encoded])
        cells = np.zeros((len(encoded), CELLS), np.uint8)
        if len(letters) > 3:
            four = letters[3:] | letters[2:-1] << 8 | letters[1:-2] << 16 | letters[:-3] << 24
            # Knuth's multiplicative hash: the upper nine bits.
            hashed = (four * np.uint32(2654435761)) >> np.uint32(23)
            inside = rows[3:] == rows[:-3]
            cells[rows[3:][inside], hashed[inside]] = 1
        return cells
