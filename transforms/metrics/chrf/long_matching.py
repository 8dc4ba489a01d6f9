"""Compiled counting of long texts, with numbered n-grams.

With one reference, the matches of chrF are those of BLEU whose tokens are characters, or words. So
each reference is counted by itself. Its tokens get numbers from 1 on: the fewer there are, the more
orders are counted without hashing (see statistics/ngrams/long_matching.py).
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from beam_bleu.transforms.native.compiling import inner
from beam_bleu.transforms.native.memory import load_count, store_count, store_int
from beam_bleu.transforms.statistics.ngrams.long_matching import match_long_segment
from beam_bleu.transforms.text.numbered_texts import numbers_of
from beam_bleu.transforms.text.numbering import NUMBER_BYTES, length_of


@inner
def match_long_reference(
    reference, texts, orders, digits, long_bounds, long_numbers, table, matches, stride
):
    """Writes the matches of every candidate of a segment in one reference, for each order.

    Args:
      reference: the reference.
      texts: the `NumberedTexts` of the batch, with this segment's numbers.
      orders: the largest order, N.
      digits: address of memory for another number for each number; all of it is 0 before and
        afterwards.
      long_bounds: address of memory for as many bounds.
      long_numbers: address of memory for NUMBERS_BYTES for each token, and SPARE_NUMBERS more.
      table: address of memory for a table for the reference's tokens (see `match_long_segment`).
      matches: address of N int64 for the first candidate.
      stride: bytes from these to those of the next candidate.
    """
    first = numbers_of(texts, reference)
    end = first + length_of(texts.bounds, reference) * NUMBER_BYTES
    known = 0
    number, place = first, long_numbers
    while number < end:
        digit = digits + load_count(number) * NUMBER_BYTES
        if load_count(digit) == 0:
            known += 1
            store_count(digit, known)
        store_count(place, load_count(digit))
        number += NUMBER_BYTES
        place += NUMBER_BYTES
    store_int(long_bounds, 0, 0)
    for text in range(texts.reference_count, texts.texts):
        place += NUMBER_BYTES  # the gap
        of_text = text - texts.reference_count + 1
        store_int(long_bounds, of_text, (place - long_numbers) // NUMBER_BYTES)
        number = numbers_of(texts, text)
        end_of_text = number + length_of(texts.bounds, text) * NUMBER_BYTES
        while number < end_of_text:
            digit = load_count(digits + load_count(number) * NUMBER_BYTES)
            store_count(place, digit if digit != 0 else known + 1)
            number += NUMBER_BYTES
            place += NUMBER_BYTES
    last = texts.texts - texts.reference_count + 1
    store_int(long_bounds, last, (place - long_numbers) // NUMBER_BYTES + 1)
    number = first
    while number < end:
        store_count(digits + load_count(number) * NUMBER_BYTES, 0)
        number += NUMBER_BYTES
    match_long_segment(
        *(1, last, long_bounds, orders, known, long_numbers, table, matches, stride, texts.seed)
    )
