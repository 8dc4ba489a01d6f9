"""The metrics that a user of the library chooses: from their names and configs to definitions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.known_metrics import (
    METRICS,
    METRICS_FOLDER,
    Definition,
    MetricName,
    MetricWord,
    config_type,
    parameter_of,
    word_of,
)
from beam_bleu.transforms.score.segment_table import (
    compile_segment_table,
    named_columns,
    named_fields,
)
from beam_bleu.transforms.statistics.batch_statistics import MetricStatistics
from beam_bleu.transforms.statistics.counting import PreparedBatch, prepare_counting
from beam_bleu.transforms.text.library_tokenizers import require_library

if TYPE_CHECKING:
    from beam_bleu.transforms.metrics.metric import Metric
    from beam_bleu.transforms.pairing.batch import SegmentBatch
    from beam_bleu.transforms.pairing.needs import ValueColumn
    from beam_bleu.transforms.text.text import Text


def definition_of(
    config: Any, metrics: Iterable[MetricName] = METRICS, *, of_segments: bool = False
) -> tuple[Text, Definition]:
    """The parts of a definition whose tokenizer is installed.

    Args:
      config: a config of one of these metrics; None for the default of the first one.
      metrics: the metrics.
      of_segments: whether it is to score single segments, instead of a corpus.

    Returns:
      The steps from a text to its tokens, and the definition.

    Raises:
      ValueError: it is not a config of one of these metrics, or it is for single segments only and
        is to score a corpus.
    """
    names = {METRICS[name].home: name for name in metrics}
    made: Any = config_type(next(iter(names.values())))() if config is None else config
    home = f"{type(made).__module__}.{type(made).__name__}".removeprefix(METRICS_FOLDER)
    if home not in names:
        types = ", ".join(home.rpartition(".")[2] for home in names)
        raise ValueError(f"config must be one of {types}, got {config!r}")
    metric: Metric = made.metric
    if of_segments:
        metric = metric.for_segments()
    else:
        metric.require_corpus()
    require_library(made.text)
    return made.text, Definition(word_of(names[home], metric), made.text.name, metric)


def require_readable(values: Iterable[ValueColumn]) -> None:
    """Checks that the transforms that read can read columns that metrics need.

    Raises:
      ValueError: one of them has other values than numbers.
    """
    for value in values:
        if value.part != "number":
            raise ValueError(
                f"a metric needs the column {value.column}, which the transforms of the "
                "library do not read: score these records with the command beam-bleu"
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
    def single(cls, config: Any, metrics: Iterable[MetricName] = METRICS) -> ChosenMetrics:
        """The metric of a config, as `definition_of` takes it."""
        text, definition = definition_of(config, metrics)
        return cls((definition,), (text,))

    @classmethod
    def of(cls, metrics: Any, *, of_segments: bool = False) -> ChosenMetrics:
        """Several metrics, in their order.

        Args:
          metrics: a list of words, such as "bleu", and of configs; each metric can be there once.
          of_segments: whether they are to score single segments.

        Raises:
          ValueError: it is something else, or one of them is impossible.
        """
        if isinstance(metrics, str | Mapping) or not isinstance(metrics, Sequence) or not metrics:
            raise ValueError(f"metrics must be a list of names and configs, got {metrics!r}")
        if None in metrics:  # it would be the default one
            raise ValueError("metrics must be a list of names and configs, got one that is None")
        configs = [
            config_type(each)(**parameter_of(each)) if isinstance(each, str) else each
            for each in metrics
        ]
        chosen = [definition_of(config, of_segments=of_segments) for config in configs]
        names = [definition.name for _, definition in chosen]
        if len({*names}) < len(names):
            raise ValueError(f"metrics must be different ones, got {', '.join(names)}")
        return cls(tuple(each for _, each in chosen), tuple(text for text, _ in chosen))

    @property
    def counted(self) -> tuple[tuple[Text, Metric], ...]:
        """Each metric, with the steps from a text to its tokens."""
        metrics = (definition.metric for definition in self.definitions)
        return tuple(zip(self.texts, metrics, strict=True))

    def require_texts_only(self) -> ChosenMetrics:
        """The metrics, if they can count segments, which have only texts.

        Raises:
          ValueError: one needs numbers.
        """
        for value in self._values():
            raise ValueError(
                f"a metric needs numbers of the column {value.column}, and segments have only "
                "texts: read records with ReadPairedRecords(..., number_columns=[...]), and score "
                "them with CorpusScores.PerSystem"
            )
        return self

    def require_readable(self) -> ChosenMetrics:
        """The metrics, if the transforms that read can read what they need.

        Raises:
          ValueError: one needs a column of other values than numbers.
        """
        require_readable(self._values())
        return self

    def _values(self) -> Iterator[ValueColumn]:
        return (value for _, metric in self.counted for value in metric.needs.values)

    def count(self, batch: SegmentBatch) -> MetricStatistics:
        """The statistics of a batch. Each text is prepared once for all metrics.

        Raises:
          InputError: a segment has no reference, has 2 GiB of text or more, or cannot be tokenized.
        """
        prepared = PreparedBatch(batch)
        return MetricStatistics(tuple(prepared.count(*counted) for counted in self.counted))


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
        counted = self._chosen.count(batch).metrics
        columns: list[pa.Array] = []
        for definition, statistics in zip(self._chosen.definitions, counted, strict=True):
            columns += named_columns(statistics, definition.metric, details=self._details)
        return pa.record_batch(columns, schema=self.schema)
