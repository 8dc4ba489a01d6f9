"""Compiled tokenization: from the bytes of a text to the places of its tokens.

There are four rules. `none` splits at white space like `str.split`. `ascii-space` splits only
at ASCII white space (without the separators U+001C to U+001F). `char` makes a token of every
code point that is not white space. `13a` splits like sacreBLEU's Tokenizer13a (mteval-v13a),
after `<skipped>` and hyphens at line ends are removed from the text. (For `zh` and `intl`,
spacing.py puts spaces into the text, and `none` splits it.) 13a is defined by regular
expressions that insert spaces. On bytes the following rules are equivalent; the tests compare
them with sacreBLEU:

* A symbol is always a token of its own ("alone"). So is an entity, which counts as its symbol.
* A single full stop or comma is alone unless there are digits on both sides.
* In a run of two or more of these, each one is alone. The exception is the last one: it joins a
  digit after it if (the length of the run is odd) == (there is a digit before the run).
* A hyphen is alone if there is a digit directly before it.

64 bytes are classified at once, and the rules are shifts and ands of the masks. The cases that
masks cannot express (entities, runs before a digit) are rare, and are handled one by one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from beam_bleu.transforms.native.memory import (
    BLOCK,
    clear_lowest_bit,
    load_byte,
    load_word,
    lowest_bit,
    store_word,
)
from beam_bleu.transforms.statistics.byte_classes import (
    ascii_white_space_mask,
    code_point_masks,
    punctuation_masks,
    unicode_white_space_masks,
    white_space_masks,
)
from beam_bleu.transforms.statistics.hashing import hashed

# A token is three words: its key, then its length, then its address.
LENGTH, ADDRESS, TOKEN_BYTES = 8, 16, 24

# The rules; `statistics/splitting.py` says which tokenizer has which.
WHITE_SPACE, MTEVAL_13A, CHARACTERS, ASCII_SPACE = range(4)

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_LAST = np.uint64(BLOCK - 1)  # the shift that brings a mask's last bit down to bit 0
_EVERYTHING = np.uint64(0xFFFFFFFFFFFFFFFF)


def _little_endian(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(text.encode(), "little"))


def _ones(count: int) -> np.uint64:
    return np.uint64((1 << 8 * count) - 1)


_QUOT, _AMP, _LT, _GT = (_little_endian(text) for text in ("&quot;", "&amp;", "&lt;", "&gt;"))
_AFTER_AMP_LT, _AFTER_AMP_GT = _little_endian("lt;"), _little_endian("gt;")
_3, _4, _5, _6 = (_ones(count) for count in (3, 4, 5, 6))
_QUOTE, _AMPERSAND, _LESS, _GREATER = (np.uint64(ord(symbol)) for symbol in '"&<>')


@njit
def _is_digit(byte):
    return byte >= ord("0") and byte <= ord("9")


@njit
def _entity(address, end):
    """(symbol, length in bytes) of the entity that begins with the ampersand at `address`.

    sacreBLEU replaces &quot;, then &amp;, then &lt;, then &gt;. So &amp;lt; becomes <, but
    &amp;quot; becomes &quot; (three tokens).
    """
    left = end - address
    word = load_word(address)
    if left >= 6 and word & _6 == _QUOT:
        return _QUOTE, 6
    if left >= 5 and word & _5 == _AMP:
        if left >= 8:
            rest = load_word(address + 5) & _3
            if rest == _AFTER_AMP_LT:
                return _LESS, 8
            if rest == _AFTER_AMP_GT:
                return _GREATER, 8
        return _AMPERSAND, 5
    if left >= 4 and word & _4 == _LT:
        return _LESS, 4
    if left >= 4 and word & _4 == _GT:
        return _GREATER, 4
    return _AMPERSAND, 1


@njit
def _joins_next_digit(start, address):
    """Whether the last of a run of full stops and commas joins the digit after it."""
    before = address
    while before >= start and (load_byte(before) == ord(".") or load_byte(before) == ord(",")):
        before -= 1
    odd = (address - before) & 1 == 1
    after_digit = before >= start and _is_digit(load_byte(before))
    return odd == after_digit


@njit
def _fold(key, word, seed):
    return hashed(key, seed) ^ word


@njit
def _token_key(address, length, end, seed):
    """The key of a token: its bytes if they are up to 8, otherwise 8 bytes of hash.

    An attacker who does not know the seed cannot make a large number of tokens with the same
    key, which would all have to be compared. (Up to 8 tokens can have the same key with any
    seed: runs of one letter, with the same words and different lengths.)
    """
    if length <= 8:
        word = load_word(address) & (_EVERYTHING >> np.uint64(64 - 8 * length))
        return _entity(address, end)[0] if word == _AMPERSAND else word
    key = load_word(address)
    last = address + length - 8  # the last word overlaps the one before
    at = address + 8
    while at < last:
        key = _fold(key, load_word(at), seed)
        at += 8
    return _fold(key, load_word(last), seed)


@njit
def _append(tokens, address, length, end, seed):
    store_word(tokens, _token_key(address, length, end, seed))
    store_word(tokens + LENGTH, np.uint64(length))
    store_word(tokens + ADDRESS, np.uint64(address))
    return tokens + TOKEN_BYTES


@njit
def tokenize(start, end, rule, tokens, seed):
    """Writes the tokens of the text at [start, end), and returns the end of the tokens.

    The rule is one of the four. The seed is the process's secret (see hashing.py). A token is
    three words: its key, its length in bytes and its address. Two tokens are the same if their
    keys and lengths are the same and, above 8 bytes, their bytes. The token of an entity has
    the key of its symbol.
    """
    entities_end = end if rule == MTEVAL_13A else start  # other rules have no entities
    block = start
    opened = 0  # address of the token that reaches into this block, if any
    # Facts from the previous block about the first bytes of this one, as low bits:
    was_solid = was_alone = was_digit = was_point = blank = _NOTHING
    while block < end:
        left = end - block
        inside = _EVERYTHING if left >= BLOCK else (_ONE << np.uint64(left)) - _ONE
        white, lead = white_space_masks(block)
        if rule == ASCII_SPACE:
            white, lead = ascii_white_space_mask(block), _NOTHING
        white |= blank
        blank = _NOTHING
        if lead & inside != _NOTHING:
            two, three = unicode_white_space_masks(block)
            three &= inside
            both = (two & inside) | three
            white |= both | (both << _ONE) | (three << _TWO)
            blank = (both >> _LAST) | (three >> np.uint64(BLOCK - 2))
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
                rest = (_ONE << np.uint64(_entity(block + bit, end)[1] - 1)) - _ONE
                white |= (rest << np.uint64(bit)) << _ONE
                blank |= rest >> np.uint64(BLOCK - 1 - bit)
            after_digit = (digit << _ONE) | was_digit
            before_digit = digit >> _ONE
            if left > BLOCK and _is_digit(load_byte(block + BLOCK)):
                before_digit |= _ONE << _LAST
            alone = symbol | (point & ~(after_digit & before_digit)) | (hyphen & after_digit)
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
        if opened != 0 and ends != _NOTHING:
            tokens = _append(tokens, opened, block + lowest_bit(ends) - opened, entities_end, seed)
            ends = clear_lowest_bit(ends)
            opened = 0
        while ends != _NOTHING:
            first = lowest_bit(starts)
            tokens = _append(tokens, block + first, lowest_bit(ends) - first, entities_end, seed)
            starts = clear_lowest_bit(starts)
            ends = clear_lowest_bit(ends)
        if starts != _NOTHING:
            opened = block + lowest_bit(starts)
        was_solid = solid >> _LAST
        was_alone = (alone >> _LAST) & ~joins_next_block
        block += BLOCK
    if opened != 0:
        tokens = _append(tokens, opened, end - opened, entities_end, seed)
    return tokens
