"""A result is flat rows: one for each score, and one for each comparison of two systems.

Files, tables, gates, comparisons and pages are views of them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.score.differences import Difference

MACRO_AVERAGE: Final = "macro_average"
"""The group of a mean over languages or tasks."""

Group = Mapping[str, str | None] | Literal["macro_average"] | None
"""What of the corpus a row is about: the labels of a slice and their values, `MACRO_AVERAGE`, or
None, the whole corpus."""

Entry = Mapping[str, Any]
"""An entry of scores.json."""

Method = Literal["paired", "independent", "unchanged"]
"""How a score of two results was compared; "unchanged" if all counts are the same."""


FamilyName = Literal["corpus", "macro_average", "slices"]
"""The name of a family: comparisons whose p-values are adjusted together."""

FAMILIES: Mapping[FamilyName, str] = {
    "corpus": "on the whole corpus",
    "macro_average": "on the macro average",
    "slices": "on each slice",
}
"""The families in their order, and on what their systems are compared."""


@dataclasses.dataclass(frozen=True, slots=True)
class MetricNames:
    """A metric of a result: its word, as commands write it, and its name for readers.

    The signatures are None if languages have different ones, or sacreBLEU does not have the metric.
    """

    metric: MetricWord
    name: str
    signature: str | None
    sacrebleu_signature: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class PresetNames:
    """A preset by which a metric of a result is scored, too.

    `warnings` is what a reader of its scores must know, and `has_errors` whether these can have
    standard errors.
    """

    metric: MetricWord
    preset: str
    signature: str
    sacrebleu_signature: str | None
    warnings: tuple[str, ...]
    has_errors: bool


@dataclasses.dataclass(frozen=True, slots=True)
class ScoreRow:
    """A score.

    Attributes:
      preset: the preset by which it is defined; None for the definition of the run.
      segments: the number of segments; of a mean, that of languages or tasks.
      score: the score; None for a mean of which a part is missing.
      standard_error: of the score; None if there is none.
      interval: the 95 % interval; None without a standard error.
      parts: the fields of the metric, in the order of scores.json; lists are tuples.
      warnings: what a reader of it must know. A result that is read again has them in its own.
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
    warnings: tuple[str, ...] = dataclasses.field(default=(), compare=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DifferenceRow(Difference):
    """The difference of two scores.

    Attributes:
      group: what of the corpus it is about. If it is a mean in two results, `segments` is the
        number of languages or tasks.
      p_value_holm: the p-value, adjusted for the family.
      reason: why a number is None; "" if none is. scores.json does not have it.
    """

    metric: MetricWord
    system: str
    group: Group
    p_value_holm: float | None = None
    reason: str = dataclasses.field(default="", compare=False)

    @property
    def family(self) -> FamilyName:
        """The comparisons for which the p-value is adjusted."""
        if isinstance(self.group, Mapping):
            return "slices"
        return "corpus" if self.group is None else "macro_average"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonRow(DifferenceRow):
    """The score of a system minus that of the baseline."""

    baseline: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparedRow(DifferenceRow):
    """A score in two results: the new one minus the old one."""

    old: float
    new: float
    method: Method


@dataclasses.dataclass(frozen=True)
class Result:
    """A result. Its mappings are entries of scores.json, as docs/output.md explains them.

    Attributes:
      scores: metric by metric, those of the whole corpus and of slices, then means, then presets.
      comparisons: metric by metric, those of the whole corpus and of slices, then those of means.
      segments: the number of segments; None if it is not known.
      warnings: what a reader of the scores must know, without the warnings of presets.
      languages: the definition of each language of each metric; none if all segments have the same.
      tasks: the tasks without a common score.
      segment_scores: how the scores of segments are made; None if they are not asked for.
      distributions: those of the scores of segments; None if they are not asked for.
      coverage: which segments the systems have; None if each record has all systems.
      uncertainty: of what units the standard errors are; None if there are none.
      clusters: the systems that are not worse than others; None if they are not asked for.
      resampling: what replicates say of scores and differences; None without them.
      partitions: the labels of the parts of the corpus; None for a part without a label.
    """

    metrics: tuple[MetricNames, ...]
    scores: tuple[ScoreRow, ...]
    comparisons: tuple[ComparisonRow, ...] = ()
    segments: int | None = None
    counters: Entry = dataclasses.field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    languages: Sequence[Entry] = ()
    tasks: Sequence[Entry] = ()
    presets: tuple[PresetNames, ...] = ()
    segment_scores: Entry | None = None
    distributions: Sequence[Entry] | None = None
    coverage: Entry | None = None
    uncertainty: Entry | None = None
    clusters: Sequence[Entry] | None = None
    resampling: Entry | None = None
    partitions: tuple[str | None, ...] = (None,)

    @property
    def words(self) -> list[MetricWord]:
        """The words of the metrics."""
        return [metric.metric for metric in self.metrics]

    def metric(self, word: MetricWord) -> MetricNames:
        """The metric with a word."""
        return {metric.metric: metric for metric in self.metrics}[word]

    def preset(self, word: MetricWord, name: str) -> PresetNames:
        """A preset of a metric, which must have it."""
        return next(own for own in self.presets if (own.metric, own.preset) == (word, name))

    def has_errors(self, row: ScoreRow) -> bool:
        """Whether a score of its kind can have a standard error."""
        if row.preset is None:
            return self.uncertainty is not None
        return self.preset(row.metric, row.preset).has_errors

    def languages_of(self, word: MetricWord) -> list[Entry]:
        """The languages of a metric."""
        return [language for language in self.languages if language["metric"] == word]

    def whole(self, word: MetricWord) -> list[ScoreRow]:
        """The scores of the whole corpus by a metric."""
        return [row for row in self._scores(word) if row.group is None]

    def averages(self, word: MetricWord) -> list[ScoreRow]:
        """The means over languages or tasks by a metric."""
        return [row for row in self._scores(word) if row.group == MACRO_AVERAGE]

    def slices(self, word: MetricWord) -> list[ScoreRow]:
        """The scores of slices by a metric."""
        return [row for row in self._scores(word) if isinstance(row.group, Mapping)]

    def _scores(self, word: MetricWord) -> list[ScoreRow]:
        """The scores of a metric by the definition of the run."""
        return [row for row in self.scores if row.metric == word and row.preset is None]

    def compared(self, word: MetricWord) -> list[ComparisonRow]:
        """The differences of two systems by a metric."""
        return [row for row in self.comparisons if row.metric == word]

    @property
    def all_warnings(self) -> list[str]:
        """All that a reader of the scores must know, also of those of presets."""
        presets = [f"{own.preset}: {warning}" for own in self.presets for warning in own.warnings]
        return [*self.warnings, *presets]

    @functools.cached_property
    def systems(self) -> list[str]:
        """All systems, in the order of their scores."""
        return list(dict.fromkeys(row.system for row in self.scores))
