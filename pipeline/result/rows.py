"""The type of a result: flat rows, one for each score, and one for each comparison of two systems.

Gates and histories follow a *series* through several results: the score of a system by a metric, on
the whole corpus or on a slice.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeVar

from beam_bleu.pipeline.errors.printable import value_text
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.score.differences import Difference, holm
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

MACRO_AVERAGE: Final = "macro_average"  # in place of a slice: a mean over languages or tasks
Labels = Mapping[str, str | None]
Slice = Labels | Literal["macro_average"] | None  # None is the whole corpus
Entry = Mapping[str, Any]  # an entry of scores.json
# How a score was compared between two results; "unchanged" if all counts are the same.
Method = Literal["paired", "independent", "unchanged"]


# What a row is about. The p-values of the comparisons of a family are adjusted together.
FamilyName = Literal["corpus", "macro_average", "slices"]

# The families in their order, and where they compare systems.
FAMILIES: Mapping[FamilyName, str] = {
    "corpus": "on the whole corpus",
    "macro_average": "on the macro average",
    "slices": "on each slice",
}


@dataclasses.dataclass(frozen=True, slots=True)
class MetricNames:
    metric: MetricWord
    name: str
    signature: str | None
    sacrebleu_signature: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class PresetScores:
    metric: MetricWord
    preset: str
    signature: str
    sacrebleu_signature: str | None
    scores: tuple[ScoreRow, ...]  # of the whole corpus
    warnings: tuple[str, ...]
    has_errors: bool


class _Row:
    """What all rows tell about the part of the corpus that they are about."""

    __slots__ = ()
    metric: MetricWord
    system: str
    slice: Slice

    @property
    def labels(self) -> Labels:
        """The labels of the slice and their values; none of the whole corpus and of means."""
        return self.slice if isinstance(self.slice, Mapping) else {}

    @property
    def item(self) -> str:
        """The item of --slice_by that made the slice, such as domain*length, or ""."""
        return "*".join(self.labels)

    @property
    def slice_name(self) -> str:
        """The name of the slice among those of its item, such as news*1-10."""
        return "*".join(map(value_text, self.labels.values()))

    @property
    def family(self) -> FamilyName:
        if self.slice == MACRO_AVERAGE:
            return MACRO_AVERAGE
        return "corpus" if self.slice is None else "slices"

    @property
    def key(self) -> Key:
        return Key(self.metric, slice_text(self.labels), self.system)


@dataclasses.dataclass(frozen=True, slots=True)
class ScoreRow(_Row):
    """A score with its parts. `score` is None for a mean that lacks the score of a part.

    For a mean, `segments` is the number of its languages or tasks. `parts` is in the order of
    scores.json, which does not have `warnings`.
    """

    metric: MetricWord
    system: str
    slice: Slice
    segments: int
    score: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    parts: Mapping[str, Any]
    warnings: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    wilson_interval: tuple[float, float] | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class DifferenceRow(_Row, Difference):
    """The difference of two scores. For means in two results, `segments` is the number of parts.

    `reason` says why a number is None; it is not written to scores.json.
    """

    metric: MetricWord
    system: str
    slice: Slice
    p_value_holm: float | None = None
    reason: str = dataclasses.field(default="", compare=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonRow(DifferenceRow):
    baseline: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparedRow(DifferenceRow):
    """One score in two results, and its difference: the new one minus the old one."""

    old: float
    new: float
    method: Method


@dataclasses.dataclass(frozen=True)
class Result:
    """A whole result. Its mappings are entries of scores.json, which docs/result.md explains.

    `scores` has, metric by metric, rows of the whole corpus and slices, and then means.
    `languages` is empty if all segments have one definition. `tasks` have no common score. `where`
    has the conditions that all records meet, sorted.
    """

    metrics: tuple[MetricNames, ...]
    scores: tuple[ScoreRow, ...]
    comparisons: tuple[ComparisonRow, ...] = ()
    segments: int | None = None
    where: tuple[str, ...] = ()
    counters: Entry = dataclasses.field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    languages: Sequence[Entry] = ()
    tasks: Sequence[Entry] = ()
    presets: tuple[PresetScores, ...] = ()
    segment_scores: Entry | None = None
    distributions: Sequence[Entry] | None = None
    diversity: Sequence[Entry] | None = None
    coverage: Entry | None = None
    uncertainty: Entry | None = None
    clusters: Sequence[Entry] | None = None
    resampling: Entry | None = None
    partitions: tuple[str | None, ...] = (None,)

    @property
    def words(self) -> list[MetricWord]:
        return [metric.metric for metric in self.metrics]

    def metric(self, word: MetricWord) -> MetricNames:
        return {metric.metric: metric for metric in self.metrics}[word]

    def presets_of(self, word: MetricWord) -> list[PresetScores]:
        return [preset for preset in self.presets if preset.metric == word]

    def languages_of(self, word: MetricWord) -> list[Entry]:
        return [language for language in self.languages if language["metric"] == word]

    def tasks_of(self, word: MetricWord) -> list[Entry]:
        return [task for task in self.tasks if word in task.get("metrics", [word])]

    def whole(self, word: MetricWord) -> list[ScoreRow]:
        return [row for row in self._scores(word) if row.slice is None]

    def averages(self, word: MetricWord) -> list[ScoreRow]:
        return [row for row in self._scores(word) if row.slice == MACRO_AVERAGE]

    def slices(self, word: MetricWord) -> list[ScoreRow]:
        return [row for row in self._scores(word) if row.labels]

    def _scores(self, word: MetricWord) -> list[ScoreRow]:
        return [row for row in self.scores if row.metric == word]

    def compared(self, word: MetricWord) -> list[ComparisonRow]:
        return [row for row in self.comparisons if row.metric == word]

    @property
    def all_warnings(self) -> list[str]:
        presets = [f"{own.preset}: {warning}" for own in self.presets for warning in own.warnings]
        return [*self.warnings, *presets]

    @property
    def has_intervals(self) -> bool:
        of_presets = (row for preset in self.presets for row in preset.scores)
        return any(row.interval for row in (*self.scores, *of_presets))

    @functools.cached_property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(row.system for row in self.scores))


# Fields of signatures that can differ between languages. All others are the same.
_OF_TOKENS = {
    *("tok", "unicode"),
    *(package for row in TOKENIZERS.values() for package in row.versions),
}


class Key(NamedTuple):
    """Identifies a series. The slice is a text, such as domain=news; "" is the whole corpus."""

    metric: MetricWord
    slice_text: str
    system: str

    @property
    def shown(self) -> str:
        """The system, and the slice in brackets, as thresholds name them."""
        return f"{self.system}[{self.slice_text}]" if self.slice_text else self.system


class Definition(NamedTuple):
    """How the scores of a metric were made.

    `chosen` has the fields of the signature that a user chooses and that all languages share.
    `parts` are the languages or tasks whose mean stands for a corpus without a score of its own.
    """

    name: str
    chosen: str
    references: str
    parts: tuple[str, ...]

    @property
    def shown(self) -> str:
        """What must be equal in two scores if they are to be compared."""
        return f"{self.chosen}|nrefs:{self.references}" if self.references else self.chosen

    @property
    def whole(self) -> str:
        parts = ", ".join(self.parts)
        return f"the mean of {parts}" if parts else "the score of the whole corpus"


def slice_text(labels: Labels) -> str:
    return ",".join(f"{label}={value_text(value)}" for label, value in labels.items())


def series_of(result: Result) -> dict[Key, ScoreRow]:
    """The score of each series, metric by metric, first those of the whole corpus.

    If languages have different tokenizers, or tasks no common score, this is their mean.
    """
    scores: dict[Key, ScoreRow] = {}
    for metric in result.words:
        whole = result.whole(metric) or result.averages(metric)
        scores |= {row.key: row for row in (*whole, *result.slices(metric))}
    return scores


def definition_of(result: Result, metric: MetricWord) -> Definition:
    names, languages, label = result.metric(metric), result.languages_of(metric), None
    if languages:
        (label,) = {label for language in languages for label in language["slice"]}
    signatures = [language["signature"] for language in languages] or [str(names.signature)]
    references = {_fields(signature).get("nrefs", "") for signature in signatures}
    tasks = result.tasks_of(metric)
    parts = [] if result.whole(metric) else [part["slice"] for part in languages or tasks]
    return Definition(
        names.name,
        "|".join([names.name, *sorted({choices_in(signature, label) for signature in signatures})]),
        ",".join(sorted(references)),
        tuple(sorted(map(slice_text, parts))),
    )


def choices_in(signature: str, language_label: str | None = None) -> str:
    """The fields of a signature that a user has chosen, without those that differ by language."""
    left_out = {"nrefs", "version"} | (set() if language_label is None else _OF_TOKENS)
    fields = [
        f"{name}:{value}" for name, value in _fields(signature).items() if name not in left_out
    ]
    return "|".join(fields if language_label is None else [language_label, *fields])


def _fields(signature: str) -> dict[str, str]:
    fields = (field.partition(":") for field in signature.split("|"))
    return {name: value for name, _, value in fields}


Row = TypeVar("Row", bound=DifferenceRow)


def adjusted(rows: Sequence[Row]) -> list[Row]:
    """The rows with p-values adjusted by Holm's method, separately for each metric and family."""
    families: dict[tuple[MetricWord, str], list[int]] = {}
    for number, row in enumerate(rows):
        families.setdefault((row.metric, row.family), []).append(number)
    p_values: dict[int, float | None] = {}
    for numbers in families.values():
        own = holm([rows[number].p_value for number in numbers])
        p_values.update(zip(numbers, own, strict=True))
    return [
        dataclasses.replace(row, p_value_holm=p_values[number]) for number, row in enumerate(rows)
    ]
