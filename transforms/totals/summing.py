"""The steps from the statistics of batches to the totals of bundles, and of groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.totals.batch_adder import (
    Additions,
    MetricsAdder,
    SeveralTotals,
    totals_of_rows,
)
from beam_bleu.transforms.wiring.steps import AddUp, NamedSums
from beam_bleu.transforms.wiring.threads import CollectBundles

__all__ = ["SumBundles", "SumGroups", "sum_groups"]


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
        | "Leave out empty panes" >> beam.Filter(lambda keyed: keyed[1] is not None)
    )


class SumBundles(CollectBundles):
    """Adds up each bundle of `BatchStatistics`, to `NamedSums`."""

    def __init__(self, additions: Additions, threads: int = 1) -> None:
        super().__init__(threads)
        self._additions = additions

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

    def process(self, statistics: BatchStatistics) -> Iterator[Any]:
        for group in statistics.groups:
            if not len(range(*group.rows.indices(len(statistics)))):
                continue
            totals = totals_of_rows(
                statistics,
                self._bases,
                group.rows,
                self._pairs,
                with_products=self._with_products,
            )
            if group.window is None:
                yield group.key, totals
            else:
                yield WindowedValue((group.key, totals), group.timestamp, (group.window,))
