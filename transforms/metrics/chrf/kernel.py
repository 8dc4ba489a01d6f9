"""The kernel: from columns of text to the columns of chrF of every segment."""

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.chrf.count_rows import count_rows
from beam_bleu.transforms.metrics.chrf.matching import ROWS_BYTES
from beam_bleu.transforms.metrics.chrf.metric import Chrf
from beam_bleu.transforms.metrics.chrf.words import WORDS_IN_CACHE
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.kept_memory import KeptMemory
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.native.text_sizes import TextSizes
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.ngrams.long_matching import NUMBERS_BYTES
from beam_bleu.transforms.statistics.ngrams.long_slots import SPARE_NUMBERS
from beam_bleu.transforms.text.characters import CODE_POINTS_BYTES, counted_bytes
from beam_bleu.transforms.text.hashing import SLOT_BYTES, new_seed
from beam_bleu.transforms.text.numbering import (
    INDEX_SLOT_BYTES,
    NUMBER_BYTES,
    VOCABULARY_BYTES,
    most_different,
    most_index_bits,
)
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokens import TOKEN_BYTES

_FIRST_TABLE_BITS = 12
"""log2 of the number of slots of the table: enough for references that have sets of positions."""

_INT_BYTES = 8

_SEED = new_seed()

_MEMORY = KeptMemory()


def count(
    metric: Chrf, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text
) -> Integers:
    """The columns of each segment, as `Metric.count` gives them."""
    texts, rows = spans.starts.shape
    systems, orders = len(batch.candidates), metric.orders
    counts = np.empty((systems, rows, metric.basis.width), np.int64)
    if not rows:
        return counts
    longest = sizes.longest
    bounds = (texts + 1) * _INT_BYTES
    numbers = (longest + texts + SPARE_NUMBERS) * NUMBER_BYTES
    counted = counted_bytes(metric.whitespace)
    memory = [
        _MEMORY.zeros_for("numbers of code points", CODE_POINTS_BYTES),
        _MEMORY.memory_for("code points entered", numbers),
        _MEMORY.memory_for("characters", numbers),
        _MEMORY.memory_for("bounds of characters", bounds),
        _MEMORY.memory_for("tokens of words", WORDS_IN_CACHE * TOKEN_BYTES),
        _MEMORY.memory_for("vocabulary", VOCABULARY_BYTES),
        _MEMORY.memory_for("different words", most_different(longest) * TOKEN_BYTES),
        _MEMORY.memory_for("index", INDEX_SLOT_BYTES << most_index_bits(longest)),
        _MEMORY.memory_for("words", numbers),
        _MEMORY.memory_for("bounds of words", bounds),
        _MEMORY.memory_for("matches", systems * orders * _INT_BYTES),
        _MEMORY.zeros_for("rows", ROWS_BYTES),
        _MEMORY.zeros_for("digits", (most_different(longest) + 2) * NUMBER_BYTES),
        _MEMORY.memory_for("bounds of long texts", bounds),
        _MEMORY.memory_for(
            "numbers of long texts", (longest + texts + SPARE_NUMBERS) * NUMBERS_BYTES
        ),
    ]
    of_pair, best_scores = np.empty((3, orders), np.int64), np.empty(systems)
    row, bits = 0, _FIRST_TABLE_BITS
    while True:
        table = _MEMORY.memory_for("table", (2**bits + 1) * SLOT_BYTES)
        row, bits = count_rows(
            row,
            spans.both,
            texts - systems,
            metric.char_order,
            metric.word_order,
            metric.beta,
            metric.eps_smoothing,
            (counted.ctypes.data, *(part.address for part in memory), table.address),
            table.size,
            of_pair,
            best_scores,
            counts,
            _SEED,
        )
        if row == rows:
            return counts
