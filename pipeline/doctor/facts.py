"""Facts about an installation, and how they are found although parts of it may be broken."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Literal

Status = Literal["ok", "no", "FAIL"]


@dataclasses.dataclass(frozen=True)
class Fact:
    """One line of the report, under the heading of its section.

    Attributes:
      status: ok; no: it is not there, and scoring here does not need it; FAIL: scoring here
        needs it, and it is missing or wrong.
      text: what was found.
      remedy: what to do; "" if there is nothing to do.
    """

    section: str
    name: str
    status: Status
    text: str
    remedy: str = ""


@dataclasses.dataclass(frozen=True)
class Check:
    """A check that gives facts. `find` imports what it needs itself, because that may fail."""

    section: str
    name: str
    find: Callable[[], Iterable[Fact]]
    needed: bool = True

    def facts(self) -> list[Fact]:
        """The facts; if the check fails, those before, and one that says why."""
        found: list[Fact] = []
        try:
            found.extend(self.find())
        except Exception as error:  # a broken library can raise anything
            reason = (str(error).strip().splitlines() or [""])[0]
            text = f"cannot be checked: {type(error).__name__}: {reason}"
            found.append(Fact(self.section, self.name, "FAIL" if self.needed else "no", text))
        return found
