"""Compiled code: the columns of the rows of a batch."""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.metrics.ter.columns import (
    CANDIDATE_LENGTH,
    EDITS,
    EMPTY,
    PARTS_OF_A_WORD,
    REFERENCE_LENGTH,
    REFERENCE_PARTS,
)
from beam_bleu.transforms.metrics.ter.edits import count_edits, memory_bytes
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import address_of, copy, load_int, store_int
from beam_bleu.transforms.text.numbered_texts import number_segment
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of


@inner
def _bytes_of_row(bounds, reference_count, texts):
    """The memory that the edits of a segment need: for the words of a candidate, and its edits."""
    needed = 0
    for text in range(reference_count, texts):
        words = max(1, length_of(bounds, text))
        for reference in range(reference_count):
            of_pair = memory_bytes(words, max(1, length_of(bounds, reference)))
            needed = max(needed, words * NUMBER_BYTES + of_pair)
    return needed


@compiled
def count_rows(first_row, spans, reference_count, rule, spaces, edit_bytes, counts, seed):
    """Counts rows from `first_row` on, until one needs more memory.

    Args:
      first_row: the first row.
      spans: the arrays of `Spans` of all texts; references come first.
      reference_count: the number of references.
      rule: how texts are split (see tokenization.py).
      spaces: the addresses of memory: for tokens, bounds, numbers, the vocabulary, different tokens
        and their index (see `number_segment`), and for edits.
      edit_bytes: the size of the last one.
      counts: int64 (systems, rows, W), for the columns (columns.py).
      seed: the process's secret (see hashing.py).

    Returns:
      (rows done, the memory for the edits of the next row)
    """
    starts, ends = spans
    texts, rows = starts.shape
    row_bytes = counts.shape[2] * 8
    token_space, bounds, numbers, vocabulary, kept, index, memory = spaces
    count_space = address_of(counts)
    start_space, end_space = address_of(starts), address_of(ends)
    for row in range(first_row, rows):
        known = number_segment(
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
        needed = _bytes_of_row(bounds, reference_count, texts)
        if needed > edit_bytes:
            return row, needed
        length = count = 0  # of the references that are not missing
        for reference in range(reference_count):
            if load_int(start_space, reference * rows + row) != 0:
                length += length_of(bounds, reference)
                count += 1
        for text in range(reference_count, texts):
            words = length_of(bounds, text)
            candidate = numbers + load_int(bounds, text) * NUMBER_BYTES
            fewest = -1
            for reference in range(reference_count):
                if load_int(start_space, reference * rows + row) == 0:
                    continue
                # The edits move the words.
                copy(memory, candidate, words * NUMBER_BYTES)
                edits = count_edits(
                    memory,
                    words,
                    numbers + load_int(bounds, reference) * NUMBER_BYTES,
                    length_of(bounds, reference),
                    known + 1,
                    memory + words * NUMBER_BYTES,
                )
                if fewest < 0 or edits < fewest:
                    fewest = edits
            columns = count_space + ((text - reference_count) * rows + row) * row_bytes
            store_int(columns, SEGMENTS, 1)
            store_int(columns, EMPTY, words == 0)
            store_int(columns, CANDIDATE_LENGTH, words)
            store_int(columns, EDITS, fewest)
            store_int(columns, REFERENCE_LENGTH, length // count)
            store_int(columns, REFERENCE_PARTS, length % count * PARTS_OF_A_WORD // count)
    return rows, 0
