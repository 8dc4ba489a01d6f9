"""Replicates: the sums of a corpus in which each unit has a random weight."""

from __future__ import annotations

import dataclasses

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.native.arrays import Integers


@dataclasses.dataclass(frozen=True, eq=False)
class Replicates:
    """The sums of each replicate of a corpus, for each system. Those of all parts are added up.

    Replicate b of a system is the sum over the units of w_b x. The weight w_b of a unit is the
    same for all systems: Poisson(1) for the bootstrap; for randomization 0 or 1. In replicate b of
    a randomization of two systems, one system has the sum S_1 - R_1b + R_2b and the other has
    S_2 - R_2b + R_1b, with S the sums of the corpus and R_b those of the replicate.

    Attributes:
      resampling: the method, the number of replicates and the seed.
      max_order: the largest n-gram order, N.
      systems: the names of the systems, in the order of the result.
      sums: int64 (systems, replicates, W), with the columns of `totals.units`.
    """

    resampling: Resampling
    max_order: int
    systems: tuple[str, ...]
    sums: Integers
