"""The columns of TER: the integers of a segment from which it is computed.

They are those of sacreBLEU's `_compute_segment_statistics`: the least edits over the references,
and the mean length of the references. That mean is a whole number of words, and parts of a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

EMPTY, CANDIDATE_LENGTH, EDITS, REFERENCE_LENGTH, REFERENCE_PARTS = range(1, 6)
"""The columns after `SEGMENTS`: 1 if the candidate has no word; its words; the edits; the words of
the references, divided by their number and rounded down; and the rest of this division, in parts of
a word (`PARTS_OF_A_WORD`)."""

PARTS_OF_A_WORD = 720_720
"""The unit of the column `REFERENCE_PARTS`: the least common multiple of 1 to 16. So the mean of up
to 16 references is exact. With more references it is rounded down, by less than a millionth of a
word in a segment."""


def reference_parts(columns: Sequence[Any] | NDArray[Any]) -> Any:
    """The mean lengths of the references of all segments, added up, in parts of a word.

    Args:
      columns: W columns: integers, numbers that carry their derivatives, or arrays of one shape.
    """
    return columns[REFERENCE_LENGTH] * PARTS_OF_A_WORD + columns[REFERENCE_PARTS]
