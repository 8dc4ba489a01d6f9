"""The mean of a corpus, with its signature, and the numbers of its segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from beam_bleu.transforms.metrics.mean import presentation
from beam_bleu.transforms.metrics.mean.metric import Mean
from beam_bleu.transforms.metrics.metric import Presentation
from beam_bleu.transforms.score.metric_kind import Signatures
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.text.text import TextName, own_signature


@dataclasses.dataclass(frozen=True, repr=False)
class MeanScore(Score):
    """The mean of a column of numbers.

    Attributes:
      score: the mean, not rounded.
    """

    _PRESENTATION: ClassVar[Presentation] = presentation


def mean_parts(columns: Sequence[int], metric: Mean) -> Mapping[str, Any]:
    """The score: there are no other fields that the columns tell."""
    return {"score": metric.value(columns)}


def mean_signatures(text: TextName, metric: Mean, fewest: int, most: int) -> Signatures:
    """The signatures. References have no part in it, and sacreBLEU has no such metric."""
    fields = {"mean": metric.column, "better": metric.DIRECTION}
    return Signatures(own_signature(text, fields), None)
