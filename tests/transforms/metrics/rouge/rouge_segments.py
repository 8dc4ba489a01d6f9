"""The scores of segments by rouge_score, for the tests of ROUGE."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from hostile_texts import Segment
from metric_segments import segment_scores
from rouge_score.rouge_scorer import RougeScorer

NAMES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]


@functools.cache
def _scorer(is_stemmed: bool) -> RougeScorer:
    return RougeScorer(NAMES, use_stemmer=is_stemmed)


def by_rouge_score(segment: Segment, stemmer: bool = False) -> dict[str, Any]:
    """The scores of a segment by rouge_score: precision, recall, F of each metric, 0..1."""
    candidate, references = segment
    present = [reference for reference in references if reference is not None]
    scores: dict[str, Any] = _scorer(stemmer).score_multi(present, candidate)
    return scores


def assert_equal_to_rouge_score(segments: Sequence[Segment], stemmer: bool = False) -> None:
    """Checks precision, recall and F of all segments, to the last bit."""
    expected = [by_rouge_score(segment, stemmer) for segment in segments]
    for metric in NAMES:
        rows = segment_scores(segments, metric, stemmer=stemmer)
        for row, scores, segment in zip(rows, expected, segments, strict=True):
            found = row["precision"], row["recall"], row["score"]
            assert found == tuple(100.0 * value for value in scores[metric]), (metric, segment)
