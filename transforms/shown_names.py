"""Names that a reader can tell apart: of systems, and of partitions."""

from __future__ import annotations

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
