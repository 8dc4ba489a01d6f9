"""The most frequent confusions: which words of the references became which ones of a candidate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.pipeline.errors.marked_steps import PlainDoFn
from beam_bleu.pipeline.errors.printable import json_text
from beam_bleu.pipeline.scoring.job import Job
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import PreparedBatch
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.wiring.steps import Step, ThreadedDoFn

# A kind of edits by a metric in a system, and the most frequent ones: how often each was found,
# below 0 so that they are in ascending order, and the words in the reference and the candidate.
Confusions = tuple[tuple[MetricWord, str, str], Sequence[tuple[int, str, str]]]

KINDS = ("substitution", "deletion", "insertion")


def most_frequent(
    batches: PCollection[SegmentBatch], job: Job, step: Step
) -> PCollection[Confusions]:
    """Adds the steps from batches to the most frequent confusions, by exact counts."""
    text = typehints.Tuple[str, str, str]
    counted = [
        (name, job.metrics.texts[own.text], own.corpus)
        for name, own in job.scorings.items()
        if own.corpus.finds_confusions
    ]
    finding = beam.ParDo(step(_FindConfusions(counted, job.threads)))
    by_words = typehints.Tuple[typehints.Tuple[text, str, str], int]
    by_kind = typehints.Tuple[text, typehints.Tuple[int, str, str]]
    return (
        batches
        | "Find confusions" >> finding.with_output_types(by_words)
        | "Count confusions" >> beam.CombinePerKey(sum).with_output_types(by_words)
        | "Group confusions" >> beam.ParDo(_ByKind()).with_output_types(by_kind)
        | "Pick confusions" >> beam.combiners.Top.PerKey(job.confusions, reverse=True)
    )


class _FindConfusions(ThreadedDoFn):
    def __init__(self, counted: Sequence[tuple[MetricWord, Text, Metric]], threads: int) -> None:
        super().__init__(threads)
        self._counted = counted

    def work(self, batch: SegmentBatch) -> Iterable[tuple[tuple[object, str, str], int]]:
        prepared = PreparedBatch(batch)
        for name, text, metric in self._counted:
            found = metric.confusions(prepared.ready(text))
            for (system, reference, candidate), times in found.items():
                kind = KINDS[0 if reference and candidate else 1 if reference else 2]
                yield ((name, system, kind), reference, candidate), times


class _ByKind(PlainDoFn):
    def process(self, counted: tuple[tuple[object, str, str], int]) -> Iterable[object]:
        (key, reference, candidate), times = counted
        yield key, (-times, reference, candidate)


def confusions_bytes(found: Iterable[Confusions], job: Job, systems: Sequence[str]) -> bytes:
    """The confusions as JSON lines."""
    by_key = dict(found)
    lines = [
        {
            "metric": metric,
            "system": system,
            "edit": kind,
            "times": -negative,
            "reference": reference or None,
            "candidate": candidate or None,
        }
        for metric in job.scorings
        for system in systems
        for kind in KINDS
        for negative, reference, candidate in by_key.get((metric, system, kind), ())
    ]
    return "".join(f"{json_text(line)}\n" for line in lines).encode()
