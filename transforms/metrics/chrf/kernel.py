"""The kernel of chrF: makes the columns of chrF of every segment from columns of text.

Each token is a number with a row: the set of the positions where the reference has it. Matches are
counted by shifts and ands of these sets, as in the kernel of BLEU. For references of up to 512
tokens, a set has one to eight words. Longer ones, and those of segments with very many different
tokens, are counted by the numbers of their n-grams (statistics/ngrams.py).

`rows` is the address of the row of number 0. All rows are 0 before a reference is entered, and
after it is left. `number` and `end` are the addresses of the numbers of a text and of their end.
`matches` has an int64 for each order of the first candidate, `stride` bytes before the next one's.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from beam_bleu.transforms.metrics.chrf.metric import FIRST_NGRAMS, ChrfConfig, f_score
from beam_bleu.transforms.metrics.metric import EMPTY, SEGMENTS, ReadyTexts
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inlined, inner
from beam_bleu.transforms.native.lanes import (
    claim_positions,
    following_positions,
    no_positions,
    store_sizes,
)
from beam_bleu.transforms.native.memory import (
    KeptMemory,
    load_count,
    load_int,
    load_word,
    store_count,
    store_int,
    store_word,
)
from beam_bleu.transforms.statistics.ngrams import NUMBERS_BYTES, SPARE_NUMBERS, match_long_segment
from beam_bleu.transforms.text.numbered_texts import (
    columns_of,
    is_missing,
    number_characters,
    number_texts,
    numbers_of,
)
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of, most_different
from beam_bleu.transforms.text.tokenization import CHRF_WORDS
from beam_bleu.transforms.text.tokens import SLOT_BYTES, table_bits

LONGEST_REFERENCE = 512
MOST_NUMBERS = 2**16  # others have no row, so the memory for rows does not depend on the texts
_POSITIONS, _WORD_BYTES = 64, 8
_FEW_ORDERS, _USUAL_ORDERS, _MANY_ORDERS = 4, 8, 16
_NOTHING, _ONE = np.uint64(0), np.uint64(1)


@inner
def enter_reference(number, end, rows, row_bytes):
    position = 0
    while number < end:
        word = rows + load_count(number) * row_bytes + (position >> 6) * _WORD_BYTES
        store_word(word, load_word(word) | _ONE << np.uint64(position & (_POSITIONS - 1)))
        position += 1
        number += NUMBER_BYTES


@inner
def leave_reference(number, end, rows, row_bytes):
    while number < end:
        row = rows + load_count(number) * row_bytes
        row_end = row + row_bytes
        while row < row_end:
            store_word(row, _NOTHING)
            row += _WORD_BYTES
        number += NUMBER_BYTES


def _matching(most_orders: int, words: int) -> Any:
    none = no_positions(most_orders, words)

    @inner
    def match(number, end, rows, matches, orders):
        grams = claimed = none()
        while number < end:
            grams = following_positions(grams, rows + load_count(number) * (words * _WORD_BYTES))
            claimed = claim_positions(claimed, grams)
            number += NUMBER_BYTES
        store_sizes(matches, claimed, orders)

    return match


_match_few_1, _match_few_8 = (_matching(_FEW_ORDERS, words) for words in (1, 8))
_match_usual_1, _match_usual_2, _match_usual_3, _match_usual_4, _match_usual_8 = (
    _matching(_USUAL_ORDERS, words) for words in (1, 2, 3, 4, 8)
)
_match_many = _matching(_MANY_ORDERS, 8)


@inner
def words_of_row(tokens, orders):
    words = max((tokens + _POSITIONS - 1) // _POSITIONS, 1)
    if orders > _USUAL_ORDERS:
        return 8
    if orders <= _FEW_ORDERS:
        return 1 if words == 1 else 8
    return words if words <= 4 else 8


@inner
def match_reference(reference, texts, orders, rows, matches, stride):
    """Writes the matches in a reference of at most LONGEST_REFERENCE tokens, below MOST_NUMBERS."""
    tokens = length_of(texts.bounds, reference)
    first = numbers_of(texts, reference)
    last = first + tokens * NUMBER_BYTES
    words = words_of_row(tokens, orders)
    enter_reference(first, last, rows, words * _WORD_BYTES)
    for text in range(texts.reference_count, texts.texts):
        number = numbers_of(texts, text)
        end = number + length_of(texts.bounds, text) * NUMBER_BYTES
        if orders > _USUAL_ORDERS:
            _match_many(number, end, rows, matches, orders)
        elif orders <= _FEW_ORDERS:
            if words == 1:
                _match_few_1(number, end, rows, matches, orders)
            else:
                _match_few_8(number, end, rows, matches, orders)
        elif words == 1:
            _match_usual_1(number, end, rows, matches, orders)
        elif words == 2:
            _match_usual_2(number, end, rows, matches, orders)
        elif words == 3:
            _match_usual_3(number, end, rows, matches, orders)
        elif words == 4:
            _match_usual_4(number, end, rows, matches, orders)
        else:
            _match_usual_8(number, end, rows, matches, orders)
        matches += stride
    leave_reference(first, last, rows, words * _WORD_BYTES)


@inner
def match_long_reference(reference, texts, of_reference, orders, digits, table, matches, stride):
    """Writes the matches in any reference. `of_reference` is like `texts`, but has only this
    reference and the candidates, with new numbers: `digits`, by the old ones, 0 before and after.
    """
    first = numbers_of(texts, reference)
    end = first + length_of(texts.bounds, reference) * NUMBER_BYTES
    known = 0
    number, place = first, of_reference.numbers
    while number < end:
        digit = digits + load_count(number) * NUMBER_BYTES
        if load_count(digit) == 0:
            known += 1
            store_count(digit, known)
        store_count(place, load_count(digit))
        number += NUMBER_BYTES
        place += NUMBER_BYTES
    store_int(of_reference.bounds, 0, 0)
    for text in range(texts.reference_count, texts.texts):
        place += NUMBER_BYTES  # the gap
        bound = (place - of_reference.numbers) // NUMBER_BYTES
        store_int(of_reference.bounds, text - texts.reference_count + 1, bound)
        number = numbers_of(texts, text)
        end_of_text = number + length_of(texts.bounds, text) * NUMBER_BYTES
        while number < end_of_text:
            digit = load_count(digits + load_count(number) * NUMBER_BYTES)
            store_count(place, digit if digit != 0 else known + 1)
            number += NUMBER_BYTES
            place += NUMBER_BYTES
    bound = (place - of_reference.numbers) // NUMBER_BYTES + 1
    store_int(of_reference.bounds, of_reference.texts, bound)
    number = first
    while number < end:
        store_count(digits + load_count(number) * NUMBER_BYTES, 0)
        number += NUMBER_BYTES
    match_long_segment(of_reference, orders, known, table, matches, stride)


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
        _MEMORY.zeros_for("rows", MOST_NUMBERS * LONGEST_REFERENCE // _POSITIONS * _WORD_BYTES),
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
    """Writes the matches in one reference; tokens of candidates above `known` have known + 1."""
    rows, digits, table = spaces
    if length_of(texts.bounds, reference) <= LONGEST_REFERENCE and known + 1 < MOST_NUMBERS:
        match_reference(reference, texts, orders, rows, matches, stride)
    else:
        match_long_reference(reference, texts, of_reference, orders, digits, table, matches, stride)


@inlined
def _copy_counts(hyp_ngrams, ref_ngrams, matches, first, orders, candidate, reference, matched):
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
    """Counts all rows. `choices` are beta and `eps_smoothing`, by which the best reference is
    chosen; `spaces` are the addresses of matches, rows, digits and a table. `of_pair`, int64
    (3, orders), and `best_scores`, float64 (systems,), are overwritten.
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
                _match(
                    *(reference, texts_of_words, of_reference, known_words, word_order, space),
                    *(matched + char_order * 8, stride),
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
