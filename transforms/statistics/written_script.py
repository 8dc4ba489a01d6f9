"""Finds out whether a text is written in a script of the table `SCRIPTS`."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import BLOCK, clear_lowest_bit, count_bits, lowest_bit
from beam_bleu.transforms.text.byte_classes import (
    ascii_white_space_mask,
    large_code_point_mask,
    script_masks,
)
from beam_bleu.transforms.text.tokenizers import SCRIPTS

_CHINESE, _JAPANESE, _SOUTHEAST_ASIAN, _KOREAN = range(1, len(SCRIPTS) + 1)

_CHINESE_LETTERS, _JAPANESE_LETTERS, _SOUTHEAST_ASIAN_LETTERS, _KOREAN_LETTERS = (
    row.letters for row in SCRIPTS.values()
)

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)


@inner
def script_of(start, end):
    """The script of the text at [start, end), as in `BatchSigns`; 0 for any other script.

    `Script.letters` has the rule.
    """
    block = start
    while block < end and _within(large_code_point_mask(block), end - block) == _NOTHING:
        block += BLOCK
    return _script_by_letters(start, end) if block < end else 0


@inner
def _script_by_letters(start, end):
    chinese = kana = southeast_asian = korean = 0
    spaces = words = 0
    is_new = True  # whether the present word has no letter yet
    block = start
    while block < end:
        masks = script_masks(block)
        size = end - block
        chinese += count_bits(_within(masks[0], size))
        kana += count_bits(_within(masks[1], size))
        southeast_asian += count_bits(_within(masks[2], size))
        korean += count_bits(_within(masks[3], size))
        letters = _within(masks[0] | masks[1] | masks[2] | masks[3], size)
        white = _within(ascii_white_space_mask(block), size)
        spaces += count_bits(white)
        while white != _NOTHING:
            before = (_ONE << np.uint64(lowest_bit(white))) - _ONE
            words += is_new & (letters & before != _NOTHING)
            letters &= ~before
            is_new = True
            white = clear_lowest_bit(white)
        if letters != _NOTHING:
            words += is_new
            is_new = False
        block += BLOCK
    if chinese + kana + southeast_asian + korean <= spaces + 1:
        return 0
    if southeast_asian > _SOUTHEAST_ASIAN_LETTERS * words:
        return _SOUTHEAST_ASIAN
    if kana == 0 and chinese > _CHINESE_LETTERS * words:
        return _CHINESE
    if kana > 0 and chinese + kana > _JAPANESE_LETTERS * words:
        return _JAPANESE
    return _KOREAN if korean > _KOREAN_LETTERS * words else 0


@inner
def _within(mask, size):
    """The part of a block's mask that is about the first `size` bytes."""
    if size >= BLOCK:
        return mask
    return mask & ((_ONE << np.uint64(size)) - _ONE)
