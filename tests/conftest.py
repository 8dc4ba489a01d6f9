"""For all tests: the oracle adds numbers as on Python 3.11, and logging is restored."""

import logging
import sys

import pytest
import sacrebleu.metrics.bleu


def left_to_right(numbers):
    """`sum` as Python had it before 3.12, which compensates for rounding."""
    total = 0
    for number in numbers:
        total += number
    return total


if sys.version_info >= (3, 12):
    sacrebleu.metrics.bleu.sum = left_to_right


@pytest.fixture(autouse=True)
def _logging_kept():
    """The command sets the log level of its process. This restores it after each test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
