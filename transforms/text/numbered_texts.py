"""Numbers in place of all tokens of a segment, in compiled code, and the memory that they need."""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.kept_memory import KeptMemory, Memory
from beam_bleu.transforms.native.memory import BLOCK, load_int, store_int
from beam_bleu.transforms.text.numbering import (
    INDEX_SLOT_BYTES,
    NUMBER,
    NUMBER_BYTES,
    VOCABULARY_BYTES,
    begin_vocabulary,
    end_references,
    most_different,
    most_index_bits,
    number_tokens,
)
from beam_bleu.transforms.text.tokenization import ANY, TOKENS_IN_CACHE, number_text
from beam_bleu.transforms.text.tokens import TOKEN_BYTES

_BOUND_BYTES = 8


def numbering_memory(memory: KeptMemory, texts: int, longest: int) -> list[Memory]:
    """The memory with which `number_texts` numbers the tokens of texts that are not written.

    Args:
      memory: where it is kept.
      texts: the number of texts of a segment.
      longest: the largest number of bytes of all texts of a segment.

    Returns:
      That for tokens, bounds, numbers, the vocabulary, different tokens and their index.
    """
    # At most one token per byte, and one or two gaps after each text. Unused pages cost nothing.
    return [
        memory.memory_for("tokens", TOKENS_IN_CACHE * TOKEN_BYTES),
        memory.memory_for("bounds", (texts + 1) * _BOUND_BYTES),
        memory.memory_for("numbers", (longest + 2 * texts + BLOCK) * NUMBER_BYTES),
        memory.memory_for("vocabulary", VOCABULARY_BYTES),
        memory.memory_for("different tokens", most_different(longest) * TOKEN_BYTES),
        memory.memory_for("index", INDEX_SLOT_BYTES << most_index_bits(longest)),
    ]


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
