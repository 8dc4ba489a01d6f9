"""The kernel: from columns of text to the columns of BLEU of every segment."""

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.bleu.columns import width
from beam_bleu.transforms.metrics.bleu.count_long_row import entry_for_long_rows
from beam_bleu.transforms.metrics.bleu.count_rows import MOST_WRITTEN, count_rows
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.kept_memory import KeptMemory, Memory
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.native.text_sizes import TextSizes
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.ngrams import NUMBERS_BYTES, SPARE_NUMBERS
from beam_bleu.transforms.text.hashing import SLOT_BYTES, new_seed
from beam_bleu.transforms.text.numbering import (
    INDEX_SLOT_BYTES,
    VOCABULARY_BYTES,
    most_different,
    most_index_bits,
)
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.token_masks import KEYS_BYTES
from beam_bleu.transforms.text.tokenization import SPARE_TOKENS, TOKENS_IN_CACHE
from beam_bleu.transforms.text.tokens import TOKEN_BYTES

_FIRST_TABLE_BITS = 10

_BOUND_BYTES = 8

_SEED = new_seed()

_MEMORY = KeptMemory()


def count(
    max_order: int, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text
) -> Integers:
    """The columns of each segment, as `Metric.count` gives them.

    Args:
      max_order: the largest n-gram order, N.
      spans: as there.
      sizes: as there.
      batch: as there.
      text: as there.
    """
    texts, rows = spans.starts.shape
    systems = len(batch.candidates)
    reference_count = texts - systems
    counts = np.empty((systems, rows, width(max_order)), np.int64)
    if not rows:
        return counts
    longest = sizes.longest
    memory = _memory(texts, longest)
    rule = rule_of(text.tokenize)
    bits, long_row = _FIRST_TABLE_BITS, 0
    row = 0
    while True:
        table = _MEMORY.memory_for("table", (2**bits + 1) * SLOT_BYTES)
        spaces = (*(part.address for part in memory), table.address)
        row, needed_bits = count_rows(
            row,
            spans.both,
            reference_count,
            rule,
            spaces,
            table.size,
            counts,
            long_row,
            _SEED,
        )
        if row == rows:
            return counts
        if needed_bits:
            bits = needed_bits
        else:
            long_row = entry_for_long_rows(spaces, _SEED)


def _memory(texts: int, longest: int) -> list[Memory]:
    """The memory that `count_rows` needs beside its table.

    Args:
      texts: the number of texts of a segment.
      longest: the most bytes of all texts of a segment.
    """
    # At most one token per byte, and a gap after each text. Unused pages cost nothing.
    most_tokens = max(min(longest, MOST_WRITTEN) + texts + SPARE_TOKENS, TOKENS_IN_CACHE)
    return [
        _MEMORY.memory_for("tokens", most_tokens * TOKEN_BYTES),
        _MEMORY.memory_for("numbers", (longest + texts + SPARE_NUMBERS) * NUMBERS_BYTES),
        _MEMORY.memory_for("different tokens", most_different(longest) * TOKEN_BYTES),
        _MEMORY.memory_for("index", INDEX_SLOT_BYTES << most_index_bits(longest)),
        _MEMORY.memory_for("vocabulary", VOCABULARY_BYTES),
        _MEMORY.memory_for("bounds", (texts + 1) * _BOUND_BYTES),
        _MEMORY.memory_for("keys", KEYS_BYTES),
    ]
