"""An example: a segment that readers see, with its texts, and the reason why it was picked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.examples.score_cells import ScoreCells
from beam_bleu.transforms.wiring.sums import Sums, added

KindName = Literal["best", "worst", "gain", "loss", "sample"]


@dataclasses.dataclass(frozen=True)
class ExampleKind:
    """A row of `EXAMPLE_KINDS`: which segments of a system are picked.

    They are picked by their scores, or by the difference from the baseline, if it compares.
    """

    name: KindName
    description: str
    compares: bool = False


EXAMPLE_KINDS: Mapping[KindName, ExampleKind] = table(
    ExampleKind("best", "those with the best scores"),
    ExampleKind("worst", "those with the worst scores"),
    ExampleKind(
        "gain", "those whose score is better than the baseline's by the most", compares=True
    ),
    ExampleKind(
        "loss", "those whose score is worse than the baseline's by the most", compares=True
    ),
    ExampleKind(
        "sample",
        "a uniform random sample: the same segments for all metrics and, if all systems have the "
        "same segments, for all systems",
    ),
)
"""Why a segment is an example, in the order of the file of examples."""

MOST_EXAMPLES = 1000
"""The most examples of a kind, for each metric and system."""

MOST_CHARACTERS = 2000
"""The most characters of a text of an example."""

CUT_MARK = " […]"
"""The end of a text that was cut."""


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """A segment of a system. Texts are cut, so its memory is bounded.

    Examples of a kind are in the order of ranks, and then of numbers in the input. The entry is its
    line in the file of examples; docs/examples.md explains the keys. Its baseline is the system
    with which it is compared, whatever the kind.
    """

    rank: float
    index: int
    entry: Mapping[str, Any]


def cut(text: memoryview | bytes) -> str:
    """A text with at most `MOST_CHARACTERS` characters, and `CUT_MARK` if it had more."""
    # One character more, of at most 4 bytes, shows whether there are more. The last bytes can be a
    # part of a character.
    begin = bytes(text[: (MOST_CHARACTERS + 1) * 4]).decode(errors="ignore")
    return begin if len(begin) <= MOST_CHARACTERS else begin[:MOST_CHARACTERS] + CUT_MARK


class ListKey(NamedTuple):
    """Of which segments there are examples.

    `baseline` is the system with which it is compared, if the kind compares. Segments that the
    first system does not have can be compared with another one.
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

    `number` is the most examples of each kind, for each metric and system. The distributions of
    the scores that are defined are by metric and system.
    """

    number: int
    examples: Mapping[ListKey, tuple[Example, ...]] = dataclasses.field(default_factory=dict)
    scores: Mapping[tuple[str, str], ScoreCells] = dataclasses.field(default_factory=dict)

    def __add__(self, other: Picked) -> Picked:
        if self.number != other.number:
            raise ValueError(f"{self.number} and {other.number} examples cannot be added")
        return Picked(
            self.number,
            added(self.examples, other.examples, self._first_ones),
            added(self.scores, other.scores),
        )

    def _first_ones(
        self, first: tuple[Example, ...], second: tuple[Example, ...]
    ) -> tuple[Example, ...]:
        both = sorted((*first, *second), key=lambda example: (example.rank, example.index))
        return tuple(both[: self.number])
