"""The library's transform that compares systems on the same segments, in any Beam pipeline."""

from __future__ import annotations

from collections.abc import Sequence

import apache_beam as beam

from beam_bleu.transforms.chosen_metrics import ChosenMetrics
from beam_bleu.transforms.corpus_scores import ScoreGroups
from beam_bleu.transforms.metrics.metric import Config
from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns
from beam_bleu.transforms.score.differences import ComparedSystems, chosen_pairs

__all__ = ["CompareSystems"]


class CompareSystems:
    """Compares systems on segments `({system: candidate, ...}, [reference, ...])`.

    Each segment has a candidate of every system, because a comparison is only fair on the same
    segments. References, windows and empty inputs are as for `CorpusBleu`. The unit is the segment.
    p-values are adjusted by Holm for the comparisons of one element.

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
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     compared = pipeline | beam.Create(segments) | CompareSystems.Globally(["old", "new"])
      ...     differences = compared | beam.FlatMap(lambda compared: compared.comparisons)
      ...     _ = differences | beam.Map(lambda each: print(f"{each.difference:+.1f}"))
      +11.4
    """

    @classmethod
    def Globally(  # noqa: N802 - as Beam's own
        cls,
        systems: Sequence[str],
        config: Config | None = None,
        *,
        baseline: str | None = None,
        all_pairs: bool = False,
        columns: ArrowColumns | None = None,
    ) -> beam.PTransform:
        """PCollection of segments, or of tables -> PCollection of one `ComparedSystems`."""
        return _comparing(systems, config, baseline, all_pairs, columns, keyed=False)

    @classmethod
    def PerKey(  # noqa: N802
        cls,
        systems: Sequence[str],
        config: Config | None = None,
        *,
        baseline: str | None = None,
        all_pairs: bool = False,
        columns: ArrowColumns | None = None,
    ) -> beam.PTransform:
        """PCollection of (key, segment), or of tables, to one of (key, `ComparedSystems`)."""
        return _comparing(systems, config, baseline, all_pairs, columns, keyed=True)


def _comparing(
    systems: Sequence[str],
    config: Config | None,
    baseline: str | None,
    all_pairs: bool,
    columns: ArrowColumns | None,
    *,
    keyed: bool,
) -> beam.PTransform:
    if (
        isinstance(systems, str)
        or not isinstance(systems, Sequence)
        or not all(isinstance(system, str) for system in systems)
    ):
        raise ValueError(f"systems must be a list of names, got {systems!r}")
    names = tuple(systems)
    pairs = tuple(chosen_pairs(names, baseline, all_pairs=all_pairs))
    chosen = ChosenMetrics.single(config)
    (definition,) = chosen.definitions
    return ScoreGroups(
        f"CompareSystems.{'PerKey' if keyed else 'Globally'}",
        chosen,
        lambda totals: definition.compared(totals.metrics[0], names, pairs, all_pairs=all_pairs),
        ComparedSystems,
        keyed,
        columns,
        systems=names,
        pairs=pairs,
    )
