"""The metrics of a job, and their scorings: of the corpus, by presets to compare, of segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from beam_bleu.transforms.known_metrics import Definition, MetricWord, row_of
from beam_bleu.transforms.metrics.metric import Basis, Config, Metric
from beam_bleu.transforms.score.segment_table import segment_schema
from beam_bleu.transforms.text.languages import tokenizer_of
from beam_bleu.transforms.text.text import Text, TextName


@dataclasses.dataclass(frozen=True)
class Scorings:
    """How a corpus and its segments are scored by one metric.

    Attributes:
      name: the metric.
      text: how texts become tokens, for the scores of the corpus and of segments.
      corpus: how the sums of the corpus become a score.
      presets: other definitions of the corpus's score to compare with it, by name. They can
        have other tokens.
      segments: the same for single segments; None if their scores are not asked for.
      languages: the label with each segment's language, which chooses the tokenizer, and which is
        in each item of the slicing; None if all segments have the tokenizer of `text`.
      unpooled: the label with each segment's task, of which an item of the slicing is made. If it
        has several values, the whole corpus has no score. None if all segments have a common score.
    """

    name: MetricWord
    text: TextName
    corpus: Metric
    presets: Mapping[str, Definition] = dataclasses.field(default_factory=dict)
    segments: Metric | None = None
    languages: str | None = None
    unpooled: str | None = None

    @property
    def shown(self) -> str:
        """The metric's name for readers."""
        return self.corpus.name

    def signature_of(self, metric: Metric) -> str:
        """How a definition makes scores, before the number of references is known."""
        return metric.signatures(self.text, 0, 0).own

    def text_of(self, of_slice: Mapping[str, str | None]) -> TextName:
        """How the texts of a slice became tokens.

        Args:
          of_slice: the labels of the slice and their values. With `languages`, each slice has
            this label, and each segment has a language.
        """
        if self.languages is None or not self.corpus.is_tokenized:
            return self.text
        language = of_slice[self.languages]
        assert language is not None
        return dataclasses.replace(self.text, tokenize=tokenizer_of(language))

    @property
    def counted(self) -> Mapping[TextName, Metric]:
        """The metric with all columns that are needed, for each way to make tokens.

        The first way is `text`, the others follow in the order of the presets.
        """
        needed = {self.text: [self.corpus]}
        if self.segments is not None:
            needed[self.text].append(self.segments)
        for preset in self.presets.values():
            needed.setdefault(preset.text, []).append(preset.metric)
        return {text: metrics[0].counting(metrics) for text, metrics in needed.items()}

    @property
    def basis(self) -> Basis:
        """The columns that are counted with `text`."""
        return self.counted[self.text].basis


ScoringsOfMetrics = Mapping[MetricWord, Scorings]
"""The scorings of each metric, in the order of the result."""


def schema_of_segments(
    scorings: ScoringsOfMetrics,
    labels: Sequence[str] = (),
    kept: Sequence[str] = (),
    *,
    texts: bool = False,
) -> pa.Schema:
    """The columns of the scores of segments, as `segment_schema` gives them.

    All metrics have such scores.
    """
    metrics = [of_metric.segments for of_metric in scorings.values() if of_metric.segments]
    return segment_schema(metrics, labels, kept, texts=texts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobMetric(Scorings):
    """How a job scores by one metric, with what only the steps before the last one need.

    Attributes:
      texts: each way to make tokens, with the bytes of a tokenizer's model; its own is the first.
      picked: how single segments are scored if examples of them are picked.
    """

    texts: tuple[Text, ...]
    picked: Metric

    @classmethod
    def of(cls, name: MetricWord, config: Config, **others: Any) -> JobMetric:
        """A metric whose segments are scored as the corpus is, unless `others` say how."""
        own = {"texts": (config.text,), "picked": config.metric, **others}
        return cls(name, config.text.name, config.metric, **own)

    @property
    def highest_of_segments(self) -> float | None:
        """The highest possible score of a segment; None if there is none."""
        return row_of(self.name).highest_of(self.picked.signatures(self.text, 0, 0).own)

    @property
    def scorings(self) -> Scorings:
        """The definitions alone."""
        fields = dataclasses.fields(Scorings)
        return Scorings(**{field.name: getattr(self, field.name) for field in fields})
