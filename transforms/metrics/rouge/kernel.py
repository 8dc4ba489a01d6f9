"""The kernel of ROUGE: makes the columns of one of its metrics for every segment from texts.

The rules are those of rouge_score's `RougeScorer`: precision is the hits divided by the number of
words, or of pairs of words, in the candidate; recall by that in the reference; or by 1, if there
are none. Of several references, the first one with the largest F counts (`score_multi`).
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import threading

import pyarrow.compute as pc

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.metric import EMPTY, SEGMENTS, ReadyTexts
from beam_bleu.transforms.metrics.rouge.matching import (
    count_common_pairs,
    count_longest_common,
    count_union,
    is_unread,
    memory_bytes,
    write_sentences,
)
from beam_bleu.transforms.metrics.rouge.metric import (
    CANDIDATE_LENGTH,
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
    Rouge,
)
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inlined
from beam_bleu.transforms.native.fixed_point import fixed_point
from beam_bleu.transforms.native.memory import (
    MOST_KEPT,
    KeptMemory,
    Memory,
    copy,
    load_byte,
    load_int,
    store_byte,
    store_int,
)
from beam_bleu.transforms.native.text_columns import Spans, TextSizes
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import segment_name
from beam_bleu.transforms.text.numbered_texts import (
    columns_of,
    count_common,
    is_missing,
    number_texts,
)
from beam_bleu.transforms.text.numbering import MASK_BYTES, NUMBER_BYTES, length_of, most_different

# The most lines of a reference times bytes of a candidate that are compared: half a minute.
MOST_COMPARED = 2**31
_INT_BYTES = 8
_MEMORY = KeptMemory()


class _LastWords(threading.local):
    """The texts that a thread counted last, and their words, which all metrics of ROUGE share."""

    spans: Spans | None = None
    memory: tuple[Memory, ...] = ()


_LAST = _LastWords()


def write_counts(metric: Rouge, texts: ReadyTexts, counts: Integers) -> None:
    sizes = texts.sizes
    if metric.HIT == UNION:
        _require_comparable(sizes, texts.batch)
    numbered, _memory = texts.numbered(_MEMORY)
    rows, row_texts = numbered.rows, numbered.texts
    written = _LAST.memory
    if _LAST.spans is not texts.spans:
        _LAST.spans = None
        size = int(sizes.candidate_bytes.sum() + sizes.reference_bytes.sum())
        written = (
            _MEMORY.memory_for("bounds of rows", rows * (row_texts + 1) * _INT_BYTES),
            _MEMORY.memory_for("places", rows * _INT_BYTES),
            # At most one word for two bytes of a text, or one more, and a gap after each text.
            _MEMORY.memory_for(
                "numbers of rows", (size // 2 + 2 * row_texts * rows) * NUMBER_BYTES
            ),
            _MEMORY.memory_for("unread", rows),
        )
        number_words(numbered, tuple(space.address for space in written))
        if sum(space.size for space in written) <= MOST_KEPT:
            _LAST.spans, _LAST.memory = texts.spans, written
    most_words = sizes.longest // 2 + row_texts
    different = most_different(sizes.longest) + 2  # words that no reference has share a number
    sentences = (sizes.longest + 2) * _INT_BYTES if metric.HIT == UNION else 0
    spaces = (
        _MEMORY.zeros_for("times", different * NUMBER_BYTES),
        _MEMORY.zeros_for("masks", different * MASK_BYTES),
        _MEMORY.memory_for("before", most_words),
        _MEMORY.zeros_for("marks", most_words),
        _MEMORY.memory_for("sentences", sentences),
        _MEMORY.memory_for("sentences of a reference", sentences),
        _MEMORY.memory_for("rows", memory_bytes(most_words) if metric.HIT == UNION else 0),
    )
    count_rows(
        numbered,
        metric.HIT,
        tuple(space.address for space in written),
        tuple(space.address for space in spaces),
        counts,
    )


def _require_comparable(sizes: TextSizes, batch: SegmentBatch) -> None:
    if (sizes.longest // 2) ** 2 <= MOST_COMPARED:  # a line has at least one byte
        return
    for reference in batch.references:
        lines = pc.count_substring(reference, "\n").fill_null(0).to_numpy() + 1
        compared = (sizes.candidate_bytes * lines).max(axis=0)
        row = int(compared.argmax())
        if compared[row] > MOST_COMPARED:
            raise InputError(
                f"{segment_name(batch, row)} has a reference of {lines[row]} lines and a candidate "
                f"of {sizes.candidate_bytes[:, row].max()} bytes, too many for ROUGE-Lsum: the "
                f"product must be at most {MOST_COMPARED}",
                "score long documents by rougeL, or divide them into segments",
            )


@compiled
def number_words(texts, written):
    """Numbers the words of all texts, equal words of a segment equally, from 1 on. `written` has
    addresses: of the bounds of each row; of int64 for its numbers' places; of the numbers; and of a
    byte for each row: whether ROUGE ignores most of its references.
    """
    bounds, places, numbers, unread = written
    bound_bytes = (texts.texts + 1) * 8
    place = 0
    for row in range(texts.rows):
        number_texts(row, texts, False)
        store_int(places, row, place)
        size = load_int(texts.bounds, texts.texts)
        copy(numbers + place * NUMBER_BYTES, texts.numbers, size * NUMBER_BYTES)
        copy(bounds + row * bound_bytes, texts.bounds, bound_bytes)
        place += size
        store_byte(unread + row, is_unread(row, texts))


@inlined
def f_of(precision, recall):
    if precision + recall > 0:
        return 2 * precision * recall / (precision + recall)
    return 0.0


@inlined
def _store_value(columns, place, value):
    high, low = fixed_point(value)
    store_int(columns, place, high)
    store_int(columns, place + 1, low)


@compiled
def count_rows(texts, hit, words, spaces, counts):
    """Counts all rows. `words` are the addresses of what `number_words` has written."""
    bounds, places, all_numbers, unread = words
    times, masks, before, marks, sentences, reference_sentences, table = spaces
    several = of_candidate = of_reference = 1  # sentences; only those of ROUGE-Lsum count
    fewer = 1 if hit == PAIRS else 0  # a text has one pair less than words
    for row in range(texts.rows):
        numbers = all_numbers + load_int(places, row) * NUMBER_BYTES
        for text in range(texts.reference_count, texts.texts):
            candidate = numbers + load_int(bounds, text) * NUMBER_BYTES
            length = length_of(bounds, text)
            if hit == UNION:
                of_candidate, several_of_candidate = write_sentences(
                    row, texts, bounds, text, sentences
                )
            columns = columns_of(counts, texts, row, text)
            best = -1.0
            for number in range(texts.reference_count):
                if is_missing(texts, row, number):
                    continue
                reference = numbers + load_int(bounds, number) * NUMBER_BYTES
                of_length = length_of(bounds, number)
                if hit == UNION:
                    of_reference, several = write_sentences(
                        row, texts, bounds, number, reference_sentences
                    )
                    several = max(several, several_of_candidate)
                both = (candidate, length, reference, of_length)
                if hit == WORDS:
                    hits = count_common(*both, times)
                elif hit == PAIRS:
                    hits = count_common_pairs(*both, masks, before)
                elif several <= 1:  # the union of one subsequence is the subsequence
                    hits = count_longest_common(*both, masks, before)
                else:
                    hits = count_union(
                        *(sentences, of_candidate, reference_sentences, of_reference, numbers),
                        *(times, masks, before, marks, table),
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
        bounds += (texts.texts + 1) * 8
