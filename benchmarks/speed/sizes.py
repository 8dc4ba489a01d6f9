"""The sizes of the measurements."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The sizes of the measurements.

    Attributes:
      kernel_pairs: pairs for the kernel against sacreBLEU's API.
      lines: the sizes at which the two commands are compared. The first one is also a figure.
      repeats: runs of each long measurement.
      short_repeats: runs of each short one.
    """

    kernel_pairs: int
    lines: tuple[int, ...]
    repeats: int
    short_repeats: int


FULL = Sizes(60_000, (3_000, 6_000, 9_000, 12_000, 15_000, 20_000), 3, 7)
QUICK = Sizes(5_000, (3_000, 9_000, 20_000), 1, 2)
