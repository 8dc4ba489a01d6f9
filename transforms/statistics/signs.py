"""Finds signs of suspicious input in the texts of a batch, before any step changes them."""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beam_bleu.transforms.native.arrays import Bytes
from beam_bleu.transforms.native.compiling import compiled, inner
from beam_bleu.transforms.native.memory import (
    BLOCK,
    address_of,
    clear_lowest_bit,
    count_bits,
    is_equal,
    load_byte,
    load_int,
    lowest_bit,
)
from beam_bleu.transforms.native.text_columns import Spans
from beam_bleu.transforms.text.byte_classes import ascii_white_space_mask, letter_mask, script_masks
from beam_bleu.transforms.text.tokenizers import SCRIPTS

_CHINESE, _JAPANESE, _SOUTHEAST_ASIAN, _KOREAN = range(1, len(SCRIPTS) + 1)

_CHINESE_LETTERS, _JAPANESE_LETTERS, _SOUTHEAST_ASIAN_LETTERS, _KOREAN_LETTERS = (
    row.letters for row in SCRIPTS.values()
)

_TEXTS_AT_ONCE = 32
"""How many texts of a system, which lie one after another, are searched for letters at once."""

_NOTHING = np.uint64(0)
_ONE = np.uint64(1)


@inner
def _first_letter(start, end):
    block = start
    while block < end:
        mask = letter_mask(block)
        if mask != _NOTHING:
            return min(block + lowest_bit(mask), end)
        block += BLOCK
    return end


@inner
def _script_by_letters(start, end):
    """The script of the text at [start, end), by the rule of `Script.letters`; 0 for any other."""
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
    if size >= BLOCK:
        return mask
    return mask & ((_ONE << np.uint64(size)) - _ONE)


_SPACE, _PERIOD, _CARRIAGE_RETURN = (ord(character) for character in " .\r")


class Signs(NamedTuple):
    """The signs of suspicious input in each segment, uint8."""

    tokenized: Bytes  # (systems, segments): whether the candidate ends in " ."
    candidate_returns: Bytes  # (systems, segments): whether it ends in a carriage return
    # (systems, segments): the script of the candidate, if a reference has one, too: 1 plus its
    # position in `SCRIPTS`, otherwise 0
    scripts: Bytes
    identical: Bytes  # (systems, references, segments): whether candidate and reference are equal
    given: Bytes  # (references, segments): whether the reference is there
    reference_returns: Bytes  # (references, segments): whether its line ends in a carriage return


def no_signs(systems: int, references: int, segments: int) -> Signs:
    shapes = [(systems,)] * 3 + [(systems, references)] + [(references,)] * 2
    return Signs(*(np.zeros((*shape, segments), np.uint8) for shape in shapes))


def find_signs(spans: Spans, reference_count: int, references_per_line: int = 1) -> Signs:
    """The signs of the texts at these places, where references come first. If a line holds several
    references, they all have the line end of the last one.
    """
    texts, segments = spans.starts.shape
    signs = no_signs(texts - reference_count, reference_count, segments)
    _write_signs(spans, reference_count, signs)
    if references_per_line > 1:
        of_lines = signs.reference_returns.reshape(-1, references_per_line, segments)
        of_lines[:] = of_lines[:, -1:]
    return signs


@inner
def _last_byte(end, size):
    return load_byte(end - 1) if size > 0 else 0


@compiled
def _write_signs(spans, reference_count, signs):
    starts, ends = spans
    texts, rows = starts.shape
    systems = texts - reference_count
    tokenized, candidate_returns, scripts, identical, given, reference_returns = signs
    start_space, end_space = address_of(starts), address_of(ends)
    for reference in range(reference_count):
        for row in range(rows):
            start = load_int(start_space, reference * rows + row)
            end = load_int(end_space, reference * rows + row)
            given[reference, row] = start != 0
            reference_returns[reference, row] = _last_byte(end, end - start) == _CARRIAGE_RETURN
    for system in range(systems):
        text = reference_count + system
        letter = 0
        for row in range(rows):
            start = load_int(start_space, text * rows + row)
            end = load_int(end_space, text * rows + row)
            size = end - start
            returned = _last_byte(end, size) == _CARRIAGE_RETURN
            candidate_returns[system, row] = returned
            # sacreBLEU's command removes line ends before it checks.
            line_end, line_size = end - returned, size - returned
            # If there is only one byte, it is the last one itself, and cannot be both.
            before = load_byte(line_end - min(line_size, 2))
            is_period = _last_byte(line_end, line_size) == _PERIOD
            tokenized[system, row] = is_period & (before == _SPACE)
            script = 0
            if end > letter:
                # Several texts are searched at once, because most have no such letter.
                last = load_int(end_space, text * rows + min(row + _TEXTS_AT_ONCE, rows) - 1)
                letter = _first_letter(start, max(end, last))
                if end > letter:
                    script = _script_by_letters(start, end)
            if script:
                # If the candidate is, for example, a Chinese source text that the system did not
                # translate into English, the references are in no script of the table.
                is_shared = False
                for reference in range(reference_count):
                    at = reference * rows + row
                    if _script_by_letters(load_int(start_space, at), load_int(end_space, at)):
                        is_shared = True
                        break
                if not is_shared:
                    script = 0
            scripts[system, row] = script
            for reference in range(reference_count):
                other = load_int(start_space, reference * rows + row)
                identical[system, reference, row] = (
                    other != 0
                    and load_int(end_space, reference * rows + row) - other == size
                    and is_equal(start, other, size)
                )
