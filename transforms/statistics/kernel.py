"""The statistics kernel: from columns of text to the integers of every segment.

`count_batch` is the function that other rooms call. Its compiled code releases the
interpreter's lock, so several threads can run it at the same time.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.definition.columns import width
from beam_bleu.transforms.definition.text import Text
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.columns import Spans, TextColumns, padded
from beam_bleu.transforms.native.kept_memory import KeptMemory
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.count_rows import MOST_WRITTEN, count_rows
from beam_bleu.transforms.statistics.hashing import new_seed
from beam_bleu.transforms.statistics.long_matching import NUMBERS_BYTES
from beam_bleu.transforms.statistics.long_numbering import (
    INDEX_SLOT_BYTES,
    VOCABULARY_BYTES,
    most_different,
    most_index_bits,
)
from beam_bleu.transforms.statistics.long_slots import SPARE_NUMBERS
from beam_bleu.transforms.statistics.long_tables import SLOT_BYTES
from beam_bleu.transforms.statistics.matching import KEYS_BYTES
from beam_bleu.transforms.statistics.signs import find_signs
from beam_bleu.transforms.statistics.sizes import TextSizes, find_sizes
from beam_bleu.transforms.statistics.splitting import rule_of, splittable
from beam_bleu.transforms.statistics.tokenization import SPARE_TOKENS, TOKENS_IN_CACHE
from beam_bleu.transforms.statistics.tokens import TOKEN_BYTES

_MOST_BYTES = 2**31 - 1
"""The most bytes of all texts of a segment: positions and slots of tokens have 32 bits."""

_FIRST_TABLE_BITS = 10

_BOUND_BYTES = 8

_SEED = new_seed()

_MEMORY = KeptMemory()


def count_batch(batch: SegmentBatch, text: Text, max_order: int) -> BatchStatistics:
    """Counts every segment of a batch, for every system.

    Args:
      batch: the segments; each has at least one reference.
      text: the steps from a text to its tokens.
      max_order: the largest n-gram order to count.

    Raises:
      InputError: a segment has no reference, or 2 GiB of text or more, or the tokenizer
        cannot tokenize it.
    """
    reference_count = len(batch.references)
    texts = TextColumns(padded(column) for column in (*batch.references, *batch.candidates))
    sizes = find_sizes(texts.spans, reference_count)
    if sizes.bare_row >= 0:
        raise InputError(
            f"{segment_name(batch, sizes.bare_row)} has no reference",
            "give every segment one or more references (an empty string is one)",
        )
    # Of the original texts.
    signs = find_signs(texts.spans, reference_count, batch.references_per_line)
    changed, changed_sizes = splittable(texts, text), sizes
    if changed is not texts:
        changed_sizes = find_sizes(changed.spans, reference_count)
    return BatchStatistics(
        counts=_count(changed.spans, changed_sizes, batch, text, max_order),
        reference_counts=sizes.reference_counts,
        candidate_bytes=sizes.candidate_bytes,
        reference_bytes=sizes.reference_bytes,
        signs=signs,
        systems=batch.systems,
        numbers=batch.numbers,
        groups=batch.groups,
        labels=batch.labels,
    )


def segment_name(batch: SegmentBatch, row: int) -> str:
    """The name of a segment for messages. Numbers begin with 1, like lines in editors."""
    return "a segment" if batch.numbers is None else f"segment {batch.numbers[row] + 1}"


def compile_kernel(text: Text) -> None:
    """Prepares this process for its first batch. A second call does nothing.

    It compiles the kernel or loads it from the cache, and loads the tokenizer's library,
    dictionary and model.

    Raises:
      JobError: the library of the tokenizer is missing.
      InputError: the tokenizer's model is not a SentencePiece model.
    """
    column = pa.array(["a"], pa.large_string())
    batch = SegmentBatch(candidates=(column,), references=(column,))
    count_batch(batch, text, max_order=1).shown_counts()


def _count(
    spans: Spans,
    sizes: TextSizes,
    batch: SegmentBatch,
    text: Text,
    max_order: int,
) -> Integers:
    """The counts, int64 (systems, segments, W), of texts at these places."""
    texts, rows = spans.starts.shape
    reference_count = len(batch.references)
    counts = np.empty((texts - reference_count, rows, width(max_order)), np.int64)
    if not rows:
        return counts
    longest = sizes.longest
    if longest > _MOST_BYTES:
        raise InputError(
            f"{segment_name(batch, sizes.longest_row)} has {longest} bytes of text; "
            f"{_MOST_BYTES} is the most",
            "check that the lines end with a newline",
        )
    # At most one token per byte, and a gap after each text. Unused pages cost nothing.
    most_tokens = max(min(longest, MOST_WRITTEN) + texts + SPARE_TOKENS, TOKENS_IN_CACHE)
    memory = [
        _MEMORY.memory_for("tokens", most_tokens * TOKEN_BYTES),
        _MEMORY.memory_for("numbers", (longest + texts + SPARE_NUMBERS) * NUMBERS_BYTES),
        _MEMORY.memory_for("different tokens", most_different(longest) * TOKEN_BYTES),
        _MEMORY.memory_for("index", INDEX_SLOT_BYTES << most_index_bits(longest)),
        _MEMORY.memory_for("vocabulary", VOCABULARY_BYTES),
        _MEMORY.memory_for("bounds", (texts + 1) * _BOUND_BYTES),
        _MEMORY.memory_for("keys", KEYS_BYTES),
    ]
    rule = rule_of(text.tokenize)
    row, bits = 0, _FIRST_TABLE_BITS
    while True:
        table = _MEMORY.memory_for("table", (2**bits + 1) * SLOT_BYTES)
        row, bits = count_rows(
            row,
            spans.both,
            reference_count,
            rule,
            (*(each.address for each in memory), table.address),
            table.size,
            counts,
            _SEED,
        )
        if row == rows:
            return counts
