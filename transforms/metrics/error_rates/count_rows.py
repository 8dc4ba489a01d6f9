"""Compiled code: the columns of the rows of a batch."""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.metrics.error_rates.columns import (
    DELETIONS,
    EMPTY,
    INSERTIONS,
    REFERENCE_LENGTH,
    SUBSTITUTIONS,
)
from beam_bleu.transforms.metrics.error_rates.errors import count_errors
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.memory import address_of, load_int, store_int
from beam_bleu.transforms.text.characters import number_all_characters
from beam_bleu.transforms.text.numbered_texts import number_segment
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of
from beam_bleu.transforms.text.tokenization import CHARACTERS


@compiled
def count_rows(spans, reference_count, rule, spaces, counts, seed):
    """Counts all rows.

    Args:
      spans: the arrays of `Spans` of all texts; references come first.
      reference_count: the number of references.
      rule: how texts are split (see tokenization.py). With CHARACTERS, each character counts, white
        space, too.
      spaces: the addresses of memory (see kernel.py).
      counts: int64 (systems, rows, W), for the columns (columns.py).
      seed: the process's secret (see hashing.py).
    """
    starts, ends = spans
    texts, rows = starts.shape
    row_bytes = counts.shape[2] * 8
    (
        token_space,
        bounds,
        numbers,
        vocabulary,
        kept,
        index,
        code_points,
        entered,
        masks,
        memory,
        counted,
    ) = spaces
    start_space, end_space, count_space = address_of(starts), address_of(ends), address_of(counts)
    for row in range(rows):
        if rule == CHARACTERS:
            known = number_all_characters(
                start_space,
                end_space,
                row,
                rows,
                texts,
                reference_count,
                counted,
                code_points,
                entered,
                numbers,
                bounds,
            )
        else:
            known = number_segment(
                start_space,
                end_space,
                row,
                rows,
                texts,
                reference_count,
                rule,
                token_space,
                bounds,
                numbers,
                vocabulary,
                kept,
                index,
                seed,
            )
        for text in range(reference_count, texts):
            symbols = length_of(bounds, text)
            best = substitutions = deletions = insertions = length = -1
            for reference in range(reference_count):
                if load_int(start_space, reference * rows + row) == 0:
                    continue  # it is missing
                columns = length_of(bounds, reference)
                replaced, deleted, inserted = count_errors(
                    numbers + load_int(bounds, text) * NUMBER_BYTES,
                    symbols,
                    numbers + load_int(bounds, reference) * NUMBER_BYTES,
                    columns,
                    known + 1,
                    masks,
                    memory,
                )
                edits = replaced + deleted + inserted
                if best < 0 or edits < best or (edits == best and columns > length):
                    best, length = edits, columns
                    substitutions, deletions, insertions = replaced, deleted, inserted
            place = count_space + ((text - reference_count) * rows + row) * row_bytes
            store_int(place, SEGMENTS, 1)
            store_int(place, EMPTY, symbols == 0)
            store_int(place, SUBSTITUTIONS, substitutions)
            store_int(place, DELETIONS, deletions)
            store_int(place, INSERTIONS, insertions)
            store_int(place, REFERENCE_LENGTH, length)
