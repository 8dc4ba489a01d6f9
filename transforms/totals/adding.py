"""The steps that add up batches: those of a bundle, and the groups of each batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.pairing.batch import RowGroup
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.moments.products import compile_products
from beam_bleu.transforms.wiring.add_up import NamedSums
from beam_bleu.transforms.wiring.bundles import CollectBundles
from beam_bleu.transforms.wiring.sums import Sums

__all__ = ["Adder", "SumBundles", "SumGroups"]


class Adder(Protocol):
    """Adds up batches. Mutable."""

    def add(self, statistics: BatchStatistics) -> None:
        """Adds the segments of a batch."""

    def by_system(self) -> Mapping[str, Sums]:
        """The sums of all batches, by system; by `ALL_SYSTEMS` if they are those of all."""


class SumBundles(CollectBundles):
    """Adds up each bundle of `BatchStatistics`, to `NamedSums`.

    Args:
      name: what is added up.
      new_adder: returns an adder without batches.
      compile_adder: compiles its code, or loads it.
      threads: the number of threads of a worker that add up.
    """

    def __init__(
        self,
        name: str,
        new_adder: Callable[[], Adder],
        compile_adder: Callable[[], None],
        threads: int = 1,
    ) -> None:
        super().__init__(threads)
        self._name = name
        self._new_adder = new_adder
        self._compile_adder = compile_adder

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        self._compile_adder()

    def new_collector(self) -> Adder:
        return self._new_adder()

    def collected(self, collector: Adder) -> Iterable[NamedSums]:
        return [((self._name, system), sums) for system, sums in collector.by_system().items()]


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
