"""Wires the counts of the command's job to Beam: the way from batches to the sums of the corpus."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import apache_beam as beam
from apache_beam.pvalue import PCollection

from beam_bleu.transforms.definition.text import Text
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.by_language import LanguageLabel
from beam_bleu.transforms.statistics.count_matches import count_matches
from beam_bleu.transforms.totals.add_up import KeyedSums, add_up
from beam_bleu.transforms.totals.corpus_adder import CorpusAdder
from beam_bleu.transforms.totals.slice_adder import compile_slice_adder
from beam_bleu.transforms.wiring.bundles import CollectBundles
from beam_bleu.transforms.wiring.steps import Step, unchanged

__all__ = ["Counted", "SumCorpus", "count_and_sum"]


@dataclasses.dataclass(frozen=True)
class Counted:
    """The counts of batches of segments.

    Attributes:
      statistics: PCollection of `BatchStatistics`, one for each batch.
      sums: PCollection of ((name of the system, None), `CorpusSums`).
    """

    statistics: PCollection[BatchStatistics]
    sums: PCollection[KeyedSums]


def count_and_sum(
    batches: PCollection[SegmentBatch],
    text: Text,
    max_order: int,
    threads: int,
    step: Step = unchanged,
    *,
    languages: LanguageLabel | None = None,
    variant: str = "",
) -> Counted:
    """Adds the steps that count batches of segments and add up all segments of each system.

    Args:
      batches: the batches, all in the global window. Their rows are one group without a key.
      text: how texts become tokens. If a tokenizer has a model, it is sent only with this step.
      max_order: the largest n-gram order that is counted.
      threads: the number of threads with which a worker counts, and with which it adds up.
      step: the function that makes a step of the DoFns.
      languages: where the segments have their languages, if each language has its own tokenizer.
        Then sums over several languages are only good for checks.
      variant: if these batches are counted in several ways, the name of this way, for the steps'
        labels. It is "" for one of the ways: only this one changes Beam's metrics.
    """
    suffix = f" ({variant})" if variant else ""
    statistics = batches | f"Count matches{suffix}" >> count_matches(
        text, max_order, threads, step, languages=languages, metrics=not variant
    )
    total = beam.ParDo(step(SumCorpus(max_order, threads)))
    return Counted(statistics, add_up(statistics, total, max_order, None, suffix))


class SumCorpus(CollectBundles):
    """Adds up all segments of each bundle of `BatchStatistics`, to ((system, None), sums)."""

    def __init__(self, max_order: int, threads: int) -> None:
        super().__init__(threads)
        self._max_order = max_order

    def setup(self) -> None:
        super().setup()
        # Here, so that the first batch does not have to wait for the compiler. See CountMatches.
        compile_slice_adder()

    def new_collector(self) -> CorpusAdder:
        return CorpusAdder(self._max_order)

    def collected(self, collector: CorpusAdder) -> Iterable[KeyedSums]:
        return [((system, None), sums) for system, sums in collector.sums().items()]
