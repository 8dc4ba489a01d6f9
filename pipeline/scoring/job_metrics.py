"""The metrics of a job, each with its definitions: of the corpus, of segments, and presets."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.transforms.known_metrics import Definition, MetricName, kind_of
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.text.text import Text


@dataclasses.dataclass(frozen=True)
class JobMetric:
    """A metric, and how a job scores by it.

    Attributes:
      name: the metric.
      text: how texts become tokens, with the bytes of a tokenizer's model.
      corpus: how the sums of a corpus become a score.
      segments: how those of a single segment do.
      presets: other definitions of the corpus's score to compare with it, by name: how texts become
        tokens, and how sums become a score.
    """

    name: MetricName
    text: Text
    corpus: Metric
    segments: Metric
    presets: Mapping[str, tuple[Text, Metric]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, name: MetricName, config: Any) -> JobMetric:
        """A metric whose segments are scored as the corpus is, without presets.

        Args:
          name: the metric.
          config: its definition, a value of its kind's `config`.
        """
        metric = kind_of(name).metric_of(config)
        return cls(name, config.text, metric, metric)

    @property
    def texts(self) -> Sequence[Text]:
        """Each way to make tokens that the metric needs, once; its own is the first."""
        return list(dict.fromkeys([self.text, *(text for text, _ in self.presets.values())]))

    def scorings(
        self, *, with_segments: bool, languages: str | None, unpooled: str | None
    ) -> Scorings:
        """The definitions without the bytes of a model. `Job` explains the arguments."""
        return Scorings(
            self.name,
            self.text.name,
            self.corpus,
            {
                preset: Definition(self.name, text.name, metric)
                for preset, (text, metric) in self.presets.items()
            },
            self.segments if with_segments else None,
            languages,
            unpooled,
        )
