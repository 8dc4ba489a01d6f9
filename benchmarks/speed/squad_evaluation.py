"""SQuAD's evaluation in pure Python, written by the published rules of evaluate-v2.0.py.

Rajpurkar et al. 2016, section 6.1: https://aclanthology.org/D16-1264. Scores are from 0 to 1. This
file imports nothing from the project, so that tests can compare with it, too.
"""

from __future__ import annotations

import collections
import re
import string
from collections.abc import Sequence


def normalize_answer(text: str) -> str:
    """Lower-cases, removes punctuation marks, then articles, and leaves single spaces."""
    marks = set(string.punctuation)  # for each text, as in SQuAD's program
    without_marks = "".join(letter for letter in text.lower() if letter not in marks)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", without_marks).split())


def compute_exact(reference: str, candidate: str) -> float:
    """1 if the normalized texts are equal, else 0."""
    return float(normalize_answer(reference) == normalize_answer(candidate))


def compute_f1(reference: str, candidate: str) -> float:
    """The F-score of two bags of words."""
    of_reference, of_candidate = (normalize_answer(each).split() for each in (reference, candidate))
    if not of_reference or not of_candidate:
        return float(of_reference == of_candidate)
    same = (collections.Counter(of_reference) & collections.Counter(of_candidate)).total()
    if same == 0:
        return 0.0
    precision = 1.0 * same / len(of_candidate)
    recall = 1.0 * same / len(of_reference)
    return (2 * precision * recall) / (precision + recall)


def best_exact(candidate: str, references: Sequence[str]) -> float:
    """The exact match with the best of the references that count."""
    return max(compute_exact(reference, candidate) for reference in _counting(references))


def best_f1(candidate: str, references: Sequence[str]) -> float:
    """The F1 with the best of the references that count."""
    return max(compute_f1(reference, candidate) for reference in _counting(references))


def _counting(references: Sequence[str]) -> Sequence[str]:
    """The references that have a word; one empty text if none has."""
    return [each for each in references if normalize_answer(each)] or [""]
