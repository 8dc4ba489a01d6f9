"""Replicates: the sums of a corpus in which each unit has a random weight."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.errors import JobError, joined
from beam_bleu.transforms.native.arrays import Booleans, Integers
from beam_bleu.transforms.wiring.sums import Sums


@dataclasses.dataclass(frozen=True, eq=False)
class Replicates(Sums):
    """The sums of each replicate of a corpus, for each system. Those of all parts are added up.

    Replicate b of a system is the sum over the units of w_b x. The weight w_b of a unit is the
    same for all systems: Poisson(1) for the bootstrap; for randomization 0 or 1. In replicate b of
    a randomization of two systems, one system has the sum S_1 - R_1b + R_2b and the other has
    S_2 - R_2b + R_1b, with S the sums of the corpus and R_b those of the replicate.

    An int64 is large enough, as for `SliceSums`: a weight is at most 8. Only BLEU's column
    `AVERAGE` is larger: it overflows at a corpus of 10^12 tokens with several references per
    segment.

    Attributes:
      resampling: the method, the number of replicates and the seed.
      width: the number of columns of the metric, W.
      systems: the names of the systems, in the order of the result.
      sums: int64 (systems, replicates, W), with the columns of the metric.
      unweighted: int64 (systems, W), the sums of the units of which the replicates are. They show
        whether a runner has lost or repeated some of them.
    """

    resampling: Resampling
    width: int
    systems: tuple[str, ...]
    sums: Integers
    unweighted: Integers

    @classmethod
    def zero(cls, resampling: Resampling, width: int, systems: Sequence[str]) -> Replicates:
        """The replicates of no unit; without systems, those before the first batch."""
        return cls(
            resampling,
            width,
            tuple(systems),
            np.zeros((len(systems), resampling.number, width), np.int64),
            np.zeros((len(systems), width), np.int64),
        )

    @property
    def nbytes(self) -> int:
        """The bytes of the sums."""
        return self.sums.nbytes + self.unweighted.nbytes

    def __add__(self, other: Replicates) -> Replicates:
        """The replicates of the units of both. If they are of two partitions, they have no label.

        Raises:
          JobError: they are of other systems.
          ValueError: they have other columns, or were drawn in another way.
        """
        if not self.systems or not other.systems:
            return self if self.systems else other
        require_same_systems(self.systems, other.systems)
        for what, one, another in (
            ("methods", self.resampling.method, other.resampling.method),
            ("numbers of replicates", self.resampling.number, other.resampling.number),
            ("seeds", self.resampling.seed, other.resampling.seed),
            ("numbers of columns", self.width, other.width),
        ):
            if one != another:
                raise ValueError(
                    f"replicates of different {what} cannot be added: {one!r} and {another!r}"
                )
        resampling = self.resampling
        if resampling.partition != other.resampling.partition:
            resampling = dataclasses.replace(resampling, partition="")
        return dataclasses.replace(
            self,
            resampling=resampling,
            sums=self.sums + other.sums,
            unweighted=self.unweighted + other.unweighted,
        )

    def __reduce__(self) -> tuple[Callable[..., Replicates], tuple[Any, ...]]:
        """For pickle: without the columns that are 0, which are most of them."""
        is_used = self.sums.any(axis=1)
        used = np.ascontiguousarray(self.sums.transpose(0, 2, 1)[is_used])
        own = self.resampling, self.width, self.systems, self.unweighted
        return _replicates, (*own, is_used, used)


def require_same_systems(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    """Checks that the segments of two parts of a corpus have the same systems.

    Raises:
      JobError: they have not.
    """
    if one != other:
        raise JobError(
            "not all segments have the same systems, so they cannot be resampled together: "
            f"some have {joined(one)}, others have {joined(other)}",
            "score only the segments that all systems have, or do not ask for replicates",
        )


def _replicates(
    resampling: Resampling,
    width: int,
    systems: tuple[str, ...],
    unweighted: Integers,
    is_used: Booleans,
    used: Integers,
) -> Replicates:
    """The replicates from their pickle.

    Args:
      resampling: as in `Replicates`, and so are the next three.
      width: the number of columns.
      systems: the names of the systems.
      unweighted: the sums without weights.
      is_used: bool (systems, W), the columns that are not 0.
      used: int64 (used columns, replicates).
    """
    zero = Replicates.zero(resampling, width, systems)
    zero.sums.transpose(0, 2, 1)[is_used] = used
    return dataclasses.replace(zero, unweighted=unweighted)
