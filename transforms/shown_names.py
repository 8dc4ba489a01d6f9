"""Names for readers, such as those of systems: what they consist of, and their order.

In this order "ref2" comes before "ref10".
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def can_be_shown(name: str) -> bool:
    """Whether a name has only printable characters, and others than spaces."""
    return bool(name.strip()) and name.isprintable()


_PART = re.compile("([^0-9]*)([0-9]*)")


def natural_order(names: Iterable[str]) -> tuple[str, ...]:
    """The names in natural order: their numbers count as numbers."""
    return tuple(sorted(names, key=natural_key))


def natural_key(name: str) -> tuple[object, ...]:
    """The key of a name in natural order. Different names have different keys."""
    # A number is compared by the number of its digits first: it can be too long for an int.
    # Only ASCII digits are numbers, because others have no zero that could be removed so simply.
    key: list[str | int] = []
    for text, digits in _PART.findall(name):
        number = digits.lstrip("0")
        key += (text, len(number) if digits else -1, number)
    return (*key, name)
