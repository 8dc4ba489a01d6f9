"""Compiled code calls other compiled code by its address."""

from __future__ import annotations

import numpy as np
import pytest

from beam_bleu.transforms.native.compiling import call, compiled

LARGE = np.uint64(2**64 - 1)


@compiled
def places(one, two, large):
    """A number whose digits are the arguments: 9 in place of the large one."""
    first, second = two
    return one * 1000 + first * 100 + second * 10 + (9 if large == LARGE else 0)


@compiled
def twice(entry, number, large):
    return call(entry, (number, (number + 1, number + 2), large)) * 2


@compiled
def with_a_half(entry):
    return call(entry, (0.5,))


@compiled
def with_a_small_number(entry, numbers):
    return call(entry, (numbers[0],))


def test_arguments_and_results_are_passed() -> None:
    entry = places.entry(0, (0, 0), LARGE)
    assert entry == places.entry(7, (8, 9), LARGE), "the same types have the same entry"
    assert places(1, (2, 3), LARGE) == 1239
    assert twice(entry, 1, LARGE) == 2 * 1239
    assert twice(entry, 4, np.uint64(5)) == 2 * 4560


@pytest.mark.parametrize(
    ("function", "arguments", "kind"),
    [
        (with_a_half, (0,), "float64"),
        (with_a_small_number, (0, np.zeros(1, np.int32)), "int32"),
    ],
)
def test_other_arguments_are_refused(function, arguments, kind) -> None:
    with pytest.raises(Exception, match=f"cannot call an entry with {kind}"):
        function(*arguments)
