"""The job: what is scored, how, and where the result goes."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from typing import Literal

import pyarrow as pa

from beam_bleu.pipeline.scoring.thresholds import NO_GATES, Gates
from beam_bleu.transforms.definition.choices import AllowedName
from beam_bleu.transforms.definition.resampling import Resampling
from beam_bleu.transforms.definition.slicing import NO_SLICES, Slicing
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import Definition, MetricWord
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.pairing.needs import Needs
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.score.differences import compared_pairs
from beam_bleu.transforms.score.segment_table import segment_schema
from beam_bleu.transforms.text.text import Text, TextName
from beam_bleu.transforms.text.tokenizers import tokenizer_of
from beam_bleu.transforms.totals.closing import MostRejected


@dataclasses.dataclass(frozen=True)
class Scorings:
    """How a corpus and its segments are scored by one metric.

    The label `languages` chooses the tokenizer of each segment. If the label `unpooled`, its task,
    has several values, the whole corpus has no score. Both labels are items of the slicing.
    """

    name: MetricWord
    text: TextName
    corpus: Metric
    presets: Mapping[str, Definition] = dataclasses.field(default_factory=dict)
    segments: Metric | None = None
    languages: str | None = None
    unpooled: str | None = None

    def text_of(self, of_slice: Mapping[str, str | None]) -> TextName:
        if self.languages is None or not self.corpus.is_tokenized:
            return self.text
        language = of_slice[self.languages]
        assert language is not None
        return dataclasses.replace(self.text, tokenize=tokenizer_of(language))

    @property
    def counted(self) -> Mapping[TextName, Metric]:
        """The metric with all columns that are needed, for each way to make tokens."""
        needed = {self.text: [self.corpus]}
        if self.segments is not None:
            needed[self.text].append(self.segments)
        for preset in self.presets.values():
            needed.setdefault(preset.text, []).append(preset.metric)
        # The columns of a definition are among those of each wider one of the same metric.
        return {
            text: max(metrics, key=lambda metric: metric.basis.width)
            for text, metrics in needed.items()
        }


# The scorings of each metric, in the order of the result.
ScoringsOfMetrics = Mapping[MetricWord, Scorings]


@dataclasses.dataclass(frozen=True)
class JobMetrics:
    """The metrics of a job, with what only the steps before the last one need.

    `lengths` makes the tokens in which lengths are counted, and `picked` scores examples.
    """

    scorings: ScoringsOfMetrics
    texts: Mapping[TextName, Text]
    lengths: Text
    picked: Mapping[MetricWord, Metric] = dataclasses.field(default_factory=dict)

    @property
    def needs(self) -> Needs:
        return sum((own.corpus.needs for own in self.scorings.values()), Needs())

    def of_segments(self, name: MetricWord) -> Metric:
        return self.picked.get(name, self.scorings[name].corpus)


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What a job finds out about its scores.

    The baseline is None for the first system. `documents` is the label with the unit of each
    segment, and None if segments are units.
    """

    uncertainty: bool = True
    baseline: str | None = None
    compare_all: bool = False
    documents: str | None = None
    resampling: Resampling | None = None
    save_totals: bool = False
    partition: str | None = None

    @property
    def unit(self) -> str:
        """What a unit is: what would be drawn at random for another test set."""
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
    """A source of segments, definitions of metrics, and an output folder that all workers can see.

    All files that only this run writes have `run` in their names. It `is_awaited` if a launcher
    waits for the result. `most_rejected` is None if a bad record is an error.
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
    def schema_of_segments(self) -> pa.Schema:
        source = self.source
        metrics = [own.segments for own in self.scorings.values() if own.segments]
        return segment_schema(metrics, source.labels, source.kept, texts=source.keeps_texts)

    @property
    def of_last_step(self) -> Job:
        """The job as it is sent with the data: without the model of a tokenizer."""
        metrics = dataclasses.replace(self.metrics, texts={}, lengths=Text())
        return dataclasses.replace(self, metrics=metrics)
