"""Names for readers, such as those of systems: what they consist of, and their order.

In this order "ref2" comes before "ref10".
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def can_be_shown(name: str) -> bool:
    """Whether a name has only printable characters, and others than spaces."""
    return bool(name.strip()) and name.isprintable()


_NUMBER = re.compile("([0-9]+)")


def natural_order(names: Iterable[str]) -> tuple[str, ...]:
    """The names in natural order: their numbers count as numbers."""
    return tuple(sorted(names, key=natural_key))


def natural_key(name: str) -> tuple[object, ...]:
    """The key of a name in natural order. Different names have different keys."""
    # A number is compared by the number of its digits first: it can be too long for an int.
    # Only ASCII digits are numbers, because others have no zero that could be removed so simply.
    parts: list[object] = [*_NUMBER.split(name)]
    digits = [str(part).lstrip("0") for part in parts[1::2]]
    parts[1::2] = [(len(number), number) for number in digits]
    return parts, name
