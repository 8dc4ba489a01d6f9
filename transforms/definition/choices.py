"""How choices are declared: each is a row in a table. An unknown name is an error everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal


def table(*rows: Any) -> Mapping[Any, Any]:
    """The rows by name, in their order. The constant with the table gives the type of the names."""
    return {row.name: row for row in rows}


def require_choice(field: str, value: object, choices: Iterable[str]) -> None:
    names = tuple(choices)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{field} must be one of {', '.join(names)}, got {value!r}")


def require_flag(field: str, value: object) -> None:
    """Checks that a value is True or False. A word such as "false" would count as true."""
    if not isinstance(value, bool):
        raise ValueError(f"{field} must be True or False, got {value!r}")


def require_text(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{field} must be a string, got {value!r}")


def require_texts(field: str, values: object) -> None:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ValueError(f"{field} must be a list of strings, got {values!r}")
    for value in values:
        require_text(f"each of {field}", value)


def require_integer(field: str, value: object, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{field} must be {least} to {most}, an int, got {value!r}")


AllowedName = Literal[
    "another-format",
    "characters",
    "ids",
    "marks",
    "order",
    "other-documents",
    "pieces",
    "redirects",
    "repeats",
]

ALLOWED: Mapping[AllowedName, str] = {
    "another-format": "the lines are JSON, SGML, subtitles, ..., not text",
    "characters": "texts have characters that differ without being seen",
    "ids": "texts begin or end with ids",
    "marks": "texts of one side have marks of a program",
    "order": "candidates belong to references of other lines",
    "other-documents": "rows with the same id have different references, sources or hashes",
    "pieces": "texts are pieces of words",
    "redirects": "web servers send readers to other hosts (without a warning)",
    "repeats": "the last segments are in the input twice",
}
"""What --allow can name. An error of such a kind is then a warning, and a warning is left out."""


def can_be_shown(name: str) -> bool:
    """Whether a name has only printable characters, and not only spaces."""
    return bool(name.strip()) and name.isprintable()


_PART = re.compile("([^0-9]*)([0-9]*)")


def natural_order(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=natural_key))


def natural_key(name: str) -> tuple[object, ...]:
    """The key of a name in natural order. Different names have different keys."""
    # Numbers are compared by how many digits they have, and then as texts: they can be too long for
    # an int. Only ASCII digits are numbers, because the zeros of others are not so easy to remove.
    key: list[str | int] = []
    for text, digits in _PART.findall(name):
        number = digits.lstrip("0")
        key += (text, len(number) if digits else -1, number)
    return (*key, name)
