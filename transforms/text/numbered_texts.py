"""Compiled code: numbers in place of all tokens of a long segment."""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import load_int, store_int
from beam_bleu.transforms.text.numbering import (
    NUMBER,
    NUMBER_BYTES,
    begin_vocabulary,
    end_references,
    number_tokens,
)
from beam_bleu.transforms.text.tokenization import ANY, number_text
from beam_bleu.transforms.text.tokens import TOKEN_BYTES


@inner
def number_texts(
    starts,
    ends,
    row,
    rows,
    texts,
    reference_count,
    rule,
    written,
    tokens,
    bounds,
    numbers,
    vocabulary,
    kept,
    index,
    seed,
):
    """Numbers the tokens of all texts of a segment.

    Args:
      starts: address of the addresses of the texts, int64 (texts, rows); 0 if one is missing.
      ends: address of their ends.
      row: the segment's row.
      rows: the number of rows.
      texts: the number of all texts.
      reference_count: the number of references; they are the first texts.
      rule: how texts are split (see tokenization.py).
      written: whether the tokens of all texts are written, and their bounds.
      tokens: address of these tokens, or of memory for TOKENS_IN_CACHE tokens.
      bounds: address of texts + 1 int64, which it writes: text t has the tokens bounds[t] <= i <
        bounds[t + 1] - 1; the last one is the gap.
      numbers: address of memory for the numbers.
      vocabulary: address of VOCABULARY_BYTES.
      kept: address of memory for all different tokens of the references.
      index: address of memory for the index of numbering.py.
      seed: the process's secret (see hashing.py).

    Returns:
      The number of different tokens of the references.
    """
    size = known = 0
    for text in range(reference_count):
        size += load_int(ends, text * rows + row) - load_int(starts, text * rows + row)
    begin_vocabulary(vocabulary, kept, index, size, numbers, written)
    for text in range(texts):
        if text == reference_count:
            known = end_references(vocabulary)
        if written:
            first, last = load_int(bounds, text), load_int(bounds, text + 1) - 1
            number_tokens(
                tokens + first * TOKEN_BYTES, tokens + last * TOKEN_BYTES, vocabulary, seed
            )
        else:
            number = load_int(vocabulary, NUMBER)
            store_int(bounds, text, (number - numbers) // NUMBER_BYTES)
            start, end = load_int(starts, text * rows + row), load_int(ends, text * rows + row)
            number_text(start, end, rule, tokens, ANY, vocabulary, seed)
        # A gap after each text.
        store_int(vocabulary, NUMBER, load_int(vocabulary, NUMBER) + NUMBER_BYTES)
    store_int(bounds, texts, (load_int(vocabulary, NUMBER) - numbers) // NUMBER_BYTES)
    return known
