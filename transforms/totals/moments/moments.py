"""Moments: sums and sums of products of the integers of units, for several systems and groups."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from beam_bleu.transforms.definition.slicing import SliceKey
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.totals.units import PairSums, UnitSums

GroupKey = SliceKey | None
"""A group of units: a slice, or None for the whole corpus."""

ExactIntegers = NDArray[np.int64] | NDArray[np.object_]
"""int64; or Python's unbounded integers, if one of the integers does not fit in an int64."""


@dataclasses.dataclass(frozen=True, eq=False)
class Moments:
    """Sums and sums of products. Those of all parts of a corpus are added up, in any order.

    Common units are those that all of `systems` have. If a part of the corpus has a system that
    another part lacks, the units of the other part stop being common ones when both are added.

    Attributes:
      max_order: the largest n-gram order, N. W is `units.width(N)`.
      systems: the names of all systems, in the order of the result.
      keys: the groups.
      pairs: (place of a system in `systems`, place of its baseline), for each group the same ones.
      own_units: int64 (groups, systems), the units of each system.
      own_sums: (groups, systems, W).
      own_products: (groups, systems, W (W + 1) / 2), packed as in `UnitSums`.
      common_units: int64 (groups,), the units that all systems have.
      common_sums: (groups, systems, W), over the common units.
      common_products: (groups, systems, W (W + 1) / 2), over the common units.
      cross_products: (groups, pairs, W, W), over the common units; row i is of the system's
        column i, column j of the baseline's column j.
    """

    max_order: int
    systems: tuple[str, ...]
    keys: tuple[GroupKey, ...]
    pairs: tuple[tuple[int, int], ...]
    own_units: Integers
    own_sums: ExactIntegers
    own_products: ExactIntegers
    common_units: Integers
    common_sums: ExactIntegers
    common_products: ExactIntegers
    cross_products: ExactIntegers

    def of_system(self, system: str, key: GroupKey = None) -> UnitSums:
        """The sums of a system over all of its own units in a group; zero if it has none."""
        raise NotImplementedError

    def of_pair(self, system: str, baseline: str, key: GroupKey = None) -> PairSums:
        """The sums of two systems over the common units of a group; zero if it has none.

        Raises:
          ValueError: this pair of systems was not asked for.
        """
        raise NotImplementedError
