"""Names in natural order: numbers in names count as numbers, also those that no int can hold."""

from __future__ import annotations

import itertools

from beam_bleu.transforms.definition.choices import natural_order

ORDERED = [
    ("ref2", "ref10"),
    ("10", "b"),
    ("a", "a1", "a1b", "a2"),
    ("007", "7", "8"),
    ("9" * 4999, "1" + "0" * 4999),
    ("1", "２", "３号"),  # only ASCII digits make numbers
    ("", "0", "²"),
]


def test_names_are_in_natural_order() -> None:
    for names in ORDERED:
        assert {natural_order(shuffled) for shuffled in itertools.permutations(names)} == {names}
