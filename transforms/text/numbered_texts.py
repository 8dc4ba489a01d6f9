"""Numbers in place of all tokens of a segment, in compiled code, and the memory that they need.

If the references have up to 64 tokens in all, the number of a token is its first position in them,
which comes from a mask. Otherwise numbering.py finds the numbers with an index.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.kept_memory import KeptMemory, Memory
from beam_bleu.transforms.native.memory import (
    BLOCK,
    load_count,
    load_int,
    lowest_bit,
    store_count,
    store_int,
)
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
from beam_bleu.transforms.text.token_masks import (
    FEW_MASKED,
    MOST_MASKED,
    difference,
    mask_of,
    mask_of_all,
    write_keys,
)
from beam_bleu.transforms.text.tokenization import (
    ANY,
    TOKENS_AT_ONCE,
    TOKENS_IN_CACHE,
    number_text,
    tokenize,
)
from beam_bleu.transforms.text.tokens import TOKEN_BYTES

_BOUND_BYTES = 8

_LONGEST_MASKED = 2**10
"""The most bytes of a reference whose tokens have masks. Longer ones rarely have few tokens."""

_NOTHING = np.uint64(0)


def numbering_memory(memory: KeptMemory, texts: int, longest: int) -> list[Memory]:
    """The memory with which `number_segment` numbers the tokens of texts.

    Args:
      memory: where it is kept.
      texts: the number of texts of a segment.
      longest: the largest number of bytes of all texts of a segment.

    Returns:
      That for tokens, bounds, numbers, the vocabulary, different tokens and their index.
    """
    # At most one token per byte, and one or two gaps after each text. Unused pages cost nothing.
    return [
        memory.memory_for("tokens", 2 * TOKENS_IN_CACHE * TOKEN_BYTES),  # of references, of a text
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


@inlined
def _write_numbers(token, last, first, keys, inside, few, numbers, other):
    """Writes the numbers of the tokens at the addresses token..last.

    Args:
      token: address of the first one.
      last: address of their end.
      first: address of the tokens of the references.
      keys: address of their keys.
      inside: the mask of all of them.
      few: whether they are at most FEW_MASKED.
      numbers: address to write to.
      other: the number of a token that is not among them, one more than there are.

    Returns:
      0 if different tokens have different keys.
    """
    different = _NOTHING
    while token < last:
        mask = mask_of(token, keys, inside, few)
        different |= difference(token, mask, first)
        # No branch, because it could not be predicted. An empty mask has the lowest bit 64.
        store_count(numbers, min(lowest_bit(mask) + 1, other))
        numbers += NUMBER_BYTES
        token += TOKEN_BYTES
    return different


@inner
def _number_by_masks(
    starts, ends, row, rows, texts, reference_count, rule, tokens, bounds, numbers, keys, seed
):
    """Numbers the tokens of a segment by their positions in the references.

    The arguments are those of `number_segment`, but `keys` is the address of KEYS_BYTES.

    Returns:
      The number of tokens of the references; -1 if the segment has to be numbered with an index.
    """
    last = tokens
    for reference in range(reference_count):
        start, end = (
            load_int(starts, reference * rows + row),
            load_int(ends, reference * rows + row),
        )
        if end - start > _LONGEST_MASKED:
            return -1
        # A gap after each text.
        store_int(bounds, reference, (last - tokens) // TOKEN_BYTES + reference)
        last = tokenize(start, end, rule, last, MOST_MASKED * TOKEN_BYTES, 0, seed)
        if last - tokens > MOST_MASKED * TOKEN_BYTES:
            return -1
    count = (last - tokens) // TOKEN_BYTES
    number = count + reference_count
    inside, few = mask_of_all(count), count <= FEW_MASKED
    write_keys(tokens, last, keys)
    different = _NOTHING
    for text in range(texts):
        if text < reference_count:
            first_number = load_int(bounds, text)
            begin = tokens + (first_number - text) * TOKEN_BYTES
            end = last
            if text + 1 < reference_count:
                end = tokens + (load_int(bounds, text + 1) - text - 1) * TOKEN_BYTES
        else:
            first_number, begin = number, last
            store_int(bounds, text, number)
            most = TOKENS_AT_ONCE * TOKEN_BYTES
            start, stop = load_int(starts, text * rows + row), load_int(ends, text * rows + row)
            end = tokenize(start, stop, rule, begin, most, 0, seed)
            if end - begin >= most:
                return -1
            number += (end - begin) // TOKEN_BYTES + 1
        place = numbers + first_number * NUMBER_BYTES
        if few:
            different |= _write_numbers(begin, end, tokens, keys, inside, True, place, count + 1)
        else:
            different |= _write_numbers(begin, end, tokens, keys, inside, False, place, count + 1)
    store_int(bounds, texts, number)
    return count if different == _NOTHING else -1


@inner
def number_segment(
    starts,
    ends,
    row,
    rows,
    texts,
    reference_count,
    rule,
    tokens,
    bounds,
    numbers,
    vocabulary,
    kept,
    index,
    seed,
):
    """Numbers the tokens of all texts of a segment, whose tokens are not written.

    The arguments are those of `number_texts`, but there is memory for two times TOKENS_IN_CACHE
    tokens. Equal tokens have equal numbers, from 1 on, but not all numbers have tokens.

    Returns:
      The largest number that a token of the references can have. All tokens that no reference has
      share the number after it.
    """
    known = _number_by_masks(
        starts,
        ends,
        row,
        rows,
        texts,
        reference_count,
        rule,
        tokens,
        bounds,
        numbers,
        vocabulary,  # for the keys, because it is not in use
        seed,
    )
    if known >= 0:
        return known
    return number_texts(
        starts,
        ends,
        row,
        rows,
        texts,
        reference_count,
        rule,
        False,
        tokens,
        bounds,
        numbers,
        vocabulary,
        kept,
        index,
        seed,
    )


@inner
def count_common(numbers, words, reference, reference_words, times):
    """How many words are in both texts; a word counts as often as in the text with fewer of it.

    Args:
      numbers: address of the numbers of the candidate's words.
      words: their number.
      reference: address of those of the reference.
      reference_words: their number.
      times: address of a count for each number, all 0, before and after.
    """
    common = 0
    for place in range(reference_words):
        of_word = times + load_count(reference + place * NUMBER_BYTES) * NUMBER_BYTES
        store_count(of_word, load_count(of_word) + 1)
    for place in range(words):
        of_word = times + load_count(numbers + place * NUMBER_BYTES) * NUMBER_BYTES
        left = load_count(of_word)
        is_common = min(left, 1)  # no branch, because it could not be predicted
        store_count(of_word, left - is_common)
        common += is_common
    for place in range(reference_words):
        store_count(times + load_count(reference + place * NUMBER_BYTES) * NUMBER_BYTES, 0)
    return common
