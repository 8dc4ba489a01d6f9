"""The library's transform that compares systems on the same segments, in any Beam pipeline."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.transforms.chosen_metrics import ChosenMetrics
from beam_bleu.transforms.corpus_scores import require_no_files
from beam_bleu.transforms.known_metrics import Definition
from beam_bleu.transforms.metrics.metric import Config
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns, SegmentTable
from beam_bleu.transforms.pairing.segments.batching import SegmentOfSystems
from beam_bleu.transforms.pairing.segments.gather import GatherSegments
from beam_bleu.transforms.score.differences import ComparedSystems, chosen_pairs
from beam_bleu.transforms.statistics.batch_steps import count_matches
from beam_bleu.transforms.totals.summing import SeveralTotals, sum_groups

__all__ = ["CompareSystems"]


class _Comparing(beam.PTransform):
    """What both transforms of `CompareSystems` have in common."""

    _keyed: bool

    def __init__(
        self,
        systems: Sequence[str],
        config: Config | None = None,
        *,
        baseline: str | None = None,
        all_pairs: bool = False,
        columns: ArrowColumns | None = None,
    ) -> None:
        super().__init__()
        if (
            isinstance(systems, str)
            or not isinstance(systems, Sequence)
            or not all(isinstance(system, str) for system in systems)
        ):
            raise ValueError(f"systems must be a list of names, got {systems!r}")
        self._systems = tuple(systems)
        self._pairs = chosen_pairs(self._systems, baseline, all_pairs=all_pairs)
        self._chosen = ChosenMetrics.single(config).require_texts_only()
        self._gather = GatherSegments(self._keyed, self._systems, columns)
        self._compare = functools.partial(
            _compared,
            definition=self._chosen.definitions[0],
            systems=self._systems,
            pairs=self._pairs,
            all_pairs=all_pairs,
        )

    def _sums(self, segments: PCollection[Any]) -> PCollection[Any]:
        """The sums of each key; the key is None if segments have no keys."""
        require_no_files(segments)
        return sum_groups(
            segments
            | "Gather segments" >> self._gather
            | "Count matches" >> count_matches(self._chosen.counted, threads=1),
            [self._chosen.counted[0][1].basis],
            self._gather.key_type(segments),
            self._pairs,
            with_products=True,
        )


class CompareSystems:
    """Compares systems on segments `({system: candidate, ...}, [reference, ...])`.

    Each segment has a candidate of every system, because a comparison is only fair on the same
    segments. References are as for `CorpusBleu`. It works with any windowing and trigger. An
    empty input (or window) yields no element.

    The unit is the segment. p-values are adjusted by Holm for the comparisons of one element.

    Both transforms have these arguments:

    - `systems`: the names of two or more systems.
    - `config`: the definition of a metric, such as a `ChrfConfig`; by default sacreBLEU's BLEU.
    - `baseline`: the system with which the others are compared; by default the first one.
    - `all_pairs`: whether each system is compared with each other one. Then the result also has
      clusters.
    - `columns`: the columns of the segments, if the elements are tables of pyarrow. Its `candidate`
      is a dict with the column of each system.

    Raises:
      ValueError: a value is impossible.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CompareSystems
      >>> segments = [({"old": "a b c d e", "new": f"a b c d {i % 3}"}, ["a b c d 1"])
      ...             for i in range(300)]
      >>> def show(compared):
      ...     for comparison in compared.comparisons:
      ...         low, high = comparison.interval
      ...         names = f"{comparison.system} - {comparison.baseline}"
      ...         print(f"{names}: {comparison.difference:+.1f}")
      ...         print(f"95 % interval {low:+.1f} to {high:+.1f}")
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create(segments)
      ...         | CompareSystems.Globally(["old", "new"])
      ...         | beam.Map(show)
      ...     )
      new - old: +11.4
      95 % interval +9.6 to +13.1
    """

    class Globally(_Comparing):
        """PCollection of segments, or of tables -> PCollection of one `ComparedSystems`."""

        _keyed = False

        def expand(
            self, segments: PCollection[SegmentOfSystems | SegmentTable]
        ) -> PCollection[ComparedSystems]:
            return (
                self._sums(segments)
                | "Take the sums" >> beam.Values()
                | "Compare" >> beam.Map(self._compare).with_output_types(ComparedSystems)
            )

    class PerKey(_Comparing):
        """PCollection of (key, segment), or of tables, to one of (key, `ComparedSystems`)."""

        _keyed = True

        def expand(
            self, segments: PCollection[tuple[Any, SegmentOfSystems] | SegmentTable]
        ) -> PCollection[tuple[Any, ComparedSystems]]:
            key_type = self._gather.key_type(segments)
            compare = functools.partial(_compare_key, compare=self._compare)
            return self._sums(segments) | "Compare" >> beam.MapTuple(compare).with_output_types(
                typehints.Tuple[key_type, ComparedSystems]
            )


def _compared(
    totals: SeveralTotals,
    definition: Definition,
    systems: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    all_pairs: bool,
) -> ComparedSystems:
    return definition.compared(totals.metrics[0], systems, pairs, all_pairs=all_pairs)


def _compare_key(key: Any, sums: SeveralTotals, compare: Any) -> tuple[Any, ComparedSystems]:
    return key, compare(sums)
