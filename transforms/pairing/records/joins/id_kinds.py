"""The kinds of ids, and which ones can be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, get_args

PartKind = Literal["string", "integer", "text"]
PART_KINDS: tuple[PartKind, ...] = get_args(PartKind)
"""What ids are in their file. The string "1" and the integer 1 are different ids. But the ids of a
file without types, such as tab-separated text, are neither: the text 1 is the same as both."""

IdKind = str
"""The kind of an id: that of each of its columns, with commas between them."""


def kind_of_parts(parts: Iterable[PartKind]) -> IdKind:
    """The kind of ids whose columns have these kinds."""
    return ",".join(parts)


def parts_of_kind(kind: IdKind) -> list[PartKind]:
    """The kind of each column of the ids.

    Raises:
      ValueError: it is no kind.
    """
    return [PART_KINDS[PART_KINDS.index(each)] for each in kind.split(",")]


def can_be_joined(kinds: Collection[IdKind]) -> bool:
    """Whether ids of all these kinds, which have equally many columns, can be compared."""
    columns = zip(*map(parts_of_kind, kinds), strict=True)
    return all(len({*of_column} - {"text"}) <= 1 for of_column in columns)
