"""The mean of a column of numbers as a `Metric`, and what a user chooses."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.mean.columns import NEGATIVE, POSITIVE, mean_basis
from beam_bleu.transforms.metrics.metric import SEGMENTS, Metric, require_width
from beam_bleu.transforms.native.fixed_point import VALUE_ONE, value_sum
from beam_bleu.transforms.shown_names import can_be_shown
from beam_bleu.transforms.text.text import Text


@dataclasses.dataclass(frozen=True)
class Mean(Metric):
    """How sums become a mean. See `Metric`.

    Attributes:
      column: the column of the numbers.

    Raises:
      ValueError: no column can have this name.
    """

    NAME: ClassVar[str] = "mean"
    DIRECTION: ClassVar[str] = "higher"

    column: str

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not can_be_shown(self.column):
            raise ValueError(f"column must be the name of a column, got {self.column!r}")
        if "=" in self.column or "|" in self.column:
            raise ValueError(f'column must be a name without "=" and "|", got {self.column!r}')

    @property
    def name(self) -> str:
        """The name for readers."""
        return f"mean {self.column}"

    def value(self, sums: Sequence[Number]) -> Number:
        """The mean; 0 without a segment."""
        require_width(self.NAME, len(sums), mean_basis().width)
        if not sums[SEGMENTS] > 0:
            return 0.0
        total = value_sum(sums[POSITIVE]) - value_sum(sums[NEGATIVE])
        return total / (sums[SEGMENTS] * VALUE_ONE)


@dataclasses.dataclass(frozen=True)
class MeanError(Mean):
    """The same of numbers of which lower ones are better."""

    NAME = "mean_error"
    DIRECTION = "lower"


@dataclasses.dataclass(frozen=True)
class _Config:
    """What the definitions of both metrics have in common."""

    DEFINITION: ClassVar[type[Mean]]

    column: str = "score"

    def __post_init__(self) -> None:
        _ = self.metric  # it checks the field

    @property
    def text(self) -> Text:
        """No text is read."""
        return Text("none")

    @property
    def metric(self) -> Mean:
        """The part that turns sums into a score."""
        return self.DEFINITION(self.column)


@dataclasses.dataclass(frozen=True)
class MeanConfig(_Config):
    """The mean of a column of numbers of which higher ones are better, such as COMET's.

    Attributes:
      column: the column.

    Raises:
      ValueError: no column can have this name.
    """

    DEFINITION = Mean


@dataclasses.dataclass(frozen=True)
class MeanErrorConfig(_Config):
    """The same for numbers of which lower ones are better, such as MetricX's. See `MeanConfig`."""

    DEFINITION = MeanError
