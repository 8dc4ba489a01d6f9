"""Slicing: the labels by which a corpus is divided into slices, each scored like a corpus."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import NamedTuple

from beam_bleu.transforms.definition.choices import natural_key

LENGTH = "length"
"""The reserved name of a label that no input has: the length of a segment's references."""

LENGTH_EDGES = (10, 20, 30, 40, 50)
MOST_SLICES = 1000

CROSS = "*"  # what separates the labels of an item
Item = tuple[str, ...]  # the labels whose values together divide a corpus


class SliceKey(NamedTuple):
    """The number of a slice's item, from 0, and its value of each label: for `LENGTH` the number of
    the range of lengths, from 0, else a text, or None for segments without the label.
    """

    item: int
    values: tuple[str | int | None, ...]


@dataclasses.dataclass(frozen=True)
class Slicing:
    """The slices beside the whole corpus. Each item divides the corpus by the values of its labels.
    `length_edges`, ascending numbers of tokens, are where a new slice of `LENGTH` begins.
    """

    items: tuple[Item, ...] = ()
    length_edges: tuple[int, ...] = LENGTH_EDGES
    most: int = MOST_SLICES

    def __post_init__(self) -> None:
        seen: dict[frozenset[str], str] = {}
        for item in self.items:
            shown = CROSS.join(item)
            if not item or not all(item):
                raise ValueError(f"a label has no name in {shown!r}")
            names = frozenset(item)
            if len(names) < len(item):
                raise ValueError(f"{shown} has a label twice")
            if names in seen:
                raise ValueError(f"{seen[names]} and {shown} are the same slices")
            seen[names] = shown

    def __bool__(self) -> bool:
        return bool(self.items)

    def within(self, label: str) -> Slicing:
        """The slices of a label, and the same items as before within each of these slices."""
        different: dict[frozenset[str], Item] = {}
        for item in ((label,), *self.items):
            within = item if label in item else (label, *item)
            different.setdefault(frozenset(within), within)
        return dataclasses.replace(self, items=tuple(different.values()))

    def values(self, key: SliceKey) -> dict[str, str | None]:
        return {
            name: self._range(value) if isinstance(value, int) else value
            for name, value in zip(self.items[key.item], key.values, strict=True)
        }

    def in_order(self, keys: Iterable[SliceKey]) -> list[SliceKey]:
        """By item, then by values, with numbers in texts as numbers; a missing label comes last."""
        return sorted(
            keys,
            # A flat tuple: there can be 100,000 slices.
            key=lambda key: (key.item, *itertools.chain.from_iterable(map(_order, key.values))),
        )

    def _range(self, number: int) -> str:
        edges = (0, *self.length_edges)
        if number + 1 == len(edges):
            return f"{edges[-1]}+"
        first, last = edges[number], edges[number + 1] - 1
        return f"{first}-{last}" if first < last else str(first)


NO_SLICES = Slicing()


def item_of(text: str) -> Item:
    return tuple(name.strip() for name in text.split(CROSS))


def _order(value: str | int | None) -> tuple[object, ...]:
    if value is None:
        return (2,)
    if isinstance(value, int):
        return (0, value)
    return (1, *natural_key(value))
