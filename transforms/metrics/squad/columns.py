"""The columns of exact match and of token F1: the integers of a segment."""

from __future__ import annotations

import functools

from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis

EMPTY = 1
"""The column after `SEGMENTS`, of both metrics: 1 if the candidate has no word."""

EXACT = 2
"""The other column of exact match: 1 if the candidate equals a reference."""

CANDIDATE_LENGTH, REFERENCE_LENGTH, COMMON, F1_HIGH, F1_LOW = range(2, 7)
"""The other columns of token F1: the words of the candidate; those of the reference with the best
F1, and how many of them the candidate has, too; and the F1, from 0 to 1, as `fixed_point`."""


@functools.cache
def exact_match_basis() -> Basis:
    """The columns of exact match."""
    return Basis(("segments", "empty_candidates", "exact"), shared=(SEGMENTS,))


@functools.cache
def token_f1_basis() -> Basis:
    """The columns of token F1."""
    names = ("segments", "empty_candidates", "candidate_length", "reference_length", "common")
    return Basis((*names, "f1_high", "f1_low"), shared=(SEGMENTS,))
