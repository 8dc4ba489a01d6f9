"""A result is flat rows: one for each score, and one for each comparison of two systems.

Files, tables, gates, comparisons and pages are views of them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from beam_bleu.transforms.known_metrics import MetricWord

MACRO_AVERAGE: Final = "macro_average"
"""The group of a mean over languages or tasks."""

Group = Mapping[str, str | None] | Literal["macro_average"] | None
"""What of the corpus a row is about: the labels of a slice and their values, `MACRO_AVERAGE`, or
None, the whole corpus."""


Method = Literal["paired", "independent", "unchanged"]
"""How a score of two results was compared."""


@dataclasses.dataclass(frozen=True, slots=True)
class MetricNames:
    """A metric of a result.

    Attributes:
      metric: its word, as commands write it.
      name: its name for readers.
      signature: its definition; None if languages have different ones.
      sacrebleu_signature: the same by sacreBLEU; None if sacreBLEU does not have it.
    """

    metric: MetricWord
    name: str
    signature: str | None
    sacrebleu_signature: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ScoreRow:
    """A score.

    Attributes:
      metric: the metric, as commands write it.
      system: the system.
      group: what of the corpus it is about.
      preset: the preset by which it is defined; None for the definition of the run.
      segments: the number of segments; of a mean, that of languages or tasks.
      score: the score; None for a mean of which a part is missing.
      standard_error: of the score; None if there is none.
      interval: the 95 % interval; None without a standard error.
      parts: the fields of the metric, in the order of scores.json; lists are tuples.
    """

    metric: MetricWord
    system: str
    group: Group
    preset: str | None
    segments: int
    score: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    parts: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class ComparisonRow:
    """The difference of two systems.

    Attributes:
      metric: the metric, as commands write it.
      system: the system.
      baseline: the system whose score is subtracted.
      group: what of the corpus it is about.
      family: the comparisons for which the p-value is adjusted.
      segments: the number of segments that both have.
      units: the number of segments or documents that both have.
      difference: in points of the score; None if one has none.
      standard_error: of the difference; None if there is none.
      interval: the 95 % interval; None without a standard error.
      p_value: how probable such a difference is if there is none in truth; None if it is unknown.
      p_value_holm: the same, adjusted for the family.
      detectable: the smallest true difference that would usually be found; None if it is unknown.
    """

    metric: MetricWord
    system: str
    baseline: str
    group: Group
    family: str
    segments: int
    units: int
    difference: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    p_value_holm: float | None
    detectable: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class ComparedRow:
    """A score in two results.

    Attributes:
      metric: the metric, as commands write it.
      system: the system.
      group: the labels of the slice and their values; None for the whole corpus; `MACRO_AVERAGE`
        for a mean over languages or tasks.
      segments: the segments of the new score, or how many languages or tasks a mean is of.
      old: the old score.
      new: the new score.
      difference: new minus old.
      standard_error: of the difference; None if there is none.
      interval: the 95 % interval of the difference; None if there is none.
      p_value: how probable such a difference is if there is none in truth; None if it is unknown.
      p_value_holm: the p-value, adjusted for all systems, or for all systems and slices.
      detectable: the smallest true difference that would usually be found significant (80 % power);
        None without a standard error, or if it is 0.
      method: how the scores were compared; "unchanged" if all counts are the same.
      reason: why one of these numbers is None; "" if none is.
    """

    metric: MetricWord
    system: str
    group: Group
    segments: int
    old: float
    new: float
    difference: float
    standard_error: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    p_value_holm: float | None
    detectable: float | None
    method: Method
    reason: str


@dataclasses.dataclass(frozen=True)
class Result:
    """A result.

    Attributes:
      metrics: its metrics, in their order.
      scores: metric by metric, those of the whole corpus and of slices, then means, then presets.
      comparisons: metric by metric, then those of means.
      segments: the number of segments; None if it is not known.
      languages: the definition of each language of each metric, as scores.json has it; none if all
        segments have the same.
      tasks: the tasks without a common score, as scores.json has them.
      uncertainty: of what units the standard errors are; None if there are none.
      resampling: what replicates say of scores and differences; None without them.
      partitions: the labels of the parts of the corpus; None for a part without a label.
    """

    metrics: tuple[MetricNames, ...]
    scores: tuple[ScoreRow, ...]
    comparisons: tuple[ComparisonRow, ...] = ()
    segments: int | None = None
    languages: Sequence[Mapping[str, Any]] = ()
    tasks: Sequence[Mapping[str, Any]] = ()
    uncertainty: Mapping[str, Any] | None = None
    resampling: Mapping[str, Any] | None = None
    partitions: tuple[str | None, ...] = (None,)

    @property
    def words(self) -> list[MetricWord]:
        """The words of the metrics."""
        return [metric.metric for metric in self.metrics]

    def metric(self, word: MetricWord) -> MetricNames:
        """The metric with a word.

        Raises:
          KeyError: the result does not have it.
        """
        for metric in self.metrics:
            if metric.metric == word:
                return metric
        raise KeyError(word)

    def languages_of(self, word: MetricWord) -> list[Mapping[str, Any]]:
        """The languages of a metric."""
        return [language for language in self.languages if language["metric"] == word]

    @functools.cached_property
    def systems(self) -> list[str]:
        """All systems, in the order of their scores."""
        return list(dict.fromkeys(row.system for row in self.scores))
