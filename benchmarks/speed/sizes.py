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
      library_segments: segments of a pipeline of the library.
    """

    kernel_pairs: int
    lines: tuple[int, ...]
    repeats: int
    short_repeats: int
    library_segments: int

    @property
    def least_pairs(self) -> int:
        """The pairs that a corpus needs; a tenth of it has several systems."""
        return max(10 * self.kernel_pairs, *self.lines)


FULL = Sizes(60_000, (3_000, 4_500, 6_000, 7_500, 9_000, 12_000), 3, 7, 400_000)
TRIAL = Sizes(2_000, (3_000, 9_000, 20_000), 1, 1, 20_000)
