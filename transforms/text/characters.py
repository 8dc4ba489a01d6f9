"""Compiled code: numbers in place of the characters of a segment.

An ASCII character has its code plus 1, so nothing has to be looked up. Other characters of the
references get the next numbers, in the order in which they come, from a table with a number for
each code point; at the end of the segment, those that were entered are taken out again. All
characters that no reference has get one number together. No character has the number 0.

White space is that of Python's `str.split`. All of it is below `CLASSES`, where a table says of
each code point whether it counts.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from functools import cache

import numpy as np

from beam_bleu.transforms.native.arrays import Bytes
from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.masks import code_point, letter_size
from beam_bleu.transforms.native.memory import (
    load_byte,
    load_count,
    load_int,
    store_count,
    store_int,
)
from beam_bleu.transforms.text.byte_classes import WHITE_SPACE
from beam_bleu.transforms.text.numbering import NUMBER_BYTES

CLASSES = 0x3001
"""The number of code points that can be white space: all up to the last one that is."""

CODE_POINTS_BYTES = 0x110000 * NUMBER_BYTES
"""The memory for the number of each code point. It is 0 between segments."""

_ASCII = 0x80

FIRST_NUMBER = _ASCII + 1


@cache
def counted_bytes(whitespace: bool) -> Bytes:
    """For the first code points NUMBER_BYTES if they count, else 0: uint8 (CLASSES,)."""
    counted = np.full(CLASSES, NUMBER_BYTES, np.uint8)
    if not whitespace:
        counted[WHITE_SPACE] = 0
    return counted


@inlined
def _number_text(start, end, counted, code_points, entered, known, number, is_reference):
    """Numbers the characters of a text; returns (end of the numbers, known).

    In a candidate, a character that is not known gets the number `known` + 1.
    """
    at = start
    while at < end:
        code = load_byte(at)
        if code < _ASCII:
            at += 1
            store_count(number, code + 1)
            # No branch, because a branch predictor cannot learn where words end.
            number += load_byte(counted + code)
            continue
        size = letter_size(code)
        code = code_point(at, size)
        at += size
        if code < CLASSES and load_byte(counted + code) == 0:
            continue
        place = code_points + code * NUMBER_BYTES
        known_number = load_count(place)
        if known_number == 0:
            known_number = known + 1
            if is_reference:
                known = known_number
                store_count(place, known_number)
                store_count(entered + (known - FIRST_NUMBER) * NUMBER_BYTES, code)
        store_count(number, known_number)
        number += NUMBER_BYTES
    return number, known


@inner
def number_characters(row, texts):
    """Numbers the characters of a segment; returns the largest number of one of the references."""
    counted, code_points, entered = texts.counted, texts.code_points, texts.entered
    bounds = texts.bounds
    known = FIRST_NUMBER - 1
    numbers = number = texts.numbers
    for text in range(texts.texts):
        store_int(bounds, text, (number - numbers) // NUMBER_BYTES)
        at = text * texts.rows + row
        start, end = load_int(texts.starts, at), load_int(texts.ends, at)
        if text < texts.reference_count:
            number, known = _number_text(
                start, end, counted, code_points, entered, known, number, True
            )
        else:
            number, _ = _number_text(
                start, end, counted, code_points, entered, known, number, False
            )
        number += NUMBER_BYTES  # a gap after each text
    store_int(bounds, texts.texts, (number - numbers) // NUMBER_BYTES)
    # The table is empty again for the next segment.
    for place in range(known + 1 - FIRST_NUMBER):
        code = load_count(entered + place * NUMBER_BYTES)
        store_count(code_points + code * NUMBER_BYTES, 0)
    return known
