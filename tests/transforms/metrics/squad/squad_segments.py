"""SQuAD's evaluation of segments, for the tests of exact match and token F1."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.speed.squad_evaluation import best_exact, best_f1

ARTICLES = ["a", "an", "the", "The", "a's", "the_", "the9", "th-e", "Ａ", "a\u0301", "an\xa0"]


def raw_scores(candidate: str, references: Sequence[str | None]) -> tuple[float, float]:
    """(exact match, F1) of a segment by SQuAD's evaluation, 0..1 each."""
    present = [reference for reference in references if reference is not None]
    return best_exact(candidate, present), best_f1(candidate, present)
