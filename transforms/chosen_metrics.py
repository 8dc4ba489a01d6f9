"""The metrics that a user of the library chooses: from their names and configs to definitions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.known_metrics import (
    DEFAULT_METRIC,
    Definition,
    MetricName,
    MetricWord,
    config_type,
    parameter_of,
    row_of,
    word_of,
)
from beam_bleu.transforms.pairing.needs import Needs
from beam_bleu.transforms.score.segment_table import (
    compile_segment_table,
    named_columns,
    named_fields,
)
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.counting import PreparedBatch, prepare_counting
from beam_bleu.transforms.text.library_tokenizers import require_library

if TYPE_CHECKING:
    from beam_bleu.transforms.metrics.metric import Metric
    from beam_bleu.transforms.pairing.batch import SegmentBatch
    from beam_bleu.transforms.text.text import Text


def configs_by_word(metrics: Any) -> dict[MetricWord, Any]:
    """The metrics of a list, in their order: for each word its config; None if it is only named.

    Args:
      metrics: a list of words, such as "bleu", and of configs; each metric can be there once.

    Raises:
      ValueError: it is something else.
    """
    if isinstance(metrics, str | Mapping) or not isinstance(metrics, Sequence) or not metrics:
        raise ValueError(f"metrics must be a list of names and configs, got {metrics!r}")
    configs: dict[MetricWord, Any] = {}
    for metric in metrics:
        is_named = isinstance(metric, str)
        if is_named:
            row_of(metric)
        word = metric if is_named else word_of(metric)
        if word in configs:
            raise ValueError(f"metrics must be different ones, got {word} twice")
        configs[word] = None if is_named else metric
    return configs


def definition_of(config: Any, *, of_segments: bool = False) -> tuple[Text, Definition]:
    """The parts of a definition whose tokenizer is installed.

    Args:
      config: a config of a metric.
      of_segments: whether it is to score single segments, instead of a corpus.

    Returns:
      The steps from a text to its tokens, and the definition.

    Raises:
      ValueError: it is something else, or it is for single segments only and is to score a corpus.
    """
    word, metric = word_of(config), config.metric
    if of_segments:
        metric = metric.for_segments()
    else:
        metric.require_corpus()
    require_library(config.text)
    return config.text, Definition(word, config.text.name, metric)


def require_readable(needs: Needs) -> None:
    """Checks that the transforms that read can read what metrics need.

    Raises:
      ValueError: it is a column of other values than numbers.
    """
    for value in needs.values:
        if value.part != "number":
            raise ValueError(
                f"a metric needs the column {value.column}, which the transforms of the "
                "library do not read: score these records with the command beam-bleu"
            )


def require_texts_only(needs: Needs) -> None:
    """Checks that metrics can count segments and rows of tables, which have only texts.

    Raises:
      ValueError: one needs numbers.
    """
    require_readable(needs)
    for value in needs.values:
        raise ValueError(
            f"a metric needs numbers of the column {value.column}, and segments have only "
            "texts: read records with ReadPairedRecords(..., number_columns=[...]), and score "
            "them with CorpusScores.PerSystem or Evaluate"
        )


@dataclasses.dataclass(frozen=True)
class ChosenMetrics:
    """The metrics that a call or a transform scores by.

    Attributes:
      definitions: the definition of each metric.
      texts: for each metric the steps from a text to its tokens.
    """

    definitions: tuple[Definition, ...]
    texts: tuple[Text, ...]

    @classmethod
    def of(cls, metrics: Any, *, of_segments: bool = False) -> ChosenMetrics:
        """The metrics of a list, as `configs_by_word` takes it.

        Args:
          metrics: the list.
          of_segments: whether they are to score single segments.

        Raises:
          ValueError: it is something else, or one of them is impossible.
        """
        chosen = [
            definition_of(
                config_type(word)(**parameter_of(word)) if config is None else config,
                of_segments=of_segments,
            )
            for word, config in configs_by_word(metrics).items()
        ]
        return cls(tuple(each for _, each in chosen), tuple(text for text, _ in chosen))

    @classmethod
    def single(cls, config: Any, metric: MetricName | None = None) -> ChosenMetrics:
        """One metric.

        Args:
          config: its config; None for the default one.
          metric: the metric that it must be; None for any, by default BLEU.

        Raises:
          ValueError: the config is impossible.
        """
        chosen = cls.of([metric or DEFAULT_METRIC if config is None else config])
        if metric is not None and chosen.definitions[0].name != metric:
            raise ValueError(f"config must be a {config_type(metric).__name__}, got {config!r}")
        return chosen

    @property
    def counted(self) -> tuple[tuple[Text, Metric], ...]:
        """Each metric, with the steps from a text to its tokens."""
        metrics = (definition.metric for definition in self.definitions)
        return tuple(zip(self.texts, metrics, strict=True))

    @property
    def needs(self) -> Needs:
        """What is read of the input."""
        return sum((definition.metric.needs for definition in self.definitions), Needs())

    def require_texts_only(self) -> ChosenMetrics:
        """The metrics, if they can count segments; see the function."""
        require_texts_only(self.needs)
        return self

    def count(self, batch: SegmentBatch) -> BatchStatistics:
        """The statistics of a batch. Each text is prepared once for all metrics.

        Raises:
          InputError: a segment has no reference, has 2 GiB of text or more, or cannot be tokenized.
        """
        return PreparedBatch(batch).count(self.counted)


class SegmentColumns:
    """Scores the segments of batches that have one system. It is sent to workers.

    Args:
      metrics: a list of names of metrics and of configs.
      details: whether the columns that only one metric has are there, too.

    Attributes:
      schema: the columns, as `named_fields` gives them for each metric in turn.

    Raises:
      ValueError: there is no such metric, it is there twice, or it needs more than texts.
    """

    schema: pa.Schema

    def __init__(self, metrics: Sequence[MetricWord | object], *, details: bool = False) -> None:
        require_flag("details", details)
        self._chosen = ChosenMetrics.of(metrics, of_segments=True).require_texts_only()
        self._details = details
        self.schema = pa.schema(
            field
            for definition in self._chosen.definitions
            for field in named_fields(definition.name, definition.metric, details=details)
        )

    def prepare(self) -> None:
        """Compiles the code that scores segments, or loads it, unless this process has done so."""
        for counted in self._chosen.counted:
            prepare_counting(*counted)
        for definition in self._chosen.definitions:
            compile_segment_table(definition.metric)

    def of_batch(self, batch: SegmentBatch) -> pa.RecordBatch:
        """The scores of a batch, in the order of its segments. Each text is prepared once.

        Raises:
          InputError: a segment has no reference, is too long, or cannot be tokenized.
        """
        statistics = self._chosen.count(batch)
        columns: list[pa.Array] = []
        for place, definition in enumerate(self._chosen.definitions):
            rows = statistics.rows(place)
            columns += named_columns(rows, definition.metric, details=self._details)
        return pa.record_batch(columns, schema=self.schema)
