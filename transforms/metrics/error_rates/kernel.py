"""The kernel: from columns of text to the columns of WER or CER of every segment."""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.error_rates.errors import count_errors, memory_bytes
from beam_bleu.transforms.metrics.error_rates.metric import (
    DELETIONS,
    INSERTIONS,
    REFERENCE_LENGTH,
    SUBSTITUTIONS,
    ErrorRate,
)
from beam_bleu.transforms.metrics.metric import EMPTY, SEGMENTS, ReadyTexts
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.memory import KeptMemory, store_int
from beam_bleu.transforms.text.characters import FIRST_NUMBER, number_characters
from beam_bleu.transforms.text.numbered_texts import (
    columns_of,
    is_missing,
    number_texts,
    numbers_of,
)
from beam_bleu.transforms.text.numbering import MASK_BYTES, length_of, most_different
from beam_bleu.transforms.text.tokenization import CHARACTERS

_MEMORY = KeptMemory()


def write_counts(metric: ErrorRate, texts: ReadyTexts, counts: Integers) -> None:
    numbered, _memory = texts.numbered(_MEMORY)
    longest = texts.sizes.longest
    # All symbols that no reference has share a number.
    numbers = FIRST_NUMBER + most_different(longest) + 1
    masks = _MEMORY.zeros_for("masks", numbers * MASK_BYTES)
    rows = _MEMORY.memory_for("rows", memory_bytes(longest))
    count_rows(numbered, masks.address, rows.address, counts)


@compiled
def count_rows(texts, masks, memory, counts):
    """Counts all rows. If the rule is CHARACTERS, each character counts, white space, too."""
    for row in range(texts.rows):
        if texts.rule == CHARACTERS:
            number_characters(row, texts)
        else:
            number_texts(row, texts, False)
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
