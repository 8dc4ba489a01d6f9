"""Exact match and token F1 of answers, as SQuAD's evaluate-v2.0.py computes them.

Rajpurkar et al. 2016 (https://aclanthology.org/D16-1264), section 6.1: the means over all
questions, in percent. As in `get_raw_scores`, references without a word count only if no reference
has one.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import (
    EMPTY,
    SEGMENTS,
    Basis,
    Lengths,
    Metric,
    ReadyTexts,
    Scores,
    normalization,
)
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.fixed_point import fixed_point, fixed_point_mean
from beam_bleu.transforms.native.memory import KeptMemory, address_of, is_equal, load_int, store_int
from beam_bleu.transforms.pairing.needs import ANSWERS, Needs
from beam_bleu.transforms.score.score import Score
from beam_bleu.transforms.text.numbered_texts import (
    columns_of,
    count_common,
    is_missing,
    number_texts,
    numbers_of,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of, most_different
from beam_bleu.transforms.text.text import NormalizationName, Text, TextName
from beam_bleu.transforms.text.tokenizers import AnyTokenizerName

EXACT = 2
# The columns of token F1: words of the candidate, of the reference with the best F1, and in both;
# and the F1, from 0 to 1, as `fixed_point`.
CANDIDATE_LENGTH, REFERENCE_LENGTH, COMMON, F1_HIGH, F1_LOW = range(2, 7)
_MEMORY = KeptMemory()


@dataclasses.dataclass(frozen=True, repr=False)
class ExactMatchScore(Score):
    """Exact match and its parts. `Score` explains the other attributes.

    Attributes:
      score: the share of segments with an exact match, 0..100, not rounded.
      exact_matches: the number of these segments: their candidate equals a reference.
    """

    exact_matches: int


@dataclasses.dataclass(frozen=True, repr=False)
class TokenF1Score(Score):
    """Token F1 and its parts. `Score` explains the other attributes.

    Attributes:
      score: the mean F1 of the segments, 0..100, not rounded.
      common_words: how many words the candidates have in common with their references, of each
        segment by the reference with the best F1.
      hyp_words: the words of the candidates.
      ref_words: the words of these references.
    """

    common_words: int
    hyp_words: int
    ref_words: int


@dataclasses.dataclass(frozen=True)
class _OfAnswers(Metric):
    highest = 100
    _TOKENIZER: ClassVar[AnyTokenizerName]

    normalize: NormalizationName | None = normalization()

    @property
    def text(self) -> Text:
        return Text(self._TOKENIZER, lowercase=True, normalize=self.normalize)

    @property
    def needs(self) -> Needs:
        # As in `get_raw_scores`, a question without answers has the empty one.
        return ANSWERS

    def signed(self, text: TextName) -> Mapping[str, str]:
        return {"tok": "squad"}


@dataclasses.dataclass(frozen=True)
class ExactMatchConfig(_OfAnswers):
    """A definition of exact match; the default is SQuAD's.

    Attributes:
      normalize: "nfc" or "nfkc", before all other steps and again after lower-casing, or None.

    Raises:
      ValueError: a field has an impossible value; the message shows it and the choices.
    """

    _TOKENIZER = "squad-whole"
    score_type = ExactMatchScore
    name = "exact match"
    basis = Basis(("segments", "empty_candidates", "exact"))
    OUTCOME = EXACT

    def write_counts(self, texts: ReadyTexts, counts: Integers) -> None:
        count_exact_rows(texts.spans, len(texts.batch.references), counts)

    def value(self, sums: Sequence[Number]) -> Number:
        return 100 * sums[EXACT] / sums[SEGMENTS] if sums[SEGMENTS] > 0 else 0.0

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        return "" if sums[EXACT] else "no candidate equals a reference"

    def lengths(self, columns: Sequence[int]) -> Lengths:
        # How many candidates have a word: the columns do not tell how many words there are.
        with_words = columns[SEGMENTS] - columns[EMPTY]
        return Lengths("word", with_words, Fraction(0), columns[EMPTY])

    def parts(self, columns: Sequence[int]) -> Mapping[str, Any]:
        return {"score": self.value(columns), "exact_matches": columns[EXACT]}

    def segment_scores(self, rows: Integers) -> Scores:
        return 100.0 * rows[:, EXACT].astype(np.float64)


@dataclasses.dataclass(frozen=True)
class TokenF1Config(_OfAnswers):
    """A definition of token F1; the default is SQuAD's. See `ExactMatchConfig`."""

    _TOKENIZER = "squad"
    score_type = TokenF1Score
    name = "token F1"
    basis = Basis(
        (
            *("segments", "empty_candidates", "candidate_length", "reference_length", "common"),
            *("f1_high", "f1_low"),
        )
    )
    LENGTHS = ("word", CANDIDATE_LENGTH, REFERENCE_LENGTH)
    COUNTS = (
        ("common_words", COMMON),
        ("hyp_words", CANDIDATE_LENGTH),
        ("ref_words", REFERENCE_LENGTH),
    )

    def write_counts(self, texts: ReadyTexts, counts: Integers) -> None:
        numbered, _memory = texts.numbered(_MEMORY)
        # Numbers begin with 1, and all tokens that no reference has share one.
        different = most_different(texts.sizes.longest) + 2
        times = _MEMORY.zeros_for("times", different * NUMBER_BYTES)
        count_f1_rows(numbered, times.address, counts)

    def value(self, sums: Sequence[Number]) -> Number:
        if not sums[SEGMENTS] > 0:
            return 0.0
        # Percent before the division, so that there is one rounding, as for exact match.
        return fixed_point_mean(100 * sums[F1_HIGH], 100 * sums[F1_LOW], sums[SEGMENTS])

    def why_no_gradient(self, sums: Sequence[int]) -> str:
        has_words = sums[F1_HIGH] or sums[F1_LOW]
        return "" if has_words else "no word of a candidate is in its references"

    def segment_scores(self, rows: Integers) -> Scores:
        common, words, reference_words = (
            rows[:, column] for column in (COMMON, CANDIDATE_LENGTH, REFERENCE_LENGTH)
        )
        # Two texts without a word are equal; the other texts without common words have an F1 of 0.
        f1 = (words + reference_words == 0).astype(np.float64)
        has_common = common > 0
        precision = common[has_common] / words[has_common]
        recall = common[has_common] / reference_words[has_common]
        f1[has_common] = (2 * precision * recall) / (precision + recall)
        scores: Scores = 100.0 * f1
        return scores


