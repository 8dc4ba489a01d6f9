"""The job: what is scored, how, and where the result goes."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Sequence
from typing import Literal

import pyarrow as pa

from beam_bleu.pipeline.scoring.scorings import (
    USUAL_EVIDENCE,
    Evidence,
    JobMetrics,
    ScoringsOfMetrics,
)
from beam_bleu.pipeline.scoring.thresholds import NO_GATES, Gates
from beam_bleu.transforms.definition.choices import AllowedName
from beam_bleu.transforms.definition.slicing import NO_SLICES, Slicing
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.score.segment_table import segment_schema
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.totals.closing import MostRejected

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
