"""The kernel: from columns of text to the columns of chrF of every segment.

The characters and words of all texts of a segment become numbers once. Then each reference is
matched with each candidate, and for each candidate the columns of the reference with the best score
are kept.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.chrf.matching import (
    LONGEST_REFERENCE,
    MOST_NUMBERS,
    ROWS_BYTES,
    match_long_reference,
    match_reference,
)
from beam_bleu.transforms.metrics.chrf.metric import FIRST_NGRAMS, ChrfConfig, f_score
from beam_bleu.transforms.metrics.metric import EMPTY, SEGMENTS, ReadyTexts
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inlined, inner
from beam_bleu.transforms.native.memory import KeptMemory, load_int, store_int
from beam_bleu.transforms.statistics.ngrams import NUMBERS_BYTES, SPARE_NUMBERS
from beam_bleu.transforms.text.characters import number_characters
from beam_bleu.transforms.text.hashing import SLOT_BYTES, table_bits
from beam_bleu.transforms.text.numbered_texts import columns_of, is_missing, number_texts
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of, most_different
from beam_bleu.transforms.text.tokenization import CHRF_WORDS

_INT_BYTES = 8

_MEMORY, _MEMORY_OF_WORDS = KeptMemory(), KeptMemory()


def write_counts(metric: ChrfConfig, texts: ReadyTexts, counts: Integers) -> None:
    systems, orders, longest = len(counts), metric.orders, texts.sizes.longest
    (characters, _memory), (words, _memory_of_words) = (
        texts.numbered(kept, whitespace=metric.whitespace) for kept in (_MEMORY, _MEMORY_OF_WORDS)
    )
    entries = int(texts.sizes.reference_bytes.max(initial=0)) + 1
    spaces = (
        _MEMORY.memory_for("matches", systems * orders * _INT_BYTES),
        _MEMORY.zeros_for("rows", ROWS_BYTES),
        _MEMORY.zeros_for("digits", (most_different(longest) + 2) * NUMBER_BYTES),
        _MEMORY.memory_for("table", (2 ** table_bits(entries) + 1) * SLOT_BYTES),
    )
    bounds = _MEMORY.memory_for("bounds of a reference", (systems + 2) * _INT_BYTES)
    numbers = _MEMORY.memory_for(
        "numbers of a reference", (longest + systems + 1 + SPARE_NUMBERS) * NUMBERS_BYTES
    )
    count_rows(
        characters,
        words._replace(rule=CHRF_WORDS),
        characters._replace(
            texts=systems + 1, reference_count=1, bounds=bounds.address, numbers=numbers.address
        ),
        (metric.char_order, metric.word_order),
        (metric.beta, metric.eps_smoothing),
        tuple(space.address for space in spaces),
        np.empty((3, orders), np.int64),
        np.empty(systems),
        counts,
    )


@inner
def _match(reference, texts, of_reference, known, orders, spaces, matches, stride):
    """Writes the matches of every candidate in one reference; see the two functions it calls.

    `known` is the largest number of a token of the references; other tokens have the next one.
    """
    rows, digits, table = spaces
    if length_of(texts.bounds, reference) <= LONGEST_REFERENCE and known + 1 < MOST_NUMBERS:
        match_reference(reference, texts, orders, rows, matches, stride)
    else:
        match_long_reference(reference, texts, of_reference, orders, digits, table, matches, stride)


@inlined
def _copy_counts(hyp_ngrams, ref_ngrams, matches, first, orders, candidate, reference, matched):
    """Writes the n-grams and matches of a candidate and a reference for each order.

    The first three arguments are int64 (N of all orders,), with the first order at `first`.
    `candidate` and `reference` are numbers of tokens, `matched` the address of the matches.
    """
    for n in range(orders):
        of_reference = max(reference - n, 0)
        ref_ngrams[first + n] = of_reference
        # sacreBLEU ignores the n-grams of a candidate if the reference has none.
        hyp_ngrams[first + n] = max(candidate - n, 0) if of_reference > 0 else 0
        matches[first + n] = load_int(matched, n)


@compiled
def count_rows(
    texts, texts_of_words, of_reference, most_orders, choices, spaces, of_pair, best_scores, counts
):
    """Counts all rows.

    Args:
      texts: the `NumberedTexts` of the batch, for characters; then for words.
      of_reference: the same for one reference and the candidates (see `match_long_reference`).
      most_orders: (the largest order of characters; that of words, or 0).
      choices: (beta, `eps_smoothing`), for the choice of the best reference.
      spaces: the addresses of memory: for matches, and what `match_reference` and
        `match_long_reference` need.
      of_pair: int64 (3, N of all orders), which is overwritten, like float64 (systems,) after it.
      counts: int64 (systems, rows, W), for the columns.
    """
    char_order, word_order = most_orders
    beta, eps_smoothing = choices
    orders = char_order + word_order
    matched, space = spaces[0], spaces[1:]
    hyp_ngrams, ref_ngrams, matches = of_pair[0], of_pair[1], of_pair[2]
    stride = orders * 8
    for row in range(texts.rows):
        known, known_words = number_characters(row, texts), 0
        if word_order > 0:
            known_words = number_texts(row, texts_of_words, False)
        for system in range(len(best_scores)):
            best_scores[system] = -1.0
        for reference in range(texts.reference_count):
            if is_missing(texts, row, reference):
                continue
            _match(reference, texts, of_reference, known, char_order, space, matched, stride)
            if word_order > 0:
                of_words = matched + char_order * 8
                _match(
                    reference,
                    texts_of_words,
                    of_reference,
                    known_words,
                    word_order,
                    space,
                    of_words,
                    stride,
                )
            for system in range(len(best_scores)):
                candidate, of_candidate = texts.reference_count + system, matched + system * stride
                characters = length_of(texts.bounds, candidate)
                _copy_counts(
                    *(hyp_ngrams, ref_ngrams, matches, 0, char_order),
                    *(characters, length_of(texts.bounds, reference), of_candidate),
                )
                if word_order > 0:
                    bounds = texts_of_words.bounds
                    _copy_counts(
                        *(hyp_ngrams, ref_ngrams, matches, char_order, word_order),
                        *(length_of(bounds, candidate), length_of(bounds, reference)),
                        of_candidate + char_order * 8,
                    )
                if texts.reference_count > 1:
                    score = f_score(hyp_ngrams, ref_ngrams, matches, beta, eps_smoothing)
                    if not score > best_scores[system]:  # of equally good ones, the first
                        continue
                    best_scores[system] = score
                columns = columns_of(counts, texts, row, candidate)
                store_int(columns, SEGMENTS, 1)
                store_int(columns, EMPTY, characters == 0)
                for n in range(orders):
                    store_int(columns, FIRST_NGRAMS + 3 * n, hyp_ngrams[n])
                    store_int(columns, FIRST_NGRAMS + 3 * n + 1, ref_ngrams[n])
                    store_int(columns, FIRST_NGRAMS + 3 * n + 2, matches[n])
