"""Names in natural order: numbers in names count as numbers, also those that no int can hold."""

from __future__ import annotations

import itertools

import pytest

from beam_bleu.transforms.definition.choices import natural_order


@pytest.mark.parametrize(
    "names",
    [
        ("ref2", "ref10"),
        ("10", "b"),
        ("a", "a1", "a1b", "a2"),
        ("007", "7", "8"),
        ("9" * 4999, "1" + "0" * 4999),
        ("1", "２", "３号"),  # only ASCII digits make numbers
        ("", "0", "²"),
    ],
)
def test_names_are_in_natural_order(names: tuple[str, ...]) -> None:
    for shuffled in itertools.permutations(names):
        assert natural_order(shuffled) == names
