"""Adds up the moments of batches whose units are segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.moments.unit_adder import UnitAdder, groups_of
from beam_bleu.transforms.totals.products import by_column
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS

_MOST_SETS = 8
"""The sets of systems that are added up side by side. Each one has its own arrays."""


class MomentsAdder:
    """Adds up the moments of batches of segments. Mutable.

    Args:
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      basis: the columns of the metric.
      baseline: the other systems are compared with this one; None for the first system.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
    """

    def __init__(
        self,
        slicing: Slicing,
        labels: Sequence[str],
        basis: Basis,
        baseline: str | None = None,
        *,
        with_all_pairs: bool = False,
    ) -> None:
        self._numbering = SliceNumbering(slicing, labels) if slicing else None
        self._most = slicing.most
        self._basis = basis
        self._baseline = baseline
        self._with_all_pairs = with_all_pairs
        self._sets: dict[tuple[str, ...], UnitAdder] = {}
        self._added = Moments.zero(basis.width)

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch.

        Raises:
          InputError: there are too many slices.
        """
        if not len(statistics):
            return
        adder = self._adder_of(statistics.systems)
        adder.add_segments(statistics.counts)
        if self._numbering is not None:
            columns = by_column(statistics.counts)
            for slices in self._numbering.rows_of(statistics):
                adder.add_to_slices(columns, slices, len(self._numbering.keys))

    def _adder_of(self, systems: tuple[str, ...]) -> UnitAdder:
        if systems not in self._sets:
            if len(self._sets) == _MOST_SETS:
                self._added = self.moments()
                self._sets.clear()
            self._sets[systems] = UnitAdder(
                systems,
                self._basis,
                self._baseline or systems[0],
                with_all_pairs=self._with_all_pairs,
            )
        return self._sets[systems]

    def by_system(self) -> dict[str, Moments]:
        """The moments of all batches, as those of all systems."""
        return {ALL_SYSTEMS: dataclasses.replace(self.moments(), most=self._most)}

    def moments(self) -> Moments:
        """The moments of all batches."""
        keys, slices = groups_of(() if self._numbering is None else self._numbering.keys)
        total = self._added
        for adder in self._sets.values():
            sums = adder.sums(slices)
            of_set = adder.moments(keys, common=sums, own=sums)
            total = total + of_set if total.systems else of_set
        return total


def compile_moments() -> None:
    """Compiles the code that adds up moments, or loads it, unless this process has done so."""
    basis = Basis(("segments",), shared=(SEGMENTS,))
    counts = np.ones((1, 1, basis.width), np.int64)
    adder = UnitAdder(("",), basis, "", with_all_pairs=False)
    adder.add_segments(counts)
    adder.add_to_slices(by_column(counts), np.zeros(1, np.int64), 1)
