"""Compiled code: the columns of the rows of a batch.

The rules are those of rouge_score's `RougeScorer`: precision and recall are the hits for each word,
or pair of words, of the candidate and of the reference, at least one. Of several references, the
first one with the largest F counts (`score_multi`).
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.metrics.rouge.columns import (
    CANDIDATE_LENGTH,
    EMPTY,
    F_HIGH,
    HITS,
    PAIRS,
    PRECISION_HIGH,
    RECALL_HIGH,
    REFERENCE_LENGTH,
    SEVERAL,
    UNION,
    UNREAD,
    WORDS,
)
from beam_bleu.transforms.metrics.rouge.matching import (
    count_common_pairs,
    count_longest_common,
)
from beam_bleu.transforms.metrics.rouge.union import count_union
from beam_bleu.transforms.metrics.rouge.words import write_sentences
from beam_bleu.transforms.native.compiling import compiled, inlined
from beam_bleu.transforms.native.fixed_point import fixed_point
from beam_bleu.transforms.native.memory import address_of, load_byte, load_int, store_int
from beam_bleu.transforms.text.numbered_texts import count_common
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of


@inlined
def f_of(precision, recall):
    """The F-score, 0..1, with rouge_score's operations in their order."""
    if precision + recall > 0:
        return 2 * precision * recall / (precision + recall)
    return 0.0


@inlined
def _store_value(columns, place, value):
    """Writes a value from 0 to 1 to two columns, from this one on."""
    high, low = fixed_point(value)
    store_int(columns, place, high)
    store_int(columns, place + 1, low)


@compiled
def count_rows(spans, reference_count, hit, words, spaces, counts):
    """Counts all rows.

    Args:
      spans: the arrays of `Spans` of all texts; references come first.
      reference_count: the number of references.
      hit: WORDS, PAIRS, SUBSEQUENCE or UNION.
      words: the addresses of what `number_words` has written: the bounds of each row, the places of
        its numbers, the numbers, and whether it is not read.
      spaces: the addresses of memory: for a count and for a mask of each different word and one
        more, all 0 before and after; for a byte for each word; for the same, all 0 before and
        after; for the sentences of a candidate and of a reference (see `write_sentences`); and for
        rows (see union.py).
      counts: int64 (systems, rows, W), for the columns (columns.py).
    """
    starts, ends = spans
    texts, rows = starts.shape
    row_bytes = counts.shape[2] * 8
    bounds, places, all_numbers, unread = words
    times, masks, before, marks, sentences, reference_sentences, table = spaces
    count_space, start_space, end_space = address_of(counts), address_of(starts), address_of(ends)
    several = of_candidate = of_reference = 1  # sentences; only those of ROUGE-Lsum count
    fewer = 1 if hit == PAIRS else 0  # a text has one pair less than words
    for row in range(rows):
        numbers = all_numbers + load_int(places, row) * NUMBER_BYTES
        for text in range(reference_count, texts):
            candidate = numbers + load_int(bounds, text) * NUMBER_BYTES
            length = length_of(bounds, text)
            at = text * rows + row
            if hit == UNION:
                of_candidate, several_of_candidate = write_sentences(
                    load_int(start_space, at), load_int(end_space, at), bounds, text, sentences
                )
            columns = count_space + ((text - reference_count) * rows + row) * row_bytes
            best = -1.0
            for number in range(reference_count):
                at = number * rows + row
                start = load_int(start_space, at)
                if start == 0:
                    continue  # it is missing
                reference = numbers + load_int(bounds, number) * NUMBER_BYTES
                of_length = length_of(bounds, number)
                if hit == UNION:
                    of_reference, several = write_sentences(
                        start, load_int(end_space, at), bounds, number, reference_sentences
                    )
                    several = max(several, several_of_candidate)
                if hit == WORDS:
                    hits = count_common(candidate, length, reference, of_length, times)
                elif hit == PAIRS:
                    hits = count_common_pairs(
                        candidate, length, reference, of_length, masks, before
                    )
                elif several <= 1:  # the union of one subsequence is the subsequence
                    hits = count_longest_common(
                        candidate, length, reference, of_length, masks, before
                    )
                else:
                    hits = count_union(
                        sentences,
                        of_candidate,
                        reference_sentences,
                        of_reference,
                        numbers,
                        times,
                        masks,
                        before,
                        marks,
                        table,
                    )
                precision = hits / max(length - fewer, 1)
                recall = hits / max(of_length - fewer, 1)
                f = f_of(precision, recall)
                if f > best:  # of equally good references, the first
                    best = f
                    store_int(columns, REFERENCE_LENGTH, of_length)
                    store_int(columns, HITS, hits)
                    _store_value(columns, F_HIGH, f)
                    _store_value(columns, PRECISION_HIGH, precision)
                    _store_value(columns, RECALL_HIGH, recall)
                    if hit == UNION:
                        store_int(columns, SEVERAL, several > 1)
            store_int(columns, SEGMENTS, 1)
            store_int(columns, EMPTY, length == 0)
            store_int(columns, UNREAD, load_byte(unread + row))
            store_int(columns, CANDIDATE_LENGTH, length)
        bounds += (texts + 1) * 8
