"""Adds up the moments of batches whose units are segments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beam_bleu.transforms.definition.slicing import SliceKey, Slicing
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics, width
from beam_bleu.transforms.statistics.signs import BatchSigns
from beam_bleu.transforms.totals.moments.columns import unit_columns
from beam_bleu.transforms.totals.moments.moments import Moments
from beam_bleu.transforms.totals.moments.system_set import SystemSet
from beam_bleu.transforms.totals.slice_numbering import SliceNumbering

_MOST_SETS = 8
"""The sets of systems that are added up side by side. Each one has its own arrays."""


class MomentsAdder:
    """Adds up the moments of batches of segments. Mutable.

    Args:
      slicing: the slices.
      labels: the names of the columns of `BatchStatistics.labels`.
      max_order: the largest n-gram order.
      baseline: the other systems are compared with this one; None for the first system.
      with_all_pairs: whether the whole corpus has all pairs of systems, too.
    """

    def __init__(
        self,
        slicing: Slicing,
        labels: Sequence[str],
        max_order: int,
        baseline: str | None = None,
        *,
        with_all_pairs: bool = False,
    ) -> None:
        self._numbering = SliceNumbering(slicing, labels) if slicing else None
        self._max_order = max_order
        self._baseline = baseline
        self._with_all_pairs = with_all_pairs
        self._sets: dict[tuple[str, ...], SystemSet] = {}
        self._added = Moments.zero(max_order)

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch.

        Raises:
          InputError: there are too many slices.
        """
        if not len(statistics):
            return
        to = self._set_of(statistics.systems)
        to.add(statistics)
        if self._numbering is not None:
            columns = unit_columns(statistics)
            for slices in self._numbering.rows_of(statistics):
                to.add_to_slices(columns, slices, len(self._numbering.keys))

    def _set_of(self, systems: tuple[str, ...]) -> SystemSet:
        found = self._sets.get(systems)
        if found is None:
            if len(self._sets) == _MOST_SETS:
                self._added = self.moments()
                self._sets.clear()
            found = SystemSet(
                systems,
                self._max_order,
                self._baseline or systems[0],
                with_all_pairs=self._with_all_pairs,
            )
            self._sets[systems] = found
        return found

    def moments(self) -> Moments:
        """The moments of all batches."""
        keys: Sequence[SliceKey] = () if self._numbering is None else self._numbering.keys
        parts = [each.moments(keys) for each in self._sets.values()]
        if not parts:
            return self._added
        if not self._added.systems:
            total, *parts = parts
        else:
            total = self._added
        for part in parts:
            total = total.added(part)
        return total


def compile_moments() -> None:
    """Compiles the code that adds up moments, or loads it, unless this process has done so."""
    one = np.ones(1, np.int64)
    signs = BatchSigns.none(systems=1, reference_count=1, segments=1)
    counts = np.ones((1, 1, width(1)), np.int64)
    statistics = BatchStatistics(counts, one, one[None], one, signs, ("",))
    system = SystemSet(statistics.systems, 1, "", with_all_pairs=False)
    system.add(statistics)
    system.add_to_slices(unit_columns(statistics), np.zeros(1, np.int64), 1)
