"""The kernel: from columns of text to the columns of WER or CER of every segment."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.metrics.error_rates.errors import count_errors, memory_bytes
from beam_bleu.transforms.metrics.error_rates.metric import (
    DELETIONS,
    INSERTIONS,
    REFERENCE_LENGTH,
    SUBSTITUTIONS,
)
from beam_bleu.transforms.metrics.metric import EMPTY, SEGMENTS, Metric
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.kept_memory import KeptMemory
from beam_bleu.transforms.native.memory import store_int
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.native.text_sizes import TextSizes
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.text.characters import FIRST_NUMBER, number_all_characters
from beam_bleu.transforms.text.numbered_texts import (
    columns_of,
    is_missing,
    number_segment,
    numbered_texts,
    numbers_of,
)
from beam_bleu.transforms.text.numbering import MASK_BYTES, length_of, most_different
from beam_bleu.transforms.text.splitting import rule_of
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokenization import CHARACTERS

_MEMORY = KeptMemory()


def count(
    metric: Metric, spans: Spans, sizes: TextSizes, batch: SegmentBatch, text: Text
) -> Integers:
    """The columns of each segment, as `Metric.count` gives them."""
    texts, _memory = numbered_texts(
        _MEMORY, spans, sizes.longest, len(batch.references), rule_of(text.tokenize)
    )
    # All symbols that no reference has share a number.
    numbers = FIRST_NUMBER + most_different(sizes.longest) + 1
    masks = _MEMORY.zeros_for("masks", numbers * MASK_BYTES)
    rows = _MEMORY.memory_for("rows", memory_bytes(sizes.longest))
    counts = np.empty((len(batch.candidates), len(batch), metric.basis.width), np.int64)
    count_rows(texts, masks.address, rows.address, counts)
    return counts


@compiled
def count_rows(texts, masks, memory, counts):
    """Counts all rows. If the rule is CHARACTERS, each character counts, white space, too.

    Args:
      texts: the `NumberedTexts` of the batch.
      masks: address of a mask for each number, all 0 before and after.
      memory: address of `memory_bytes`.
      counts: int64 (systems, rows, W), for the columns.
    """
    for row in range(texts.rows):
        if texts.rule == CHARACTERS:
            number_all_characters(row, texts)
        else:
            number_segment(row, texts)
        for text in range(texts.reference_count, texts.texts):
            symbols = length_of(texts.bounds, text)
            best = substitutions = deletions = insertions = length = -1
            for reference in range(texts.reference_count):
                if is_missing(texts, row, reference):
                    continue
                columns = length_of(texts.bounds, reference)
                replaced, deleted, inserted = count_errors(
                    numbers_of(texts, text),
                    symbols,
                    numbers_of(texts, reference),
                    columns,
                    masks,
                    memory,
                )
                edits = replaced + deleted + inserted
                if best < 0 or edits < best or (edits == best and columns > length):
                    best, length = edits, columns
                    substitutions, deletions, insertions = replaced, deleted, inserted
            place = columns_of(counts, texts, row, text)
            store_int(place, SEGMENTS, 1)
            store_int(place, EMPTY, symbols == 0)
            store_int(place, SUBSTITUTIONS, substitutions)
            store_int(place, DELETIONS, deletions)
            store_int(place, INSERTIONS, insertions)
            store_int(place, REFERENCE_LENGTH, length)
