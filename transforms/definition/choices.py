"""How choices are declared: each is a row in a table.

A row has a name. It describes a choice and says what it needs. The function that computes it is in
another table with the same names, in the room that uses it. A row without a function is an error,
and so is an unknown name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar


class _Row(Protocol):
    @property
    def name(self) -> str: ...


_Choice = TypeVar("_Choice", bound=_Row)


def table(*rows: _Choice) -> Mapping[Any, _Choice]:
    """The rows by name, in their order. The constant with the table gives the type of the names.

    Raises:
      ValueError: two have the same name.
    """
    by_name = {row.name: row for row in rows}
    if len(by_name) != len(rows):
        raise ValueError(f"two rows have the same name: {', '.join(row.name for row in rows)}")
    return by_name


def require_choice(field: str, value: object, choices: Iterable[str]) -> None:
    """Checks that a value is one of the choices.

    Raises:
      ValueError: it is not; the message shows the choices.
    """
    names = tuple(choices)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{field} must be one of {', '.join(names)}, got {value!r}")


def require_flag(field: str, value: object) -> None:
    """Checks that a value is True or False. A word such as "false" would count as true.

    Raises:
      ValueError: it is something else.
    """
    if not isinstance(value, bool):
        raise ValueError(f"{field} must be True or False, got {value!r}")


def require_integer(field: str, value: object, least: int, most: int) -> None:
    """Checks that a value is an integer between two others, and not True or False.

    Raises:
      ValueError: it is something else.
    """
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{field} must be {least} to {most}, an int, got {value!r}")
