"""The oracle adds as it did on Python 3.11, whatever Python the tests run on."""

import sys

import sacrebleu.metrics.bleu


def left_to_right(numbers):
    """`sum` as Python had it before 3.12, which compensates for rounding."""
    total = 0
    for number in numbers:
        total += number
    return total


if sys.version_info >= (3, 12):
    sacrebleu.metrics.bleu.sum = left_to_right
