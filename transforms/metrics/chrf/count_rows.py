"""Compiled code: the columns of the rows of a batch.

The characters and words of all texts of a segment become numbers once. Then each reference is
matched with each candidate, and for each candidate the columns of the reference with the best score
are kept.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.chrf.columns import EMPTY, FIRST_NGRAMS
from beam_bleu.transforms.metrics.chrf.formula import f_score
from beam_bleu.transforms.metrics.chrf.long_matching import match_long_reference
from beam_bleu.transforms.metrics.chrf.matching import (
    LONGEST_REFERENCE,
    MOST_NUMBERS,
    match_reference,
)
from beam_bleu.transforms.metrics.chrf.words import number_words
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.compiling import compiled, inlined, inner
from beam_bleu.transforms.native.memory import address_of, load_int, store_int
from beam_bleu.transforms.text.characters import number_characters
from beam_bleu.transforms.text.hashing import SLOT_BYTES, table_bits
from beam_bleu.transforms.text.numbering import (
    NUMBER,
    NUMBER_BYTES,
    begin_vocabulary,
    end_references,
    length_of,
)


@inner
def _number_words(
    starts,
    ends,
    row,
    rows,
    texts,
    reference_count,
    words,
    vocabulary,
    kept,
    index,
    numbers,
    bounds,
    seed,
):
    """Writes the numbers of the words of all texts of a segment, and their bounds.

    The arguments are those of `number_texts` in text/numbered_texts.py.

    Returns:
      The number of different words of the references.
    """
    size = known = 0
    for text in range(reference_count):
        size += load_int(ends, text * rows + row) - load_int(starts, text * rows + row)
    begin_vocabulary(vocabulary, kept, index, size, numbers, True)
    for text in range(texts):
        if text == reference_count:
            known = end_references(vocabulary)
        store_int(bounds, text, (load_int(vocabulary, NUMBER) - numbers) // NUMBER_BYTES)
        start, end = load_int(starts, text * rows + row), load_int(ends, text * rows + row)
        number_words(start, end, words, vocabulary, seed)
        # A gap after each text.
        store_int(vocabulary, NUMBER, load_int(vocabulary, NUMBER) + NUMBER_BYTES)
    store_int(bounds, texts, (load_int(vocabulary, NUMBER) - numbers) // NUMBER_BYTES)
    return known


@inner
def _match(
    reference,
    reference_count,
    texts,
    bounds,
    numbers,
    known,
    orders,
    rows,
    digits,
    long_bounds,
    long_numbers,
    table,
    matches,
    stride,
    seed,
):
    """Writes the matches of every candidate in one reference; see the two functions it calls.

    `known` is the largest number of a token of the references; other tokens have the next one.
    """
    if length_of(bounds, reference) <= LONGEST_REFERENCE and known + 1 < MOST_NUMBERS:
        match_reference(
            reference, reference_count, texts, bounds, numbers, orders, rows, matches, stride
        )
    else:
        match_long_reference(
            *(reference, reference_count, texts, bounds, numbers, orders),
            *(digits, long_bounds, long_numbers, table, matches, stride, seed),
        )


@inlined
def _copy_counts(hyp_ngrams, ref_ngrams, matches, first, orders, candidate, reference, matched):
    """Writes the n-grams and matches of a candidate and a reference, for each order.

    Args:
      hyp_ngrams: int64 (N of all orders,), for those of the candidate; so are the next two.
      ref_ngrams: for those of the reference.
      matches: for the matches.
      first: the place of the first order in these.
      orders: the number of orders.
      candidate: the number of tokens of the candidate.
      reference: that of the reference.
      matched: address of the matches of each order.
    """
    for n in range(orders):
        of_reference = max(reference - n, 0)
        ref_ngrams[first + n] = of_reference
        # sacreBLEU ignores the n-grams of a candidate if the reference has none.
        hyp_ngrams[first + n] = max(candidate - n, 0) if of_reference > 0 else 0
        matches[first + n] = load_int(matched, n)


@compiled
def count_rows(
    first_row,
    spans,
    reference_count,
    char_order,
    word_order,
    beta,
    eps_smoothing,
    spaces,
    table_bytes,
    of_pair,
    best_scores,
    counts,
    seed,
):
    """Counts rows from `first_row` on, until one needs a larger table.

    Args:
      first_row: the first row.
      spans: the arrays of `Spans` of all texts; references come first.
      reference_count: the number of references.
      char_order: the largest order of characters.
      word_order: the largest order of words, or 0.
      beta: the weight of the recall, for the choice of the best reference.
      eps_smoothing: whether all orders count for this choice.
      spaces: the addresses of memory (see kernel.py).
      table_bytes: the size of the hash table, which is the last one.
      of_pair: int64 (3, N of all orders), which is overwritten.
      best_scores: float64 (systems,), which is overwritten.
      counts: int64 (systems, rows, W), for the columns (columns.py).
      seed: the process's secret (see hashing.py).

    Returns:
      (rows done, log2 of the number of slots of the table for the next row)
    """
    starts, ends = spans
    texts, rows = starts.shape
    systems, orders = texts - reference_count, char_order + word_order
    (
        counted,
        code_points,
        entered,
        characters,
        char_bounds,
        word_tokens,
        vocabulary,
        kept,
        index,
        words,
        word_bounds,
        matched,
        set_rows,
        digits,
        long_bounds,
        long_numbers,
        table,
    ) = spaces
    hyp_ngrams, ref_ngrams, matches = of_pair[0], of_pair[1], of_pair[2]
    start_space, end_space, count_space = address_of(starts), address_of(ends), address_of(counts)
    row_bytes, stride = counts.shape[2] * 8, orders * 8
    for row in range(first_row, rows):
        known = number_characters(
            start_space,
            end_space,
            row,
            rows,
            texts,
            reference_count,
            counted,
            code_points,
            entered,
            characters,
            char_bounds,
        )
        longest = 0
        for reference in range(reference_count):
            longest = max(longest, length_of(char_bounds, reference))
        bits = table_bits(longest + 1)
        if ((1 << bits) + 1) * SLOT_BYTES > table_bytes:
            return row, bits
        known_words = 0
        if word_order > 0:
            known_words = _number_words(
                start_space,
                end_space,
                row,
                rows,
                texts,
                reference_count,
                word_tokens,
                vocabulary,
                kept,
                index,
                words,
                word_bounds,
                seed,
            )
        for system in range(systems):
            best_scores[system] = -1.0
        for reference in range(reference_count):
            if load_int(start_space, reference * rows + row) == 0:
                continue  # it is missing
            _match(
                *(reference, reference_count, texts, char_bounds, characters, known, char_order),
                *(set_rows, digits, long_bounds, long_numbers, table, matched, stride, seed),
            )
            if word_order > 0:
                _match(
                    *(reference, reference_count, texts, word_bounds, words),
                    *(known_words, word_order),
                    *(set_rows, digits, long_bounds, long_numbers, table),
                    *(matched + char_order * 8, stride, seed),
                )
            for system in range(systems):
                candidate, of_candidate = reference_count + system, matched + system * stride
                characters_of = length_of(char_bounds, candidate)
                _copy_counts(
                    *(hyp_ngrams, ref_ngrams, matches, 0, char_order),
                    *(characters_of, length_of(char_bounds, reference), of_candidate),
                )
                if word_order > 0:
                    _copy_counts(
                        *(hyp_ngrams, ref_ngrams, matches, char_order, word_order),
                        *(length_of(word_bounds, candidate), length_of(word_bounds, reference)),
                        of_candidate + char_order * 8,
                    )
                if reference_count > 1:
                    score = f_score(hyp_ngrams, ref_ngrams, matches, beta, eps_smoothing)
                    if not score > best_scores[system]:  # of equally good ones, the first
                        continue
                    best_scores[system] = score
                columns = count_space + (system * rows + row) * row_bytes
                store_int(columns, SEGMENTS, 1)
                store_int(columns, EMPTY, characters_of == 0)
                for n in range(orders):
                    store_int(columns, FIRST_NGRAMS + 3 * n, hyp_ngrams[n])
                    store_int(columns, FIRST_NGRAMS + 3 * n + 1, ref_ngrams[n])
                    store_int(columns, FIRST_NGRAMS + 3 * n + 2, matches[n])
    return rows, 0
