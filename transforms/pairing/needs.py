"""What metrics need of an input: texts, and numbers that were computed elsewhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import require_choice, table

Role = Literal["candidates", "references"]
"""What the texts of an input are."""

SYSTEM = "{system}"
"""What stands for the name of the system in the name of a column, if a record has all systems."""

ValuePartName = Literal["number", "sum", "count"]


@dataclasses.dataclass(frozen=True)
class ValuePart:
    """A row of `VALUE_PARTS`.

    Attributes:
      name: its name.
      takes_lists: whether the values of a column can be lists of numbers.
    """

    name: ValuePartName
    takes_lists: bool


VALUE_PARTS: Mapping[ValuePartName, ValuePart] = table(
    ValuePart("number", takes_lists=False),
    ValuePart("sum", takes_lists=True),
    ValuePart("count", takes_lists=True),
)
"""Which number is made of a value of a column: the number that it is, the sum of the numbers in its
list, or how many they are. A number is a list of one."""


@dataclasses.dataclass(frozen=True)
class ValueColumn:
    """A column of numbers that a metric needs.

    Attributes:
      column: the column, as the user writes it. If a record has all systems, `{system}` in it
        stands for the name of each system.
      part: which number is made of a value.

    Raises:
      ValueError: there is no such part.
    """

    column: str
    part: ValuePartName = "number"

    def __post_init__(self) -> None:
        require_choice("part", self.part, VALUE_PARTS)

    @property
    def takes_lists(self) -> bool:
        """Whether the values of the column can be lists of numbers."""
        return VALUE_PARTS[self.part].takes_lists

    def of_system(self, system: str) -> str:
        """The column of a system, in records that have all systems."""
        return self.column.replace(SYSTEM, system)


@dataclasses.dataclass(frozen=True)
class Needs:
    """What is read of an input.

    Attributes:
      roles: the texts.
      values: the columns of numbers.
    """

    roles: tuple[Role, ...] = ()
    values: tuple[ValueColumn, ...] = ()

    def __add__(self, other: Needs) -> Needs:
        return Needs(
            tuple(dict.fromkeys(self.roles + other.roles)),
            tuple(dict.fromkeys(self.values + other.values)),
        )


TEXTS = Needs(("candidates", "references"))
"""What a metric needs that compares candidates with references."""
