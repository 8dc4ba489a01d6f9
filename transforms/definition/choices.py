"""Tables of choices: a row for each, by name, and what is said of a name without a row.

A row says what a choice is and needs. What computes it lives in the room that needs it, in a
table keyed by the same names, and `function_of` finds it there. So a row without a function
is an error, and never another choice's number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar


class _Row(Protocol):
    @property
    def name(self) -> str: ...


_Choice = TypeVar("_Choice", bound=_Row)
_Function = TypeVar("_Function")


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
      ValueError: it is another one; the choices are shown.
    """
    names = tuple(choices)  # a value from a configuration may be a list, which no dict looks up
    if value not in names:
        raise ValueError(f"{field} must be one of {', '.join(names)}, got {value!r}")


def function_of(functions: Mapping[Any, _Function], choice: str | bool, kind: str) -> _Function:
    """What a room has for a choice: a function, or the number by which compiled code knows it.

    Args:
      functions: a room's table.
      choice: the name of a row.
      kind: what the rows are, for the message.

    Raises:
      NotImplementedError: the room has nothing for it.
    """
    if choice not in functions:
        raise NotImplementedError(
            f"nothing computes the {kind} {choice!r} here, only {', '.join(map(str, functions))}: "
            "a row of a table needs its function in each room"
        )
    return functions[choice]
