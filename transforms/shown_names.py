"""Names for readers, such as those of systems and partitions: which look alike, and their order.

In this order "ref2" comes before "ref10".
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
"""Characters that are printable for Python, but invisible."""


def look(text: str) -> str:
    """How a text looks: texts that a reader cannot tell apart have the same look."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def can_be_shown(name: str) -> bool:
    """Whether a name has only printable characters, and one that is visible."""
    return bool(look(name).strip()) and name.isprintable()


def look_alikes(names: Iterable[str]) -> tuple[str, str] | None:
    """The first two different names that look the same; None if there are none."""
    looking: dict[str, str] = {}
    for name in names:
        other = looking.setdefault(look(name), name)
        if other != name:
            return other, name
    return None


_NUMBER = re.compile("([0-9]+)")


def natural_order(names: Iterable[str]) -> tuple[str, ...]:
    """The names in natural order: their numbers count as numbers."""
    return tuple(sorted(names, key=natural_key))


def natural_key(name: str) -> tuple[object, ...]:
    """The key of a name in natural order. Different names have different keys."""
    # A number is compared by the number of its digits first: it can be too long for an int.
    # Only ASCII digits are numbers, because others have no zero that could be removed so simply.
    parts = _NUMBER.split(name)
    digits = [part.lstrip("0") for part in parts[1::2]]
    numbers = [(len(number), number) for number in digits]
    return (list(itertools.chain(*zip(parts[::2], [*numbers, ()], strict=True))), name)
