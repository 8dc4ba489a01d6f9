"""The choices for upper and lower case.

The functions are in `splitting.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

Lowercase = bool | Literal["ascii"]


@dataclasses.dataclass(frozen=True)
class Case:
    """A row of `CASES`.

    Attributes:
      value: `BleuConfig.lowercase`.
      name: its name in signatures.
      flag: the flag of the command.
      description: what the flag does.
      shown: its name in the table of presets.
      in_sacrebleu: whether sacreBLEU has it.
      by_unicode: whether it depends on the version of Python's Unicode tables.
    """

    value: Lowercase
    name: str
    flag: str
    description: str
    shown: str
    in_sacrebleu: bool
    by_unicode: bool


CASES: Mapping[Lowercase, Case] = {
    case.value: case
    for case in (
        Case(
            True, "lc", "lowercase", "lower-case the text before it is scored", "lower", True, True
        ),
        Case(
            "ascii",
            "lc-ascii",
            "lowercase_ascii",
            "lower-case only A-Z",
            "lower A-Z",
            in_sacrebleu=False,
            by_unicode=False,
        ),
        Case(
            False,
            "mixed",
            "no_lowercase",
            "do not lower-case, even if the preset does",
            "mixed",
            in_sacrebleu=True,
            by_unicode=False,
        ),
    )
}
"""All cases, by value."""


def require_case(lowercase: object) -> None:
    """Checks that `BleuConfig.lowercase` can have a value.

    Raises:
      ValueError: it cannot; the message shows the choices.
    """
    # The number 1 equals True in Python, but it is not one of the choices.
    if not isinstance(lowercase, bool | str) or lowercase not in CASES:
        *others, last = (repr(value) for value in CASES)
        raise ValueError(f"lowercase must be {', '.join(others)} or {last}, got {lowercase!r}")
