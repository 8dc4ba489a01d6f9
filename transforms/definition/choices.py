"""How choices are declared: each is a row in a table. An unknown name is an error everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def table(*rows: Any) -> Mapping[Any, Any]:
    """The rows by name, in their order. The constant with the table gives the type of the names."""
    return {row.name: row for row in rows}


def require_choice(field: str, value: object, choices: Iterable[str]) -> None:
    """Checks that a value is one of the choices; a `ValueError` shows them."""
    names = tuple(choices)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{field} must be one of {', '.join(names)}, got {value!r}")


def require_flag(field: str, value: object) -> None:
    """Checks that a value is True or False. A word such as "false" would count as true."""
    if not isinstance(value, bool):
        raise ValueError(f"{field} must be True or False, got {value!r}")


def require_integer(field: str, value: object, least: int, most: int) -> None:
    """Checks that a value is an integer between two others, and not True or False."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{field} must be {least} to {most}, an int, got {value!r}")
