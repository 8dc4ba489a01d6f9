"""The steps from the statistics of batches to the totals of bundles, and of groups."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import Additions, MetricsAdder, totals_of_rows
from beam_bleu.transforms.totals.group_totals import GroupTotals
from beam_bleu.transforms.totals.unit_adder import compile_unit_adder
from beam_bleu.transforms.wiring.steps import AddUp, NamedSums
from beam_bleu.transforms.wiring.sums import Sums
from beam_bleu.transforms.wiring.threads import CollectBundles

__all__ = [
    "SeveralTotals",
    "SumBundles",
    "SumGroups",
    "sum_groups",
]


@dataclasses.dataclass(frozen=True)
class SeveralTotals(Sums):
    """The totals of a group for several metrics.

    One value has all of them, so that no trigger of a pipeline can fire for one metric alone.

    Attributes:
      metrics: the totals of each metric.
    """

    metrics: tuple[GroupTotals, ...]

    def __add__(self, other: SeveralTotals) -> SeveralTotals:
        return SeveralTotals(
            tuple(one + more for one, more in zip(self.metrics, other.metrics, strict=True))
        )


def sum_groups(
    statistics: PCollection[BatchStatistics],
    bases: Sequence[Basis],
    key_type: Any,
    pairs: Sequence[tuple[str, str]] = (),
    *,
    with_products: bool,
) -> PCollection[tuple[Any, SeveralTotals]]:
    """Adds the steps from `BatchStatistics` to (key of the group, its totals).

    There are no totals of groups without a segment. A trigger can fire when nothing has come since
    the last time, for example at the end of a window whose segments were all in an early pane that
    was discarded. Then Beam gives the sum of nothing, which would have a score of 0.

    Args:
      statistics: the statistics of batches.
      bases: the columns of each metric.
      key_type: the type of the groups' keys; None if all keys are None. Beam uses it to find their
        coder.
      pairs: the names of the systems that are compared.
      with_products: whether there are products, for the uncertainty of each group's scores.
    """
    keyed = typehints.Tuple[key_type, SeveralTotals]
    summing = SumGroups(tuple(bases), tuple(pairs), with_products)
    return (
        statistics
        | "Sum each group" >> beam.ParDo(summing).with_output_types(keyed)
        | "Add up" >> beam.CombinePerKey(AddUp()).with_output_types(keyed)
        | "Leave out empty panes" >> beam.Filter(_is_there)
    )


def _is_there(keyed: tuple[Any, Sums | None]) -> bool:
    return keyed[1] is not None


class SumBundles(CollectBundles):
    """Adds up each bundle of `BatchStatistics`, to `NamedSums`.

    Args:
      additions: what is added up.
      threads: the number of threads of a worker that add up.
    """

    def __init__(self, additions: Additions, threads: int = 1) -> None:
        super().__init__(threads)
        self._additions = additions

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        for adding in self._additions.values():
            adding.compile()

    def new_collector(self) -> MetricsAdder:
        return MetricsAdder(self._additions)

    def collected(self, collector: MetricsAdder) -> Iterable[NamedSums]:
        return collector.sums().items()


class SumGroups(beam.DoFn):
    """Adds up each group of a batch, to (key, `SeveralTotals`), in the window of the group."""

    def __init__(
        self, bases: Sequence[Basis], pairs: Sequence[tuple[str, str]], with_products: bool
    ) -> None:
        self._bases = bases
        self._pairs = pairs
        self._with_products = with_products

    def setup(self) -> None:
        # Once in a worker, before its first batch, as for the kernel.
        compile_unit_adder()

    def process(self, statistics: BatchStatistics) -> Iterator[Any]:
        for group in statistics.groups:
            if not len(range(*group.rows.indices(len(statistics)))):
                continue
            totals = SeveralTotals(
                tuple(
                    totals_of_rows(
                        statistics,
                        basis,
                        group.rows,
                        self._pairs,
                        with_products=self._with_products,
                        place=place,
                    )
                    for place, basis in enumerate(self._bases)
                )
            )
            keyed = group.key, totals
            if group.window is None:
                yield keyed
            else:
                yield WindowedValue(keyed, group.timestamp, (group.window,))
