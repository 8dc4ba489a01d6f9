"""The columns of error rates: the integers of a segment from which they are computed.

They are those of jiwer: substitutions, deletions and insertions, and the length of the reference.
The hits and the length of the candidate follow from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

EMPTY, SUBSTITUTIONS, DELETIONS, INSERTIONS, REFERENCE_LENGTH = range(1, 6)
"""The columns after `SEGMENTS`: 1 if the candidate has no symbol, which is a word or a character;
the three kinds of edits; and the symbols of the reference with the fewest edits."""


def edits_of(columns: Sequence[Any] | NDArray[Any]) -> Any:
    """The edits.

    Args:
      columns: W columns: integers, numbers that carry their derivatives, or arrays of one shape.
    """
    return columns[SUBSTITUTIONS] + columns[DELETIONS] + columns[INSERTIONS]


def candidate_length(columns: Sequence[Any] | NDArray[Any]) -> Any:
    """The symbols of the candidates; see `edits_of`."""
    return columns[REFERENCE_LENGTH] - columns[DELETIONS] + columns[INSERTIONS]
