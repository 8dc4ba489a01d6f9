"""`Job`, everything that a run is asked for: what is scored, how, and where the result goes."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import pyarrow as pa

from beam_bleu.pipeline.scoring.thresholds import NO_GATES, Gates
from beam_bleu.transforms.definition.choices import AllowedName
from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import NO_SLICES, Slicing
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import Definition, MetricWord
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.pairing.needs import Needs, first_matching
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.score.differences import compared_pairs
from beam_bleu.transforms.score.segment_table import segment_schema
from beam_bleu.transforms.text.text import Text, TextName
from beam_bleu.transforms.text.tokenizers import tokenizer_of
from beam_bleu.transforms.totals.closing import MostRejected


@dataclasses.dataclass(frozen=True)
class Scorings:
    """How a corpus and its segments are scored by one metric.

    The value of the label `languages` chooses a segment's tokenizer. If the label `unpooled` (the
    task) has several values, the whole corpus has no score. Both labels are items of the slicing.
    `by_task` has the metrics of tasks, by patterns of their names, of which the first one counts;
    without any, each metric is of all tasks.
    """

    name: MetricWord
    text: TextName
    corpus: Metric
    presets: Mapping[str, Definition] = dataclasses.field(default_factory=dict)
    segments: Metric | None = None
    languages: str | None = None
    unpooled: str | None = None
    by_task: Mapping[str, tuple[MetricWord, ...]] = dataclasses.field(default_factory=dict)

    def pattern_of(self, task: str) -> str | None:
        """The first pattern of `by_task` that matches a task."""
        return first_matching(self.by_task, task)

    def is_of(self, of_slice: Mapping[str, str | None]) -> bool:
        """Whether the metric is one of the slice's task."""
        if not self.by_task:
            return True
        pattern = self.pattern_of(str(of_slice[str(self.unpooled)]))
        return pattern is not None and self.name in self.by_task[pattern]

    def text_of(self, of_slice: Mapping[str, str | None]) -> TextName:
        if self.languages is None or not self.corpus.is_tokenized:
            return self.text
        language = of_slice[self.languages]
        assert language is not None
        return dataclasses.replace(self.text, tokenize=tokenizer_of(language))

    @property
    def counted(self) -> Mapping[TextName, Metric]:
        """For each way to make tokens, the metric with all columns that are needed."""
        needed = {self.text: [self.corpus]}
        if self.segments is not None:
            needed[self.text].append(self.segments)
        for preset in self.presets.values():
            needed.setdefault(preset.text, []).append(preset.metric)
        # The widest one has them all: definitions of a metric contain the columns of narrower ones.
        return {
            text: max(metrics, key=lambda metric: metric.basis.width)
            for text, metrics in needed.items()
        }


# The scorings of each metric, in the order of the result.
ScoringsOfMetrics = Mapping[MetricWord, Scorings]


@dataclasses.dataclass(frozen=True)
class JobMetrics:
    """The metrics of a job, and what only the steps before the last one need.

    `lengths` says how tokens are made for slices by length, `picked` how examples are scored.
    """

    scorings: ScoringsOfMetrics
    texts: Mapping[TextName, Text]
    lengths: Text
    picked: Mapping[MetricWord, Metric] = dataclasses.field(default_factory=dict)

    @property
    def needs(self) -> Needs:
        return self._needs_of(self.scorings)

    @property
    def needs_of_tasks(self) -> Mapping[str, Needs]:
        """What the metrics of each pattern of `Scorings.by_task` need."""
        by_task = self._first.by_task
        return {pattern: self._needs_of(names) for pattern, names in by_task.items()}

    @property
    def unpooled(self) -> str | None:
        return self._first.unpooled

    @property
    def _first(self) -> Scorings:
        return next(iter(self.scorings.values()))

    def _needs_of(self, names: Iterable[MetricWord]) -> Needs:
        return sum((self.scorings[name].corpus.needs for name in names), Needs())

    def of_segments(self, name: MetricWord) -> Metric:
        return self.picked.get(name, self.scorings[name].corpus)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What a job finds out about its scores and outputs: standard errors, comparisons, replicates,
    diversity.

    A `baseline` of None is the first system. `documents` is the label that names each segment's
    document; without it (None), the segments are the units.
    """

    uncertainty: bool = True
    baseline: str | None = None
    compare_all: bool = False
    documents: str | None = None
    resampling: Resampling | None = None
    save_totals: bool = False
    diversity: bool = False
    partition: str | None = None

    @property
    def unit(self) -> str:
        """What a unit is, that is, what another test set would draw at random."""
        return "segment" if self.documents is None else "document"

    def baseline_of(self, systems: Sequence[str]) -> str:
        if self.baseline is None:
            return systems[0]
        if self.baseline not in systems:
            raise InputError(
                f"--baseline {self.baseline}: the input has no system with this name",
                f"choose one of {', '.join(systems)}",
            )
        return self.baseline

    def compared(self, systems: Sequence[str]) -> list[tuple[str, str]]:
        """(system, baseline) of each comparison on the whole corpus."""
        baseline = self.baseline_of(systems)
        return compared_pairs(systems, baseline, all_pairs=self.compare_all)


USUAL_EVIDENCE = Evidence()


IfExistsName = Literal["replace", "skip", "fail"]


def new_run() -> str:
    return uuid.uuid4().hex


@dataclasses.dataclass(frozen=True)
class Job:
    """All that a run is asked for. Its output folder must be one that all workers can see.

    Names of files that only this run writes contain `run`. `is_awaited`: a launcher waits for the
    result. `most_rejected` is None if a bad record is an error.
    """

    source: Source
    metrics: JobMetrics
    _: dataclasses.KW_ONLY
    output: str
    run: str = dataclasses.field(default_factory=new_run, compare=False)
    is_awaited: bool = False
    manifest: bool = False
    request: Sequence[str] = ()
    threads: int = 1
    segment_scores: bool = False
    examples: int = 0
    confusions: int = 0
    slicing: Slicing = NO_SLICES
    most_rejected: MostRejected | None = None
    evidence: Evidence = USUAL_EVIDENCE
    gates: Gates = NO_GATES
    allow: tuple[AllowedName, ...] = ()
    if_exists: IfExistsName = "replace"

    @property
    def scorings(self) -> ScoringsOfMetrics:
        return self.metrics.scorings

    @property
    def baseline(self) -> str | None:
        """None for the first system, which some sources find only when they are read."""
        return self.evidence.baseline or next(iter(self.source.systems), None)

    @property
    def picks(self) -> bool:
        """Whether the step that counts also looks at texts as a whole."""
        return bool(self.examples) or self.evidence.diversity

    @property
    def schema_of_segments(self) -> pa.Schema:
        source = self.source
        metrics = [own.segments for own in self.scorings.values() if own.segments]
        return segment_schema(metrics, source.labels, source.kept, texts=source.keeps_texts)

    @property
    def of_last_step(self) -> Job:
        """The job for the last step: without the model of a tokenizer, which can be large."""
        metrics = dataclasses.replace(self.metrics, texts={}, lengths=Text())
        return dataclasses.replace(self, metrics=metrics)
