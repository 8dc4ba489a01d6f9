"""Compiled code: the columns of the rows of a batch, whose texts are in SQuAD's normal form.

The rules are those of `compute_exact` and `compute_f1` of SQuAD's evaluate-v2.0.py, and of its
`get_raw_scores` for several references: those without a word count only if no reference has one.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.metrics.squad.columns import (
    CANDIDATE_LENGTH,
    COMMON,
    EMPTY,
    EXACT,
    F1_HIGH,
    F1_LOW,
    REFERENCE_LENGTH,
)
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.fixed_point import fixed_point
from beam_bleu.transforms.native.memory import (
    address_of,
    is_equal,
    load_int,
    store_int,
)
from beam_bleu.transforms.text.numbered_texts import count_common, number_segment
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of


@inner
def f1_of(common, words, reference_words):
    """The F1 of a candidate by one reference, 0..1, with SQuAD's operations in their order."""
    if words == 0 or reference_words == 0:
        return 1.0 if words == reference_words else 0.0
    if common == 0:
        return 0.0
    precision = common / words
    recall = common / reference_words
    return (2 * precision * recall) / (precision + recall)


@compiled
def count_exact_rows(spans, reference_count, counts):
    """Counts exact matches in all rows of a batch. Equal words are equal texts in normal form.

    Args:
      spans: the arrays of `Spans` of all texts; references come first.
      reference_count: the number of references.
      counts: int64 (systems, rows, W), for the columns of exact match.
    """
    starts, ends = spans
    texts, rows = starts.shape
    row_bytes = counts.shape[2] * 8
    count_space = address_of(counts)
    start_space, end_space = address_of(starts), address_of(ends)
    for row in range(rows):
        shortest = 0  # a reference that counts
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
def count_f1_rows(spans, reference_count, rule, spaces, counts, seed):
    """Counts words in common in all rows of a batch.

    Args:
      spans: the arrays of `Spans` of all texts; references come first.
      reference_count: the number of references.
      rule: how texts are split (see tokenization.py).
      spaces: the addresses of memory: for tokens, bounds, numbers, the vocabulary, different tokens
        and their index (see `number_segment`), and for a count of each number, all 0 before and
        after.
      counts: int64 (systems, rows, W), for the columns of token F1.
      seed: the process's secret (see hashing.py).
    """
    starts, ends = spans
    texts, rows = starts.shape
    row_bytes = counts.shape[2] * 8
    token_space, bounds, numbers, vocabulary, kept, index, times = spaces
    count_space = address_of(counts)
    start_space, end_space = address_of(starts), address_of(ends)
    for row in range(rows):
        number_segment(
            start_space,
            end_space,
            row,
            rows,
            texts,
            reference_count,
            rule,
            token_space,
            bounds,
            numbers,
            vocabulary,
            kept,
            index,
            seed,
        )
        fewest = 0  # words with which a reference counts
        for reference in range(reference_count):
            if length_of(bounds, reference) > 0:
                fewest = 1
        for text in range(reference_count, texts):
            words = length_of(bounds, text)
            candidate = numbers + load_int(bounds, text) * NUMBER_BYTES
            columns = count_space + ((text - reference_count) * rows + row) * row_bytes
            store_int(columns, SEGMENTS, 1)
            store_int(columns, EMPTY, words == 0)
            best = -1.0
            for reference in range(reference_count):
                is_missing = load_int(start_space, reference * rows + row) == 0
                reference_words = length_of(bounds, reference)
                if is_missing or reference_words < fewest:
                    continue
                reference_numbers = numbers + load_int(bounds, reference) * NUMBER_BYTES
                common = count_common(candidate, words, reference_numbers, reference_words, times)
                f1 = f1_of(common, words, reference_words)
                if f1 > best:  # of equally good references, the first
                    best = f1
                    store_int(columns, REFERENCE_LENGTH, reference_words)
                    store_int(columns, COMMON, common)
            high, low = fixed_point(best)
            store_int(columns, CANDIDATE_LENGTH, words)
            store_int(columns, F1_HIGH, high)
            store_int(columns, F1_LOW, low)
