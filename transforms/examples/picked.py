"""The examples of a part of a corpus, and the distributions of its scores: they add up."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

from beam_bleu.transforms.examples.example import Example, KindName
from beam_bleu.transforms.examples.score_cells import ScoreCells
from beam_bleu.transforms.wiring.sums import Sums, added


class ScoresKey(NamedTuple):
    """Of which scores there is a distribution."""

    metric: str
    system: str


class ListKey(NamedTuple):
    """Of which segments there are examples.

    Attributes:
      kind: why they are examples.
      metric: by which metric.
      system: of which system.
      baseline: with which system it is compared, if the kind compares. Segments that the first
        system does not have can be compared with another one.
    """

    kind: KindName
    metric: str
    system: str
    baseline: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Picked(Sums):
    """The examples and the distributions of a part of a corpus.

    Of the examples of two parts, the first ones of each kind are kept. So the memory is bounded,
    and any split and order gives the same examples.

    Attributes:
      number: the most examples of each kind, for each metric and system.
      examples: the examples, in order.
      scores: the distributions of the scores that are defined.
    """

    number: int
    examples: Mapping[ListKey, tuple[Example, ...]] = dataclasses.field(default_factory=dict)
    scores: Mapping[ScoresKey, ScoreCells] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Picked) -> Picked:
        if self.number != other.number:
            raise ValueError(f"{self.number} and {other.number} examples cannot be added")
        return Picked(
            self.number,
            added(self.examples, other.examples, self._first_ones),
            added(self.scores, other.scores),
        )

    def _first_ones(
        self, one: tuple[Example, ...], other: tuple[Example, ...]
    ) -> tuple[Example, ...]:
        return tuple(sorted((*one, *other), key=lambda example: example.place)[: self.number])
