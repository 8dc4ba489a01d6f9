"""Saved totals: what a job has added up, and what it was asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.scored import scored
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings, ScoringsOfMetrics
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import TextName, text_versions
from beam_bleu.transforms.totals.group_totals import MetricTotals
from beam_bleu.transforms.version import VERSION

Text = tuple[str, str]
"""The role of a stream, and its digest, which does not depend on the files."""


@dataclasses.dataclass(frozen=True)
class Partition:
    """A part of a corpus that one run has scored.

    Attributes:
      label: its name, from --partition; None if it has none.
      inputs: what was read, as the streams of manifest.json.
    """

    label: str | None
    inputs: Sequence[Mapping[str, Any]]

    @property
    def texts(self) -> dict[Text, str]:
        """The candidates, references and records that were read, with the name of each stream.

        Labels are left out: two parts of a corpus can have the same labels.
        """
        return {
            (stream["role"], stream["digest"]): " ".join(
                filter(None, (stream["role"], stream["system"]))
            )
            for stream in self.inputs
            if stream["role"] != "labels" and stream.get("lines") != 0
        }


@dataclasses.dataclass(frozen=True)
class SavedMetric:
    """What totals.json holds of one metric.

    Attributes:
      scorings: the scorings of the corpus and of its segments.
      texts: everything that was added up for it, with each way to make tokens.
      saved: all of the content.
    """

    scorings: Scorings
    texts: Mapping[TextName, MetricTotals]
    saved: SavedTotals

    @property
    def kind(self) -> MetricKind:
        """The metric, for any definition."""
        return self.scorings.kind

    @property
    def own(self) -> MetricTotals:
        """The totals of the job's own way to make tokens."""
        return self.texts[self.scorings.text]


@dataclasses.dataclass(frozen=True)
class SavedTotals:
    """The content of totals.json.

    Attributes:
      totals: everything that was added up; without the names of files, and without the first
        rejected records.
      scorings: for each metric the scorings of the corpus and of its segments.
      slicing: the slices.
      evidence: what the job finds out about its scores.
      partitions: the parts of the corpus. Those of merged totals are sorted by their labels.
      versions: by the name of a library, its version with which tokens were made.
      program: the version of beam-bleu that has counted.
    """

    totals: Totals
    scorings: ScoringsOfMetrics
    slicing: Slicing
    evidence: Evidence
    partitions: tuple[Partition, ...]
    versions: Mapping[str, str]
    program: str = VERSION

    def of_metric(self, name: MetricWord) -> SavedMetric:
        """What it holds of a metric."""
        return SavedMetric(self.scorings[name], self.totals.metrics[name], self)

    @property
    def metrics(self) -> list[SavedMetric]:
        """What it holds of each metric."""
        return [self.of_metric(name) for name in self.scorings]

    def with_metrics(self, names: Iterable[MetricWord]) -> SavedTotals:
        """The same of only these metrics, in this order."""
        scorings = {name: self.scorings[name] for name in names}
        metrics = {name: self.totals.metrics[name] for name in scorings}
        totals = dataclasses.replace(self.totals, metrics=metrics)
        versions = versions_of(texts_of(totals, scorings, self.slicing))
        return dataclasses.replace(self, totals=totals, scorings=scorings, versions=versions)

    @property
    def result(self) -> Result:
        """The result, with the labels of the partitions if there are several."""
        result = scored(self.totals, self.scorings, self.slicing, self.evidence)
        labels = tuple(partition.label for partition in self.partitions)
        if len(labels) > 1 and any(labels):
            result = dataclasses.replace(result, partitions=labels)
        return result


def texts_of(totals: Totals, scorings: ScoringsOfMetrics, slicing: Slicing) -> list[TextName]:
    """All ways in which texts have become tokens, each one once."""
    texts: dict[TextName, None] = {}
    for name, of_metric in scorings.items():
        texts |= dict.fromkeys(of_metric.counters)
        slices = totals.metrics[name][of_metric.text].slices
        if of_metric.languages is not None and slices is not None:
            texts |= dict.fromkeys(
                of_metric.text_of(slicing.values(key)) for key in slices.keys if key is not None
            )
    return list(texts)


def versions_of(texts: Iterable[TextName]) -> dict[str, str]:
    """The versions of the libraries on which the tokens of these texts depend, by their names."""
    return dict(sorted(item for text in texts for item in text_versions(text).items()))


Named = tuple[str, SavedTotals]
"""The path of a file, and what it holds."""
