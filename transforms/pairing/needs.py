"""What metrics need of an input: texts, and numbers that were computed elsewhere."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import require_choice, table
from beam_bleu.transforms.native.fixed_point import VALUE_BOUND

Role = Literal["candidates", "references"]  # what the texts of an input are

SYSTEM = "{system}"  # stands for the system's name in a column, if a record has all systems

ValuePartName = str  # of a row of `VALUE_PARTS`

ValueKind = Literal["number", "list", "text"]


@dataclasses.dataclass(frozen=True)
class ValuePart:
    """A row of `VALUE_PARTS`. Systems can share a column if `is_shared`."""

    name: ValuePartName
    takes: tuple[ValueKind, ...]
    must_be: str
    is_shared: bool = False


_LARGEST = VALUE_BOUND - 1

# Which number is made of a value of a column: the number that it is; the sum of the logarithms in
# its list; how many they are; or the number of words or bytes of its text.
VALUE_PARTS: Mapping[ValuePartName, ValuePart] = table(
    ValuePart("number", ("number",), f"a number above -{VALUE_BOUND} and below {VALUE_BOUND}"),
    ValuePart(
        "log_probability",
        ("number", "list"),
        "the natural logarithm of a probability, which is at most 0, or a list of them",
    ),
    ValuePart(
        "summed_log_probability",
        ("number",),
        "the natural logarithm of a probability, which is at most 0",
    ),
    ValuePart(
        "log_probabilities",
        ("list",),
        "a list of natural logarithms of probabilities, which are at most 0",
    ),
    ValuePart("length", ("list",), "a list that is not empty"),
    ValuePart("positive", ("number",), f"a whole number from 1 to {_LARGEST}", is_shared=True),
    ValuePart("whole", ("number",), f"a whole number from 0 to {_LARGEST}", is_shared=True),
    ValuePart("words", ("text",), "a text", is_shared=True),
    ValuePart("bytes", ("text",), "a text", is_shared=True),
)


@dataclasses.dataclass(frozen=True)
class ValueColumn:
    """A column from which a metric needs numbers. If a record has all systems, `{system}` in it
    stands for the name of each. `remedy` is what to do if the column has other values.
    """

    column: str
    part: ValuePartName = "number"
    remedy: str = dataclasses.field(default="", compare=False)
    flag: str = dataclasses.field(default="", compare=False)

    def __post_init__(self) -> None:
        require_choice("part", self.part, VALUE_PARTS)

    def takes(self, kind: ValueKind) -> bool:
        return kind in VALUE_PARTS[self.part].takes

    @property
    def is_shared(self) -> bool:
        return VALUE_PARTS[self.part].is_shared

    def of_system(self, system: str) -> str:
        return self.column.replace(SYSTEM, system)


@dataclasses.dataclass(frozen=True)
class Needs:
    """What to read. If not `reference_of_each`, an empty list of references stands for one that is
    an empty text.
    """

    roles: tuple[Role, ...] = ()
    values: tuple[ValueColumn, ...] = ()
    reference_of_each: bool = False

    def __add__(self, other: Needs) -> Needs:
        return Needs(
            tuple(dict.fromkeys(self.roles + other.roles)),
            tuple(dict.fromkeys(self.values + other.values)),
            self.reference_of_each or other.reference_of_each,
        )


def first_matching(patterns: Iterable[str], name: str) -> str | None:
    return next((each for each in patterns if fnmatch.fnmatchcase(name, each)), None)


ANSWERS = Needs(("candidates", "references"))
TEXTS = dataclasses.replace(ANSWERS, reference_of_each=True)
