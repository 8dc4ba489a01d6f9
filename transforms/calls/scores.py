"""Scores of texts in memory without a pipeline: of corpora, systems, segments and pairs."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.calls.segments import complete_texts, on_threads, segment_batches
from beam_bleu.transforms.chosen_metrics import (
    ChosenMetrics,
    SegmentColumns,
    require_texts_only,
)
from beam_bleu.transforms.definition.allowed import AllowedName
from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.inspection.look import Inspection
from beam_bleu.transforms.native.arrays import Floats
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.score.differences import ComparedSystems, chosen_pairs
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.counting import count_all_pairs
from beam_bleu.transforms.totals.batch_adder import SeveralTotals, totals_of_rows


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
    chosen = ChosenMetrics.of(metrics)
    named = {"candidates": candidates}
    segments = segment_batches(named, references, references_per_segment, threads)
    totals = _totals(chosen, segments, threads, allow, with_products=uncertainty)
    return {
        definition.name: definition.score(of_metric)
        for definition, of_metric in zip(chosen.definitions, totals.metrics, strict=True)
    }


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
    names = tuple(systems)
    pairs = chosen_pairs(names, baseline, all_pairs=all_pairs)
    chosen = ChosenMetrics.of(metrics)
    candidates = {f"systems[{name!r}]": texts for name, texts in systems.items()}
    segments = segment_batches(candidates, references, references_per_segment, threads, names)
    totals = _totals(chosen, segments, threads, allow, pairs, with_products=True)
    return {
        definition.name: definition.compared(of_metric, names, pairs, all_pairs=all_pairs)
        for definition, of_metric in zip(chosen.definitions, totals.metrics, strict=True)
    }


def score_segments(
    candidates: Any,
    references: Any = None,
    *,
    references_per_segment: Any = None,
    metrics: Sequence[Any] = ("bleu",),
    details: bool = False,
    threads: int = 1,
) -> pa.Table:
    """Scores each segment by itself, without a pipeline.

    BLEU has effective order, as in sacreBLEU's `sentence_bleu`, if its smoothing allows it.

    Args:
      candidates: as for `score`.
      references: as for `score`.
      references_per_segment: as for `score`.
      metrics: as for `score`.
      details: whether there are also the columns that the command writes with --segment_scores,
        such as `bleu_matches`.
      threads: the number of threads. Counting releases the interpreter's lock.

    Returns:
      A table with a row for each segment, in order, and a float64 column for each metric, whose
      name is its word. A score is null where it is not defined.

    Raises:
      ValueError: an argument is impossible.

    Example:
      >>> from beam_bleu import score_segments
      >>> table = score_segments(["a cat", "a dog"], [["a cat", "the dog"]], metrics=["ter"])
      >>> table["ter"].to_pylist()
      [0.0, 50.0]
    """
    columns = SegmentColumns(metrics, details=details)
    named = {"candidates": candidates}
    segments = segment_batches(named, references, references_per_segment, threads)
    scores = on_threads(columns.of_batch, segments, threads)
    return pa.Table.from_batches(scores, columns.schema)


def score_pairs(candidates: Any, metric: Any = "bleu") -> Floats | list[Floats]:
    """Scores each candidate of a segment with each candidate as its reference.

    This is what minimum Bayes risk decoding needs: the row with the highest mean is the candidate
    that the others support most. A text is prepared once: its case, its normalization, and what a
    tokenizer rewrites.

    Args:
      candidates: the candidates of one segment, as `score` takes texts; or a list of such lists,
        one for each segment.
      metric: a word, such as "chrf", or a config.

    Returns:
      float64 (N, N): the segment score of candidate i with candidate j as its reference, as
      `score_segments` gives it; nan where it is not defined. For several segments a list of such
      arrays.

    Raises:
      ValueError: an argument is impossible.

    Example:
      >>> from beam_bleu import score_pairs
      >>> utilities = score_pairs(["a b c", "a b d", "x y z"], "chrf").mean(axis=1)
      >>> int(utilities.argmax())
      0
    """
    chosen = ChosenMetrics.of([metric], of_segments=True)
    require_texts_only(chosen.needs)
    first = next(iter(candidates), None) if isinstance(candidates, list | tuple) else None
    if first is None or isinstance(first, str | bytes):
        return _pairs(candidates, "candidates", chosen)
    return [
        _pairs(of_segment, f"candidates[{place}]", chosen)
        for place, of_segment in enumerate(candidates)
    ]


def _totals(
    chosen: ChosenMetrics,
    segments: Iterable[SegmentBatch],
    threads: int,
    allow: Sequence[AllowedName],
    pairs: Sequence[tuple[str, str]] = (),
    *,
    with_products: bool,
) -> SeveralTotals:
    """The totals of the segments. It warns of what is probably wrong with the texts."""
    require_texts_only(chosen.needs)
    inspection = Inspection(allow)
    bases = [metric.basis for _, metric in chosen.counted]

    def of_batch(batch: SegmentBatch) -> SeveralTotals:
        counts = chosen.count(batch)
        return totals_of_rows(counts, bases, pairs=pairs, with_products=with_products)

    batches = on_threads(of_batch, inspection.seen(segments), threads)
    totals = functools.reduce(operator.add, batches)
    inspection.warn()
    return totals


def _pairs(candidates: Any, name: str, chosen: ChosenMetrics) -> Floats:
    column = padded(complete_texts(candidates, name))
    count = len(column)
    if not count:
        raise ValueError(f"{name} is empty: there is no candidate to score")
    scores = np.empty((count, count))
    (definition,), (counted,) = chosen.definitions, chosen.counted
    for rows, counts in count_all_pairs(column, *counted):
        of_references = definition.metric.segment_scores(counts.reshape(-1, counts.shape[2]))
        scores[:, rows] = of_references.reshape(count, -1)
    return scores
