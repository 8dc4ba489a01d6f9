"""The sums over the same segments for several systems, from which they are scored and compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.native.arrays import LARGEST_INTEGER, Integers, exact
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.products import by_column, sums_of_columns
from beam_bleu.transforms.totals.unit_sums import UnitSums, side_by_side
from beam_bleu.transforms.wiring.sums import Sums

ComparedPair = tuple[int, int]
"""The places of a system and of its baseline."""

CrossProducts = tuple[int, ...]
"""The sums of products of each column of a system and each one of its baseline, W * W integers,
row by row: a row is of one column of the system."""


@dataclasses.dataclass(frozen=True)
class SystemSums(Sums):
    """The sums over any number of segments, each of which has all systems.

    Attributes:
      systems: the sums of each system, with products.
      pairs: the pairs of systems that are compared.
      crosses: the sums of products of each pair.
    """

    systems: tuple[CorpusSums, ...]
    pairs: tuple[ComparedPair, ...]
    crosses: tuple[CrossProducts, ...]

    @property
    def segments(self) -> int:
        """The number of segments, which is the same for each system."""
        return self.systems[0].segments

    @classmethod
    def zero(cls, width: int, systems: int, pairs: tuple[ComparedPair, ...]) -> SystemSums:
        """The sums of no segment."""
        no_products = (0,) * width**2
        sums = (CorpusSums.zero(width),) * systems
        return cls(sums, pairs, (no_products,) * len(pairs))

    @classmethod
    def of(
        cls, statistics: BatchStatistics, pairs: tuple[ComparedPair, ...], rows: slice = slice(None)
    ) -> SystemSums:
        """The sums of some rows of segment statistics."""
        columns = by_column(statistics.counts[:, rows])
        sums = (
            CorpusSums.of(statistics, number, rows).with_products(sums_of_columns(of_system))
            for number, of_system in enumerate(columns)
        )
        crosses = (_cross_products(columns[one], columns[other]) for one, other in pairs)
        return cls(tuple(sums), pairs, tuple(crosses))

    def __add__(self, other: SystemSums) -> SystemSums:
        if self.pairs != other.pairs:
            raise ValueError("sums of different pairs of systems cannot be added")
        return SystemSums(
            tuple(one + more for one, more in zip(self.systems, other.systems, strict=True)),
            self.pairs,
            tuple(
                tuple(map(int.__add__, one, more))
                for one, more in zip(self.crosses, other.crosses, strict=True)
            ),
        )

    def of_pair(self, number: int) -> UnitSums:
        """The sums of a pair, side by side; its number is that in `pairs`. There are segments."""
        system, baseline = (self.systems[place].unit_sums for place in self.pairs[number])
        assert system is not None
        assert baseline is not None
        width = len(system.columns)
        cross = exact(np.array(self.crosses[number], object).reshape(width, width))
        return side_by_side(system, baseline, cross)


def chosen_pairs(
    systems: Sequence[str], baseline: str | None, *, all_pairs: bool
) -> tuple[ComparedPair, ...]:
    """The pairs that a user of the library chooses.

    Args:
      systems: the names of two or more systems.
      baseline: the system with which the others are compared; None for the first one.
      all_pairs: whether each system is compared with each other one.

    Raises:
      ValueError: a value is impossible.
    """
    if len(systems) < 2 or len({*systems}) < len(systems):
        raise ValueError(f"systems must be two or more different names, got {systems!r}")
    baseline = systems[0] if baseline is None else baseline
    if baseline not in systems:
        raise ValueError(f"baseline must be one of {', '.join(systems)}, got {baseline!r}")
    require_flag("all_pairs", all_pairs)
    return compared_pairs(systems, baseline, all_pairs=all_pairs)


def compared_pairs(
    systems: Sequence[str], baseline: str, *, all_pairs: bool
) -> tuple[ComparedPair, ...]:
    """The pairs of systems that are compared: with the baseline, or each one with each other one.

    Of two other systems, the one that comes first is the baseline.
    """
    place = systems.index(baseline)
    others = [number for number in range(len(systems)) if number != place]
    ordered = [place, *others]
    baselines = ordered if all_pairs else ordered[:1]
    return tuple(
        (ordered[later], first)
        for number, first in enumerate(baselines)
        for later in range(number + 1, len(ordered))
    )


def _cross_products(one: Integers, other: Integers) -> CrossProducts:
    """The sums of products of the columns, int64 (W, units), of two systems."""
    largest = int(one.max(initial=0)) * int(other.max(initial=0))
    if largest * one.shape[1] <= LARGEST_INTEGER:
        products = one @ other.T
    else:
        products = one.astype(object) @ other.T.astype(object)
    return tuple(np.ravel(products).tolist())
