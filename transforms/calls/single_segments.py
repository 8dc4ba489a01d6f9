"""The scores of single segments without a pipeline: in a table, or of all pairs of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.calls.segments import Segments, on_threads, require_threads
from beam_bleu.transforms.calls.texts import Texts
from beam_bleu.transforms.chosen_metrics import ChosenMetrics, SegmentColumns
from beam_bleu.transforms.native.arrays import Floats
from beam_bleu.transforms.native.text_columns import padded
from beam_bleu.transforms.statistics.counting import count_all_pairs


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
    require_threads(threads)
    columns = SegmentColumns(metrics, details=details)
    segments = Segments.of({"candidates": candidates}, references, references_per_segment)
    batches = on_threads(columns.of_batch, segments.batches(threads), threads)
    return pa.Table.from_batches(batches, columns.schema)


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
    chosen = ChosenMetrics.of([metric], of_segments=True).require_texts_only()
    if _are_lists(candidates):
        return [
            _pairs(Texts(of_segment, f"candidates[{place}]"), chosen)
            for place, of_segment in enumerate(candidates)
        ]
    return _pairs(Texts(candidates, "candidates"), chosen)


def _are_lists(candidates: Any) -> bool:
    """Whether there are candidates of several segments."""
    first = next(iter(candidates), None) if isinstance(candidates, list | tuple) else None
    return first is not None and not isinstance(first, str | bytes)


def _pairs(texts: Texts, chosen: ChosenMetrics) -> Floats:
    count = len(texts)
    if not count:
        raise ValueError(f"{texts.name} is empty: there is no candidate to score")
    column = padded(texts.complete_column(0, count))
    scores = np.empty((count, count))
    (definition,), (counted,) = chosen.definitions, chosen.counted
    for rows, statistics in count_all_pairs(column, *counted):
        of_references = definition.metric.segment_scores(statistics.rows)
        scores[:, rows] = of_references.reshape(count, -1)
    return scores
