"""Saved totals: what a job has added up, and what it was asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.manifest import described
from beam_bleu.pipeline.output.scored import scored
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.pipeline.scoring.scorings import ScoringsOfMetrics
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.text.text import TextName, text_versions
from beam_bleu.transforms.totals.group_totals import MetricTotals
from beam_bleu.transforms.version import VERSION


@dataclasses.dataclass(frozen=True)
class Partition:
    """A part of a corpus that one run has scored: its --partition, and its streams."""

    label: str | None
    inputs: Sequence[Mapping[str, Any]]


@dataclasses.dataclass(frozen=True)
class SavedTotals:
    """The content of totals.json.

    Attributes:
      totals: everything that was added up; without the names of files, and without the first
        rejected records.
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

    def own(self, name: MetricWord) -> MetricTotals:
        """The totals of a metric, with the job's own way to make tokens."""
        return self.totals.metrics[name][self.scorings[name].text]

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

    def definition(self, *, of_sums: bool) -> dict[str, str]:
        """What the scores of the corpus depend on, beside its texts: values by their names.

        Args:
          of_sums: whether it has everything that must be the same if totals are added up.
        """
        totals, evidence, resampling = self.totals, self.evidence, self.evidence.resampling
        if resampling is not None:
            resampling = dataclasses.replace(resampling, partition="")
        definition: dict[str, Any] = {
            "metrics": list(self.scorings),
            "version": self.versions,
            "resample": resampling,
        }
        for name, scorings in self.scorings.items():
            definition[name] = scorings
            if not of_sums:
                definition[name] = dataclasses.replace(scorings, presets={}, segments=None)
        if of_sums:
            definition |= {
                "columns": [
                    of_text.corpus.width
                    for of_metric in totals.metrics.values()
                    for of_text in of_metric.values()
                ],
                "slicing": self.slicing,
                "uncertainty": evidence.uncertainty,
                "baseline": evidence.baseline,
                "compare_all": evidence.compare_all,
                "documents": evidence.documents,
                "coverage": None if totals.coverage is None else totals.coverage.rule,
                "counters of records": totals.is_tallied,
                "systems": totals.systems,
            }
        return dict(line.split(" = ", 1) for line in described(definition))


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, str, str] | None:
    """The first difference of two definitions, as (name, value, other value)."""
    for name in {**one, **other}:
        own, others = (fields.get(name, "null") for fields in (one, other))
        if own != others:
            return name, shown(own), shown(others)
    return None


def shown(value: Any) -> str:
    """A value of a definition, as a part of a message."""
    words = {"null": "not given", "None": "not given", "True": "on", "False": "off"}
    return words.get(str(value), str(value))


def texts_of(totals: Totals, scorings: ScoringsOfMetrics, slicing: Slicing) -> list[TextName]:
    """All ways in which texts have become tokens, each one once."""
    texts: dict[TextName, None] = {}
    for name, of_metric in scorings.items():
        texts |= dict.fromkeys(of_metric.counted)
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
