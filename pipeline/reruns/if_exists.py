"""What a run does if the output folder already has a complete result."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import table

IfExistsName = Literal["replace", "skip", "fail"]


@dataclasses.dataclass(frozen=True)
class IfExists:
    """A row of `IF_EXISTS`.

    Attributes:
      name: its name.
      description: what a run does.
    """

    name: IfExistsName
    description: str


IF_EXISTS: Mapping[IfExistsName, IfExists] = table(
    IfExists("replace", "score again, and replace it"),
    IfExists(
        "skip",
        "run nothing and show it, if it is of the same partition, systems and definition; "
        "otherwise exit code 2",
    ),
    IfExists("fail", "exit code 1"),
)
"""All choices, in the order in which they are shown. The first one is the default."""

DEFAULT_IF_EXISTS = next(iter(IF_EXISTS))
