"""`Score`, the class of all scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    USUAL_DECIMALS,
    counted,
    decimals_for,
    estimate,
    estimates,
)


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class Score:
    """A score and what is known about it. Each metric adds its own attributes.

    Attributes:
      score: not rounded. Most metrics are 0..100.
      signature: the definition that this score follows.
      sacrebleu_signature: the signature that sacreBLEU prints for it; None if sacreBLEU does not
        have the metric, or cannot express the definition.
      warnings: sentences for a reader of the score: why it is 0, why it has no standard error, and
        what is suspicious about the input.
      standard_error: how much the score would typically differ with other segments of the same
        kind; None if it was not asked for, or if there is none.
      interval: the 95 % interval, score -+ 1.96 standard errors, not clipped; None as above.
      name: the name of the metric for readers, such as "chrF2".
    """

    DECIMALS: ClassVar[int] = USUAL_DECIMALS

    score: float
    segments: int
    signature: str
    sacrebleu_signature: str | None = None
    warnings: tuple[str, ...] = ()
    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    name: str

    def __repr__(self) -> str:
        shown = {name: cell for name, (cell,) in shown_columns([self]).items()}
        shown["segments"] = str(self.segments)
        if self.warnings:
            shown["warnings"] = str(len(self.warnings))
        return "  ".join(f"{name} {value}" for name, value in shown.items())

    @classmethod
    def cells(cls, score: Mapping[str, Any], decimals: int) -> dict[str, str]:
        """What a table shows beside the score, percentages with this number of decimals."""
        return {name: str(score[name]) for name in own_fields(cls)}


def own_fields(score_type: type[Score]) -> tuple[str, ...]:
    common = len(dataclasses.fields(Score))  # which come first
    return tuple(field.name for field in dataclasses.fields(score_type)[common:])


def fields_in_order(score_type: type[Score]) -> tuple[str, ...]:
    first, *common = (field.name for field in dataclasses.fields(Score))
    return first, *own_fields(score_type), *common


def shown_columns(scores: Sequence[Score]) -> dict[str, list[str]]:
    usual = scores[0].DECIMALS
    decimals = decimals_for([score.standard_error for score in scores], usual)
    others = [score.cells(vars(score), usual) for score in scores]
    return {
        scores[0].name: estimates(
            [estimate(score.score, score.interval, decimals) for score in scores]
        ),
        **{name: [other[name] for other in others] for name in others[0]},
    }


def size_of(scores: Sequence[Score]) -> str:
    text = counted(scores[0].segments, "segment")
    return f"{text}; {HALF_INTERVAL}" if any(score.interval for score in scores) else text
