"""The scores of a corpus, and comparisons of systems, without a pipeline."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beam_bleu.transforms.calls.segments import Segments, on_threads, require_threads
from beam_bleu.transforms.chosen_metrics import ChosenMetrics
from beam_bleu.transforms.definition.allowed import AllowedName
from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.inspection.look import Inspection
from beam_bleu.transforms.score.differences import ComparedSystems, chosen_pairs
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.batch_statistics import MetricStatistics
from beam_bleu.transforms.totals.batch_adder import totals_of_rows
from beam_bleu.transforms.totals.group_totals import GroupTotals


def score(
    candidates: Any,
    references: Any = None,
    *,
    references_per_segment: Any = None,
    metrics: Sequence[Any] = ("bleu",),
    uncertainty: bool = True,
    threads: int = 1,
    allow: Sequence[AllowedName] = (),
) -> dict[str, Score]:
    """Scores a corpus, without a pipeline.

    Texts are in a list or tuple, a pyarrow Array or ChunkedArray of strings, a numpy array or a
    pandas Series. There are two forms of references, and exactly one must be given. Which one is
    meant is never guessed.

    Args:
      candidates: the texts to score, one for each segment.
      references: as in sacreBLEU, a list for each reference, each as long as `candidates`:
        `[[r1, r2, ...]]` if each segment has one reference. A reference that is None is missing.
      references_per_segment: a list of references for each segment. Lists can have different
        lengths.
      metrics: words, such as "bleu", "chrf", "ter" or "rougeL", and configs, such as
        `ChrfConfig(word_order=2)`.
      uncertainty: whether scores have a standard error and a 95 % interval.
      threads: the number of threads that count.
      allow: what is meant although it is probably a mistake, such as "another-format": keys of
        the table of `--allow` (docs/line_parallel.md).

    Returns:
      The score of each metric by its word, in the order of `metrics`: the same as that of
      `CorpusScores`, such as a `BleuScore`. `isinstance` tells a type checker which one it is.

    Raises:
      ValueError: an argument is impossible; the message says which one, where, and what to do.
      InputError: the texts are certainly not what they are taken for.

    Example:
      >>> from beam_bleu import score
      >>> scores = score(["the cat sat on the mat"], [["A cat sat on the mat"]], metrics=["chrf"])
      >>> round(scores["chrf"].score, 2)
      88.96
    """
    require_flag("uncertainty", uncertainty)
    require_threads(threads)
    chosen = ChosenMetrics.of(metrics).require_texts_only()
    segments = Segments.of({"candidates": candidates}, references, references_per_segment)
    inspection = Inspection(allow)
    batches = on_threads(chosen.count, inspection.seen(segments.batches(threads)), threads)
    totals = _totals(chosen, batches, with_products=uncertainty)
    inspection.warn()
    return {
        definition.name: definition.score(of_metric)
        for definition, of_metric in zip(chosen.definitions, totals, strict=True)
    }


def _totals(
    chosen: ChosenMetrics,
    batches: Iterable[MetricStatistics],
    pairs: Sequence[tuple[str, str]] = (),
    *,
    with_products: bool,
) -> list[GroupTotals]:
    """The totals of each metric, over one or more batches."""
    bases = [metric.basis for _, metric in chosen.counted]
    totals: list[GroupTotals] | None = None
    for statistics in batches:
        of_batch = [
            totals_of_rows(of_metric, basis, pairs=pairs, with_products=with_products)
            for of_metric, basis in zip(statistics.metrics, bases, strict=True)
        ]
        totals = of_batch if totals is None else [*map(operator.add, totals, of_batch)]
    assert totals is not None  # there is a segment
    return totals


def compare(
    systems: Mapping[str, Any],
    references: Any = None,
    *,
    references_per_segment: Any = None,
    metrics: Sequence[Any] = ("bleu",),
    baseline: str | None = None,
    all_pairs: bool = False,
    threads: int = 1,
    allow: Sequence[AllowedName] = (),
) -> dict[str, ComparedSystems]:
    """Compares systems on the same segments, without a pipeline.

    Args:
      systems: the candidates of two or more systems by their names, as `score` takes them.
      references: as for `score`.
      references_per_segment: as for `score`.
      metrics: as for `score`.
      baseline: the system with which the others are compared; by default the first one.
      all_pairs: whether each system is compared with each other one. Then the result also has
        clusters.
      threads: the number of threads that count.
      allow: as for `score`.

    Returns:
      The scores and comparisons by the word of each metric: the same as those of `CompareSystems`.

    Raises:
      ValueError: an argument is impossible.
      InputError: the texts are certainly not what they are taken for.

    Example:
      >>> from beam_bleu import compare
      >>> systems = {"old": ["a b c d e"] * 50, "new": [f"a b c d {i % 3}" for i in range(50)]}
      >>> (found,) = compare(systems, [["a b c d 1"] * 50])["bleu"].comparisons
      >>> print(f"{found.system} - {found.baseline}: {found.difference:+.1f}")
      new - old: +11.6
    """
    if not isinstance(systems, Mapping) or not all(isinstance(name, str) for name in systems):
        raise ValueError(f"systems must be a dict of names and candidates, got {systems!r}")
    require_threads(threads)
    names = tuple(systems)
    pairs = chosen_pairs(names, baseline, all_pairs=all_pairs)
    chosen = ChosenMetrics.of(metrics).require_texts_only()
    candidates = {f"systems[{name!r}]": texts for name, texts in systems.items()}
    segments = Segments.of(candidates, references, references_per_segment, names)
    inspection = Inspection(allow)
    batches = on_threads(chosen.count, inspection.seen(segments.batches(threads)), threads)
    totals = _totals(chosen, batches, pairs, with_products=True)
    inspection.warn()
    return {
        definition.name: definition.compared(of_metric, names, pairs, all_pairs=all_pairs)
        for definition, of_metric in zip(chosen.definitions, totals, strict=True)
    }
