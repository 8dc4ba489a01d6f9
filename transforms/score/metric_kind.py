"""What the other rooms must know of a metric to count it, score it and save it."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from beam_bleu.transforms.metrics.metric import Basis, Metric, Scores
from beam_bleu.transforms.score.shown_score import Score, own_fields
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.counting import Counter
from beam_bleu.transforms.text.text import Text, TextName


class Config(Protocol):
    """A user's definition of a metric, such as a `ChrfConfig`: a frozen dataclass."""

    @property
    def text(self) -> Text:
        """The steps from a text to its tokens."""


@dataclasses.dataclass(frozen=True)
class Signatures:
    """How scores are made.

    Attributes:
      own: the signature, with everything that changes the number.
      sacrebleu: the one that sacreBLEU prints; None if sacreBLEU cannot express the definition.
    """

    own: str
    sacrebleu: str | None


def _values_of_segments(statistics: BatchStatistics, metric: Metric) -> Scores:
    """What the definition makes of the columns of each segment, as of those of a corpus."""
    return metric.values(statistics.counts.reshape(-1, statistics.counts.shape[2]))


def _same(metric: Any) -> Any:
    """The same definition for single segments."""
    return metric


def _no_columns(statistics: BatchStatistics, metric: Any) -> Mapping[str, Any]:
    """The score of a segment is all that there is."""
    return {}


def _no_fields(metric: Any) -> Mapping[str, pa.DataType]:
    return {}


def _no_reason(columns: Sequence[int], metric: Any, parts: Mapping[str, Any]) -> str:
    """A score of 0 needs no explanation."""
    return ""


def _no_warnings(columns: Sequence[int], metric: Any) -> Iterable[str]:
    """The metric has no warnings of its own."""
    return ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class MetricKind:
    """A metric, for any definition of it. `metric` is a definition, a value of its own `Metric`.

    The defaults are for a metric whose `Metric` is a dataclass with all of its choices, and is the
    attribute `metric` of its config.

    Attributes:
      config: the type of a user's definition, with the steps from a text to its tokens.
      metric_of: (config) its part that turns the sums of a corpus into a score.
      of_segments: (metric) the definition of single segments, if no other one is asked for.
      score_type: the type of a score, a dataclass.
      config_of: (text of the run, choices) a definition with those steps of this text that the
        metric has, and with choices of its own, by field; otherwise sacreBLEU's. It raises a
        `ValueError` if a choice is impossible.
      presets: definitions of other tools, by name.
      counter: (metrics) what counts the columns that all of these definitions need.
      basis_of: (W) its columns, if there is this number of them.
      parts: (columns, metric) the fields of the score of a corpus that its columns tell.
      why_zero: (columns, metric, parts) a sentence that says why the score is 0, or "".
      warnings: (columns, metric) sentences about input that only this metric has.
      signatures: (text, metric, least and largest number of references of a segment) how scores
        are made.
      segment_scores: (statistics, metric) the scores of segments, float64 (systems * segments,),
        system by system; nan where a score is not defined.
      segment_columns: (statistics, metric) what it shows beside these scores: its own columns, with
        as many values.
      segment_fields: (metric) its own columns with their types.
    """

    config: type[Config]
    metric_of: Callable[[Any], Metric] = operator.attrgetter("metric")
    of_segments: Callable[[Any], Metric] = _same
    score_type: type[Score]
    config_of: Callable[[Text, Mapping[str, Any]], Any]
    presets: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    counter: Callable[[Sequence[Any]], Counter]
    basis_of: Callable[[int], Basis]
    parts: Callable[[Sequence[int], Any], Mapping[str, Any]]
    why_zero: Callable[[Sequence[int], Any, Mapping[str, Any]], str] = _no_reason
    warnings: Callable[[Sequence[int], Any], Iterable[str]] = _no_warnings
    signatures: Callable[[TextName, Any, int, int], Signatures]
    segment_scores: Callable[[BatchStatistics, Any], Scores] = _values_of_segments
    segment_columns: Callable[[BatchStatistics, Any], Mapping[str, Any]] = _no_columns
    segment_fields: Callable[[Any], Mapping[str, pa.DataType]] = _no_fields

    @property
    def definition(self) -> type[Metric]:
        """The dataclass of its definitions."""
        return type(self.metric_of(self.config()))

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the attributes that only its scores have, in the order of scores.json."""
        return own_fields(self.score_type)
