"""Compiled tokenization: from the bytes of a text to the places of its tokens.

Most rules split at white space. `char` makes a token of every code point that is not white space.
In the words of chrF, a punctuation mark at their end, or else at their start, becomes a word of its
own. `13a` is sacreBLEU's Tokenizer13a (mteval-v13a), after `<skipped>` and hyphens at line ends are
removed from the text. On bytes the following rules are equivalent to its regular expressions:

* A symbol is always a token of its own ("alone"). So is an entity, which counts as its symbol.
* A single full stop or comma is alone unless there are digits on both sides.
* In a run of two or more of these, each one is alone. The exception is the last one: it joins a
  digit after it if (the length of the run is odd) == (there is a digit before the run).
* A hyphen is alone if there is a digit directly before it.

64 bytes are classified at once, and the rules are shifts and ands of the masks; entities and runs
before a digit are rare, and handled one by one.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np

from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import (
    BLOCK,
    clear_lowest_bit,
    count_bits,
    load_byte,
    load_int,
    lowest_bit,
    store_int,
)
from beam_bleu.transforms.text.byte_classes import (
    ascii_white_space_mask,
    code_point_masks,
    punctuation_masks,
    space_mask,
    unicode_white_space_masks,
    white_space_masks,
)
from beam_bleu.transforms.text.numbering import number_places
from beam_bleu.transforms.text.tokens import FIRST, SECOND, TOKEN_BYTES, entity, write_token

SPARE_TOKENS = 12  # memory for this number must follow the last token
TOKENS_AT_ONCE = 256  # after this number, or some more, `tokenize` can stop
TOKENS_IN_CACHE = TOKENS_AT_ONCE + BLOCK + SPARE_TOKENS + 1  # it needs memory for this number
ANY = 2**62
# The rules; `splitting.py` says which tokenizer has which.
WHITE_SPACE, MTEVAL_13A, CHARACTERS, ASCII_SPACE, SPACE, CHRF_WORDS = range(6)
_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_LOW_MARKS, _HIGH_MARKS = (
    np.uint64(sum(1 << (ord(mark) - first) for mark in _MARKS if 0 <= ord(mark) - first < BLOCK))
    for first in (0, BLOCK)
)

_NOTHING, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)
_LAST = np.uint64(BLOCK - 1)  # the shift that brings a mask's last bit down to bit 0
_EVERYTHING = np.uint64(0xFFFFFFFFFFFFFFFF)


@inner
def _is_digit(byte):
    return byte >= ord("0") and byte <= ord("9")


@inner
def _joins_next_digit(start, address):
    """Whether the last of a run of full stops and commas joins the digit after it."""
    before = address
    while before >= start and (load_byte(before) == ord(".") or load_byte(before) == ord(",")):
        before -= 1
    odd = (address - before) & 1 == 1
    after_digit = before >= start and _is_digit(load_byte(before))
    return odd == after_digit


@inlined
def _write_places(at, block, mask):
    """Writes the address of each bit of a mask into a word of a token; returns the next place.
    SPARE_TOKENS are written at once, because a branch predictor cannot learn their number.
    """
    end = at + count_bits(mask) * TOKEN_BYTES
    place = at
    while True:
        for _ in range(SPARE_TOKENS):
            store_int(place, 0, block + lowest_bit(mask))
            mask = clear_lowest_bit(mask)
            place += TOKEN_BYTES
        if mask == _NOTHING:
            return end


@inlined
def _wide_white_space(block, inside):
    """The white space of 2 or 3 bytes in a block, and the part of it in the next block."""
    two, three = unicode_white_space_masks(block)
    three &= inside
    both = (two & inside) | three
    white = both | (both << _ONE) | (three << _TWO)
    return white, (both >> _LAST) | (three >> np.uint64(BLOCK - 2))


@inlined
def _is_mark(byte):
    marks = _LOW_MARKS if byte < BLOCK else _HIGH_MARKS
    return byte < 2 * BLOCK and (marks >> np.uint64(byte & (BLOCK - 1))) & _ONE != _NOTHING


@inner
def _cut_marks(word, last, place):
    """Writes the places of what sacreBLEU's `_remove_punctuation` makes of words; returns their
    end: of "(hi)", "(hi" and ")". A character of several bytes is no mark. A word of a single
    character stays as it is.
    """
    while word < last:
        start, end = load_int(word + FIRST, 0), load_int(word + SECOND, 0)
        cut = start
        if end - start > 1:
            if _is_mark(load_byte(end - 1)):
                cut = end - 1
            elif _is_mark(load_byte(start)):
                cut = start + 1
        if cut != start:
            store_int(place + FIRST, 0, start)
            store_int(place + SECOND, 0, cut)
            place += TOKEN_BYTES
        store_int(place + FIRST, 0, cut)
        store_int(place + SECOND, 0, end)
        place += TOKEN_BYTES
        word += TOKEN_BYTES
    return place


def _tokenizing(are_numbered: bool) -> Any:
    @inner
    def tokenize(start, end, rule, tokens, most, vocabulary, seed):
        """Finds the tokens of the text at [start, end), and writes them or their numbers.

        `tokens` needs memory for all tokens and SPARE_TOKENS more; for TOKENS_IN_CACHE if they are
        numbered, and three times as many with CHRF_WORDS, which is only for tokens that are
        numbered. Where a chunk ends with `most` bytes of tokens or more, it stops, even before the
        end of the text. Returns the end of the tokens, if they are not numbered.
        """
        entities_end = end if rule == MTEVAL_13A else start  # other rules have no entities
        block = start
        started, ended = tokens + FIRST, tokens + SECOND
        # Facts from the previous block about the first bytes of this one, as low bits:
        was_solid = was_alone = was_digit = was_point = blank = _NOTHING
        first = tokens
        while block < end and tokens - first < most:
            # The tokens of some blocks at a time, as long as their places are in the nearest cache.
            enough = started + TOKENS_AT_ONCE * TOKEN_BYTES
            while block < end and started < enough:
                left = end - block
                inside = _EVERYTHING if left >= BLOCK else (_ONE << np.uint64(left)) - _ONE
                white, lead = white_space_masks(block)
                if rule == ASCII_SPACE:
                    white, lead = ascii_white_space_mask(block), _NOTHING
                elif rule == SPACE:
                    white, lead = space_mask(block), _NOTHING
                white |= blank
                blank = _NOTHING
                if lead & inside != _NOTHING:
                    wide, blank = _wide_white_space(block, inside)
                    white |= wide
                alone = _NOTHING
                joined = _NOTHING  # digits that the point before them joins
                joins_next_block = _NOTHING
                if rule == MTEVAL_13A:
                    symbol, point, digit, hyphen, ampersand = punctuation_masks(block)
                    point &= inside
                    digit &= inside
                    ampersand &= inside & ~white
                    while ampersand != _NOTHING:
                        bit = lowest_bit(ampersand)
                        ampersand = clear_lowest_bit(ampersand)
                        # An entity counts as its first byte. Its other bytes count as white space.
                        rest = (_ONE << np.uint64(entity(block + bit, end)[1] - 1)) - _ONE
                        white |= (rest << np.uint64(bit)) << _ONE
                        blank |= rest >> np.uint64(BLOCK - 1 - bit)
                    after_digit = (digit << _ONE) | was_digit
                    before_digit = digit >> _ONE
                    if left > BLOCK and _is_digit(load_byte(block + BLOCK)):
                        before_digit |= _ONE << _LAST
                    alone = (
                        symbol | (point & ~(after_digit & before_digit)) | (hyphen & after_digit)
                    )
                    run_before_digit = point & ((point << _ONE) | was_point) & before_digit
                    while run_before_digit != _NOTHING:
                        bit = lowest_bit(run_before_digit)
                        run_before_digit = clear_lowest_bit(run_before_digit)
                        if _joins_next_digit(start, block + bit):
                            if bit == BLOCK - 1:
                                joins_next_block = _ONE
                            else:
                                joined |= _TWO << np.uint64(bit)
                    was_digit = digit >> _LAST
                    was_point = point >> _LAST
                solid = inside & ~white
                alone &= solid
                cut = (alone | (alone << _ONE) | was_alone) & ~joined
                if rule == CHARACTERS:
                    cut = code_point_masks(block)[0]
                after_solid = (solid << _ONE) | was_solid
                starts = solid & (cut | ~after_solid)
                ends = after_solid & (cut | ~solid)
                started = _write_places(started, block, starts)
                ended = _write_places(ended, block, ends)
                was_solid = solid >> _LAST
                was_alone = (alone >> _LAST) & ~joins_next_block
                block += BLOCK
            complete = ended - SECOND
            if block >= end:
                store_int(ended, 0, end)  # of a token that reaches to the end of the text
                complete = started - FIRST
            if are_numbered:
                places, places_end = tokens, complete
                if rule == CHRF_WORDS:
                    places = tokens + TOKENS_IN_CACHE * TOKEN_BYTES
                    places_end = _cut_marks(tokens, complete, places)
                number_places(places, places_end, entities_end, vocabulary, seed)
                # A token that has no end yet becomes the first one.
                store_int(tokens + FIRST, 0, load_int(complete + FIRST, 0))
                started -= complete - tokens
                ended = tokens + SECOND
            else:
                while tokens < complete:
                    write_token(tokens, entities_end, seed)
                    tokens += TOKEN_BYTES
        return tokens

    return tokenize


tokenize = _tokenizing(are_numbered=False)
number_text = _tokenizing(are_numbered=True)
