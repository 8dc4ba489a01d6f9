"""Numbers in place of all tokens of a segment, in compiled code, and the memory that they need."""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import NamedTuple

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import (
    BLOCK,
    KeptMemory,
    Memory,
    address_of,
    load_count,
    load_int,
    store_count,
    store_int,
)
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.text.characters import CODE_POINTS_BYTES, counted_bytes
from beam_bleu.transforms.text.hashing import Seed, new_seed
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
from beam_bleu.transforms.text.tokens import KEYS_BYTES, TOKEN_BYTES

_BOUND_BYTES = 8


class NumberedTexts(NamedTuple):
    """The texts of a batch, and memory for the numbers of one segment at a time: all are addresses.

    Compiled code takes it, so it has only numbers.

    Attributes:
      seed: the process's secret (see hashing.py).
      starts: of the addresses of the texts, int64 (texts, rows); 0 if one is missing.
      ends: of those of their ends.
      rows: the number of segments.
      texts: the number of all texts of a segment.
      reference_count: the number of references; they are the first texts.
      rule: how texts are split (see tokenization.py).
      bounds: of texts + 1 int64: text t has the tokens bounds[t] <= i < bounds[t + 1] - 1; the last
        one is the gap.
      numbers: of the numbers of all tokens, 32 bits each, and BLOCK more.
      tokens: of memory for three times TOKENS_IN_CACHE tokens.
      vocabulary: of VOCABULARY_BYTES; or of KEYS_BYTES, where tokens have masks.
      different: of memory for all different tokens of the references.
      token_index: of memory for the index of numbering.py.
      counted: of `counted_bytes`, for characters in place of tokens.
      code_points: of CODE_POINTS_BYTES, all 0 before and after a segment.
      entered: of memory for a number for each byte of the references.
    """

    seed: Seed
    starts: int
    ends: int
    rows: int
    texts: int
    reference_count: int
    rule: int
    bounds: int
    numbers: int
    tokens: int
    vocabulary: int
    different: int
    token_index: int
    counted: int
    code_points: int
    entered: int


SEED = new_seed()


def numbered_texts(
    memory: KeptMemory,
    spans: Spans,
    longest: int,
    reference_count: int,
    rule: int,
    *,
    whitespace: bool = True,
) -> tuple[NumberedTexts, list[Memory]]:
    """What numbers the texts of a batch, and its memory, which the caller keeps as long.

    `longest` is the largest number of bytes of all texts of a segment. `whitespace` says whether
    white space counts, if characters are numbered.
    """
    texts, rows = spans.starts.shape
    # At most one token per byte, and one or two gaps after each text. Unused pages cost nothing.
    spaces = [
        memory.memory_for("bounds", (texts + 1) * _BOUND_BYTES),
        memory.memory_for("numbers", (longest + 2 * texts + BLOCK) * NUMBER_BYTES),
        memory.memory_for("tokens", 3 * TOKENS_IN_CACHE * TOKEN_BYTES),
        memory.memory_for("vocabulary", max(VOCABULARY_BYTES, KEYS_BYTES)),
        memory.memory_for("different tokens", most_different(longest) * TOKEN_BYTES),
        memory.memory_for("index", INDEX_SLOT_BYTES << most_index_bits(longest)),
    ]
    of_characters = [
        memory.zeros_for("numbers of code points", CODE_POINTS_BYTES),
        memory.memory_for("code points entered", longest * NUMBER_BYTES),
    ]
    addresses = [space.address for space in spaces]
    code_points, entered = (space.address for space in of_characters)
    counted = counted_bytes(whitespace).ctypes.data
    starts, ends = (places.ctypes.data for places in spans)
    made = NumberedTexts(
        *(SEED, starts, ends, rows, texts, reference_count, rule),
        *(*addresses, counted, code_points, entered),
    )
    return made, spaces + of_characters


@inlined
def is_missing(texts, row, reference):
    """Whether a segment lacks a reference."""
    return load_int(texts.starts, reference * texts.rows + row) == 0


@inlined
def numbers_of(texts, text):
    """The address of the numbers of a text of the segment that is numbered."""
    return texts.numbers + load_int(texts.bounds, text) * NUMBER_BYTES


@inlined
def columns_of(counts, texts, row, text):
    """The address of the columns of a candidate in int64 (systems, rows, W)."""
    place = (text - texts.reference_count) * texts.rows + row
    return address_of(counts) + place * counts.shape[2] * 8


@inner
def number_texts(row, texts, written):
    """Numbers the tokens of all texts of a segment. Equal tokens have equal numbers, from 1 on.

    Its bounds and numbers are written. `written` says whether its `tokens` are those of all texts,
    with their bounds. Returns the number of different tokens of the references.
    """
    size = known = 0
    bounds, numbers, vocabulary = texts.bounds, texts.numbers, texts.vocabulary
    for text in range(texts.reference_count):
        at = text * texts.rows + row
        size += load_int(texts.ends, at) - load_int(texts.starts, at)
    begin_vocabulary(vocabulary, texts.different, texts.token_index, size, numbers)
    for text in range(texts.texts):
        if text == texts.reference_count:
            known = end_references(vocabulary)
        if written:
            first = texts.tokens + load_int(bounds, text) * TOKEN_BYTES
            last = texts.tokens + (load_int(bounds, text + 1) - 1) * TOKEN_BYTES
            number_tokens(first, last, vocabulary, texts.seed)
        else:
            number = load_int(vocabulary, NUMBER)
            store_int(bounds, text, (number - numbers) // NUMBER_BYTES)
            at = text * texts.rows + row
            start, end = load_int(texts.starts, at), load_int(texts.ends, at)
            number_text(start, end, texts.rule, texts.tokens, ANY, vocabulary, texts.seed)
        # A gap after each text.
        store_int(vocabulary, NUMBER, load_int(vocabulary, NUMBER) + NUMBER_BYTES)
    store_int(bounds, texts.texts, (load_int(vocabulary, NUMBER) - numbers) // NUMBER_BYTES)
    return known


@inner
def count_common(numbers, words, reference, reference_words, times):
    """How many words are in both texts; a word counts as often as in the text with fewer of it.

    `numbers` and `reference` are addresses of numbers of words, `times` that of a count for each
    number, all 0 before and after.
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
