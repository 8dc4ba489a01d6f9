"""Makes definitions of the metrics that a user of the library chooses by names and configs."""

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
from beam_bleu.transforms.native.arrays import without_nan
from beam_bleu.transforms.pairing.needs import Needs
from beam_bleu.transforms.score.segment_table import own_columns, own_types
from beam_bleu.transforms.statistics.counting import (
    BatchStatistics,
    PreparedBatch,
    prepare_counting,
)
from beam_bleu.transforms.text.library_tokenizers import require_library

if TYPE_CHECKING:
    from beam_bleu.transforms.metrics.metric import Metric
    from beam_bleu.transforms.pairing.batch import SegmentBatch
    from beam_bleu.transforms.text.text import Text


def configs_by_word(metrics: Any) -> dict[MetricWord, Any]:
    """The metrics of a list, in its order: for each word its config, or None for a mere name."""
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


def checked_definition(config: Any, *, of_segments: bool = False) -> tuple[Text, Definition]:
    word, metric = word_of(config), config.metric
    if of_segments:
        metric = metric.for_segments()
    else:
        metric.require_corpus()
    require_library(config.text)
    return config.text, Definition(word, config.text.name, metric)


def require_readable(needs: Needs) -> None:
    for value in needs.values:
        if value.part != "number":
            raise ValueError(
                f"a metric needs the column {value.column}, which the transforms of the "
                "library do not read: score these records with the command beam-bleu"
            )


def require_texts_only(needs: Needs) -> None:
    require_readable(needs)
    for value in needs.values:
        raise ValueError(
            f"a metric needs numbers of the column {value.column}, and segments have only "
            "texts: read records with ReadPairedRecords(..., number_columns=[...]), and score "
            "them with CorpusScores.PerSystem or Evaluate"
        )


@dataclasses.dataclass(frozen=True)
class ChosenMetrics:
    """The metrics by which a call or a transform scores; `counted` has the steps to tokens, too."""

    definitions: tuple[Definition, ...]
    counted: tuple[tuple[Text, Metric], ...]

    @classmethod
    def of(cls, metrics: Any, *, of_segments: bool = False) -> ChosenMetrics:
        chosen = [
            checked_definition(
                config_type(word)(**parameter_of(word)) if config is None else config,
                of_segments=of_segments,
            )
            for word, config in configs_by_word(metrics).items()
        ]
        return cls(
            tuple(definition for _, definition in chosen),
            tuple((text, definition.metric) for text, definition in chosen),
        )

    @classmethod
    def single(cls, config: Any, metric: MetricName | None = None) -> ChosenMetrics:
        chosen = cls.of([metric or DEFAULT_METRIC if config is None else config])
        if metric is not None and chosen.definitions[0].name != metric:
            raise ValueError(f"config must be a {config_type(metric).__name__}, got {config!r}")
        return chosen

    @property
    def needs(self) -> Needs:
        return sum((definition.metric.needs for definition in self.definitions), Needs())

    def count(self, batch: SegmentBatch) -> BatchStatistics:
        return PreparedBatch(batch).count(self.counted)


class SegmentColumns:
    """Scores the segments of batches that have one system. With details, the columns of a metric,
    such as "bleu", are followed by others, such as "bleu_matches".
    """

    schema: pa.Schema

    def __init__(self, metrics: Sequence[MetricWord | object], *, details: bool = False) -> None:
        require_flag("details", details)
        self._chosen = ChosenMetrics.of(metrics, of_segments=True)
        require_texts_only(self._chosen.needs)
        self._details = details
        fields = []
        for definition in self._chosen.definitions:
            name, own = definition.name, own_types(definition.metric) if details else {}
            fields += [(name, pa.float64()), *((f"{name}_{each}", own[each]) for each in own)]
        self.schema = pa.schema(fields)

    def prepare(self) -> None:
        for counted in self._chosen.counted:
            prepare_counting(*counted)

    def of_batch(self, batch: SegmentBatch) -> pa.RecordBatch:
        statistics = self._chosen.count(batch)
        columns: list[pa.Array] = []
        for place, (_, metric) in enumerate(self._chosen.counted):
            rows = statistics.rows(place)
            columns.append(without_nan(metric.segment_scores(rows)))
            columns += own_columns(rows, metric).values() if self._details else ()
        return pa.record_batch(columns, schema=self.schema)
