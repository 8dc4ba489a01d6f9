"""The mean of numbers that were computed elsewhere, such as the scores of COMET."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from beam_bleu.transforms.definition.choices import can_be_shown
from beam_bleu.transforms.metrics.differentiation import Number
from beam_bleu.transforms.metrics.metric import SEGMENTS, Basis, Metric, ReadyTexts
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.fixed_point import (
    VALUE_COLUMNS,
    VALUE_ONE,
    value_columns,
    value_sum,
)
from beam_bleu.transforms.pairing.needs import Needs, ValueColumn
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.text.text import TextName, own_signature

_POSITIVE = slice(1, 1 + VALUE_COLUMNS)
"""The columns after `SEGMENTS`: the number as a value of fixed point, if it is above 0."""

_NEGATIVE = slice(_POSITIVE.stop, _POSITIVE.stop + VALUE_COLUMNS)
"""The same of minus the number, if it is below 0."""


@dataclasses.dataclass(frozen=True, repr=False)
class MeanScore(Score):
    """The mean of a column of numbers.

    Attributes:
      score: the mean, not rounded.
    """

    DECIMALS = 4


@dataclasses.dataclass(frozen=True)
class MeanConfig(Metric):
    """The mean of a column of numbers of which higher ones are better, such as COMET's.

    Attributes:
      column: the column.

    Raises:
      ValueError: no column can have this name.
    """

    score_type = MeanScore
    basis = Basis(
        (
            "segments",
            *(f"positive_{place}" for place in reversed(range(VALUE_COLUMNS))),
            *(f"negative_{place}" for place in reversed(range(VALUE_COLUMNS))),
        )
    )
    _BETTER: ClassVar[str] = "higher"

    column: str = "score"

    def __post_init__(self) -> None:
        is_name = isinstance(self.column, str) and can_be_shown(self.column)
        if not is_name or "=" in self.column or "|" in self.column:
            raise ValueError(
                f'column must be the name of a column without "=" and "|", got {self.column!r}'
            )

    @property
    def name(self) -> str:
        return f"mean {self.column}"

    @property
    def needs(self) -> Needs:
        return Needs(values=(ValueColumn(self.column),))

    def write_counts(self, texts: ReadyTexts, counts: Integers) -> None:
        values = texts.batch.values[ValueColumn(self.column)]
        counts[..., SEGMENTS] = 1
        counts[..., _POSITIVE] = value_columns(np.maximum(values, 0))
        counts[..., _NEGATIVE] = value_columns(np.maximum(-values, 0))

    def value(self, sums: Sequence[Number]) -> Number:
        if not sums[SEGMENTS] > 0:
            return 0.0
        total = value_sum(sums[_POSITIVE]) - value_sum(sums[_NEGATIVE])
        return total / (sums[SEGMENTS] * VALUE_ONE)

    def signatures(self, text: TextName, fewest: int, most: int) -> tuple[str, None]:
        """References have no part in it, and sacreBLEU has no such metric."""
        return own_signature(text, {"mean": self.column, "better": self._BETTER}), None


@dataclasses.dataclass(frozen=True)
class MeanErrorConfig(MeanConfig):
    """The same for numbers of which lower ones are better, such as MetricX's."""

    _BETTER = "lower"