@inner
def f1_of(common, words, reference_words):
    """The F1 of a candidate by one reference, 0..1, with SQuAD's operations in their order."""
    if common == 0:
        return 1.0 if words + reference_words == 0 else 0.0
    precision = common / words
    recall = common / reference_words
    return (2 * precision * recall) / (precision + recall)


@compiled
def count_exact_rows(spans, reference_count, counts):
    starts, ends = spans
    texts, rows = starts.shape
    row_bytes = counts.shape[2] * 8
    count_space = address_of(counts)
    start_space, end_space = address_of(starts), address_of(ends)
    for row in range(rows):
        shortest = 0  # the fewest bytes of a reference that counts
        for reference in range(reference_count):
            at = reference * rows + row
            if load_int(end_space, at) > load_int(start_space, at):
                shortest = 1
        for text in range(reference_count, texts):
            start = load_int(start_space, text * rows + row)
            size = load_int(end_space, text * rows + row) - start
            is_exact = False
            for reference in range(reference_count):
                reference_start = load_int(start_space, reference * rows + row)
                reference_size = load_int(end_space, reference * rows + row) - reference_start
                if reference_start != 0 and reference_size == size and size >= shortest:
                    is_exact |= is_equal(start, reference_start, size)
            columns = count_space + ((text - reference_count) * rows + row) * row_bytes
            store_int(columns, SEGMENTS, 1)
            store_int(columns, EMPTY, size == 0)
            store_int(columns, EXACT, is_exact)


@compiled
def count_f1_rows(texts, times, counts):
    """Counts common words; `times` has a count for each number, 0 before and after."""
    for row in range(texts.rows):
        number_texts(row, texts, False)
        fewest = 0  # the fewest words of a reference that counts
        for reference in range(texts.reference_count):
            if length_of(texts.bounds, reference) > 0:
                fewest = 1
        for text in range(texts.reference_count, texts.texts):
            words = length_of(texts.bounds, text)
            columns = columns_of(counts, texts, row, text)
            store_int(columns, SEGMENTS, 1)
            store_int(columns, EMPTY, words == 0)
            best = -1.0
            for reference in range(texts.reference_count):
                reference_words = length_of(texts.bounds, reference)
                if is_missing(texts, row, reference) or reference_words < fewest:
                    continue
                numbers = numbers_of(texts, text), numbers_of(texts, reference)
                common = count_common(numbers[0], words, numbers[1], reference_words, times)
                f1 = f1_of(common, words, reference_words)
                if f1 > best:  # of equally good references, the first
                    best = f1
                    store_int(columns, REFERENCE_LENGTH, reference_words)
                    store_int(columns, COMMON, common)
            high, low = fixed_point(best)
            store_int(columns, CANDIDATE_LENGTH, words)
            store_int(columns, F1_HIGH, high)
            store_int(columns, F1_LOW, low)
