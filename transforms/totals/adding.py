"""Wires adding up to Beam: the step that adds up batches, and the CombineFn that adds up sums."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.pairing.batch import RowGroup
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.moments.products import compile_products
from beam_bleu.transforms.wiring.bundles import CollectBundles

__all__ = ["AddUp", "Adder", "SumBundles", "SumGroups"]


class AddUp(beam.CombineFn):
    """Adds up sums of one kind.

    Sums are frozen, so neither an input nor another accumulator is ever changed, and any split and
    order gives the same sum.

    Args:
      zero: the sums of no segment.
      add: returns the sum of two of them.
    """

    def __init__(self, zero: Any, add: Callable[[Any, Any], Any] = operator.add) -> None:
        self._zero = zero
        self._add = add

    def create_accumulator(self) -> Any:
        return self._zero

    def add_input(self, accumulator: Any, sums: Any) -> Any:
        return self._add(accumulator, sums)

    def merge_accumulators(self, accumulators: Iterable[Any]) -> Any:
        return functools.reduce(self._add, accumulators, self._zero)

    def extract_output(self, accumulator: Any) -> Any:
        return accumulator


class Adder(Protocol):
    """Adds up batches. Mutable."""

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch."""

    def keyed_sums(self) -> Iterable[tuple[Any, Any]]:
        """The sums of all batches, with the keys by which those of other bundles are added."""


class SumBundles(CollectBundles):
    """Adds up each bundle of `BatchStatistics`, to (key, sums).

    Args:
      new_adder: returns an adder without batches.
      compile_adder: compiles its code, or loads it.
      threads: the number of threads of a worker that add up.
    """

    def __init__(
        self, new_adder: Callable[[], Adder], compile_adder: Callable[[], None], threads: int = 1
    ) -> None:
        super().__init__(threads)
        self._new_adder = new_adder
        self._compile_adder = compile_adder

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        self._compile_adder()

    def new_collector(self) -> Adder:
        return self._new_adder()

    def collected(self, collector: Adder) -> Iterable[tuple[Any, Any]]:
        return collector.keyed_sums()


class SumGroups(beam.DoFn):
    """Adds up each group of a batch, to (key, sums), in the window of the group.

    Args:
      sums_of: the sums of a group of a batch.
      with_products: whether these have sums of products.
    """

    def __init__(
        self,
        sums_of: Callable[[BatchStatistics, RowGroup], Iterable[tuple[Any, Any]]],
        *,
        with_products: bool,
    ) -> None:
        self._sums_of = sums_of
        self._with_products = with_products

    def setup(self) -> None:
        if self._with_products:
            # Once in a worker, before its first batch, as for the kernel.
            compile_products()

    def process(self, statistics: BatchStatistics) -> Iterator[Any]:
        for group in statistics.groups:
            for keyed in self._sums_of(statistics, group):
                if group.window is None:
                    yield keyed
                else:
                    yield WindowedValue(keyed, group.timestamp, (group.window,))
