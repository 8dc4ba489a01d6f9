"""A basis: the integer columns from which a metric is computed, and which add up."""

from __future__ import annotations

import dataclasses

SEGMENTS = 0
"""The first column of every basis: 1 for each segment."""


@dataclasses.dataclass(frozen=True)
class Basis:
    """The columns of a metric.

    All integers are 0 or more. Those of several segments are added up, and no column follows from
    the others.

    Attributes:
      names: the name of each column. The first one is "segments".
      shared: the columns that follow from the references alone, in ascending order. They are the
        same for all systems of a segment.
    """

    names: tuple[str, ...]
    shared: tuple[int, ...]

    @property
    def width(self) -> int:
        """The number of columns, W."""
        return len(self.names)
