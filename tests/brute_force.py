"""Slow implementations of BLEU, written from the papers, on lists of tokens.

Sums are exact integers and fractions. Only the last logarithm and exponential are floats. Scores
are on the scale 0..1. This file imports nothing of this project.
"""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Sums:
    """The sums of a corpus. Element n - 1 of a list belongs to order n."""

    matches: list[int]
    totals: list[int]
    shorter: list[int]
    """The number of candidates with fewer than n tokens."""
    candidate_length: int
    reference_length: Fraction


def ngrams(tokens, n):
    """How often each n-gram occurs."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def clipped_matches(candidate, references, n):
    """Count_clip = min(Count, Max_Ref_Count), summed (Papineni et al. 2002, section 2.1)."""
    counts = [ngrams(reference, n) for reference in references]
    matches = 0
    for ngram, count in ngrams(candidate, n).items():
        matches += min(count, max(reference[ngram] for reference in counts))
    return matches


REFERENCE_LENGTHS = {
    # If two are equally close, the shorter one (multi-bleu, mteval, NLTK), or the first.
    "closest": lambda length, others: min(others, key=lambda each: (abs(each - length), each)),
    "closest_first": lambda length, others: min(others, key=lambda each: abs(each - length)),
    "shortest": lambda _, others: min(others),
    "longest": lambda _, others: max(others),
    "average": lambda _, others: Fraction(sum(others), len(others)),
}


def corpus_sums(segments, max_order=4, rule="closest"):
    """The sums of (candidate tokens, [reference tokens, ...]) pairs (Papineni et al., 2.1.1, 2.2).

    Matches and totals are added up over the segments before they are divided.
    """
    orders = range(1, max_order + 1)
    return Sums(
        matches=[
            sum(clipped_matches(c, references, n) for c, references in segments) for n in orders
        ],
        totals=[sum(ngrams(c, n).total() for c, _ in segments) for n in orders],
        shorter=[sum(len(c) < n for c, _ in segments) for n in orders],
        candidate_length=sum(len(c) for c, _ in segments),
        reference_length=sum(
            (
                Fraction(REFERENCE_LENGTHS[rule](len(c), [len(r) for r in references]))
                for c, references in segments
            ),
            Fraction(0),
        ),
    )


def uniform(max_order):
    """w_n = 1/N."""
    return [Fraction(1, max_order)] * max_order


def brevity_penalty(sums):
    """BP (Papineni et al. 2002, section 2.3); it is 0 for an empty candidate.

    If both are empty, there is no penalty; this makes no difference in any definition here.
    """
    c, r = sums.candidate_length, sums.reference_length
    if c >= r:
        return 1.0
    return math.exp(1 - r / c) if c else 0.0


def weighted_geometric_mean(precisions, weights):
    """exp(sum of w_n log p_n); 0 if a precision with a weight is 0."""
    pairs = [(p, w) for p, w in zip(precisions, weights, strict=True) if w]
    if any(p == 0 for p, _ in pairs):
        return 0.0
    return math.exp(math.fsum(float(w) * math.log(p) for p, w in pairs))


def precisions_or_zero(sums):
    """p_n; 0 if there is no n-gram of the order."""
    return [
        Fraction(m, t) if t else Fraction(0) for m, t in zip(sums.matches, sums.totals, strict=True)
    ]


def papineni2002(sums, weights=None):
    """BLEU = BP exp(sum of w_n log p_n) (section 2.3), where log 0 is minus infinity."""
    weights = weights or uniform(len(sums.matches))
    return brevity_penalty(sums) * weighted_geometric_mean(precisions_or_zero(sums), weights)


def papineni2002_epsilon(sums, epsilon=1e-100, weights=None):
    """The same with epsilon instead of a zero precision (seed 000's class)."""
    precisions = [p or epsilon for p in precisions_or_zero(sums)]
    weights = weights or uniform(len(sums.matches))
    return brevity_penalty(sums) * weighted_geometric_mean(precisions, weights)


def nltk_legacy(sums, weights=None):
    """NLTK 3.2.2 to 3.2.5: orders without matches are left out; other weights do not change."""
    if sums.matches[0] == 0:
        return 0.0
    # Each segment counts max(1, its n-grams).
    totals = [total + shorter for total, shorter in zip(sums.totals, sums.shorter, strict=True)]
    weights = weights or uniform(len(totals))
    logarithms = [
        float(w) * math.log(Fraction(m, t))
        for m, t, w in zip(sums.matches, totals, weights, strict=True)
        if m
    ]
    return brevity_penalty(sums) * math.exp(math.fsum(logarithms))


def mteval13a(sums, weights=None):
    """mteval-v13a.pl: orders without matches get 1/2, 1/4, ... matches; p_n = 1 without n-grams.

    This is the score of a segment: an empty candidate gives 0. For a whole corpus the script takes
    the logarithm of the brevity penalty and of the length ratio, and fails if one side is empty.
    """
    precisions, zeros = [], 0
    for m, t in zip(sums.matches, sums.totals, strict=True):
        zeros += t > 0 and m == 0
        precisions.append(Fraction(m or Fraction(1, 2**zeros), t) if t else Fraction(1))
    penalty = brevity_penalty(sums) if sums.candidate_length else 0.0
    weights = weights or uniform(len(precisions))
    return penalty * weighted_geometric_mean(precisions, weights)
