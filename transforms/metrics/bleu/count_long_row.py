"""Compiled code: the matches of a row whose references are too long for matching.py.

It has an entry of its own, and count_rows.py calls it by its address (`call` of
native/compiling.py). So a run without such rows does not compile it.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.memory import load_int
from beam_bleu.transforms.statistics.ngrams import match_long_segment
from beam_bleu.transforms.text.hashing import SLOT_BYTES, Seed, table_bits
from beam_bleu.transforms.text.numbered_texts import number_texts


def entry_for_long_rows(spaces: tuple[int, ...], seed: Seed) -> int:
    """The address of the entry of `count_long_row`, which is loaded or compiled if it is not yet.

    Args:
      spaces: as for `count_rows`.
      seed: the process's secret (see hashing.py).
    """
    return count_long_row.entry(*[0] * 11, spaces, 0, seed)


@compiled
def count_long_row(
    row,
    rows,
    starts,
    ends,
    texts,
    reference_count,
    rule,
    are_written,
    max_order,
    matches,
    stride,
    spaces,
    table_bytes,
    seed,
):
    """Writes the matches of every candidate of a segment, and the bounds of its tokens.

    Args:
      row: the segment's row.
      rows: the number of rows.
      starts: address of the addresses of the texts, int64 (texts, rows); 0 if one is missing.
      ends: address of their ends.
      texts: the number of all texts.
      reference_count: the number of references; they are the first texts.
      rule: how texts are split (see tokenization.py).
      are_written: 1 if the tokens of all texts are written, and their bounds; otherwise 0.
      max_order: the largest n-gram order, N.
      matches: address of N int64 for the first candidate.
      stride: bytes from these to those of the next candidate.
      spaces: the addresses of memory, as for `count_rows`.
      table_bytes: the size of the last one.
      seed: the process's secret (see hashing.py).

    Returns:
      0, or log2 of the number of slots of the table that it needs to write the matches.
    """
    tokens, numbers, kept, index, vocabulary, bounds, _, table = spaces
    known = number_texts(
        starts,
        ends,
        row,
        rows,
        texts,
        reference_count,
        rule,
        are_written,
        tokens,
        bounds,
        numbers,
        vocabulary,
        kept,
        index,
        seed,
    )
    bits = table_bits(load_int(bounds, reference_count))
    if ((1 << bits) + 1) * SLOT_BYTES > table_bytes:
        return bits
    match_long_segment(
        reference_count, texts, bounds, max_order, known, numbers, table, matches, stride, seed
    )
    return 0
