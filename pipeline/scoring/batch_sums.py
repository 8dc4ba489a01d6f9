"""The steps from batches of segments to everything that a job adds up, and to segment scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection

from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.scoring.ends import EXAMPLES, SAMPLE, end_of, with_text
from beam_bleu.pipeline.scoring.scorings import JobMetric
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.examples.picking import PickedMetric, Picker
from beam_bleu.transforms.examples.sum_examples import sum_examples
from beam_bleu.transforms.inspection.sum_samples import sum_samples
from beam_bleu.transforms.known_metrics import (
    MetricWord,
    counts_empty_candidates,
    kind_of,
    row_of,
)
from beam_bleu.transforms.metrics.bleu.kernel import BleuCounter
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.score.score_segments import ScoreSegments
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.batch_steps import (
    TokenLengths,
    check_documents,
    count_matches,
    count_metrics,
    take_statistics,
)
from beam_bleu.transforms.statistics.counting import Counter
from beam_bleu.transforms.statistics.segment_labels import DocumentLabel, LanguageLabel
from beam_bleu.transforms.text.text import Text, TextName
from beam_bleu.transforms.totals.batch_adder import Adding
from beam_bleu.transforms.totals.sum_documents import (
    NamedDocuments,
    sum_documents,
    totals_of_documents,
)
from beam_bleu.transforms.totals.summing import sum_batches
from beam_bleu.transforms.wiring.add_up import NamedSums, add_up
from beam_bleu.transforms.wiring.steps import Step

__all__ = [
    "Addition",
    "Counted",
    "Summed",
    "additions",
    "baseline_of",
    "counted_of",
    "counting",
    "sum_all",
    "with_documents",
]

Counted = dict[tuple[MetricWord, TextName], tuple[Text, Counter]]
"""What is counted: for each metric and each way to make its tokens, how."""


@dataclasses.dataclass(frozen=True)
class Summed:
    """What the steps of all metrics give.

    Attributes:
      sums: everything that is added up, of the whole corpus.
      ends: the names of these sums.
      tables: by metric, the scores of segments.
    """

    sums: PCollection[NamedSums]
    ends: Sequence[str]
    tables: dict[MetricWord, PCollection[pa.Table]]


@dataclasses.dataclass(frozen=True)
class _Parts:
    """What the steps of all metrics give so far. The lists and dictionaries change.

    Attributes:
      sums: those of parts of the corpus.
      ends: the names of these sums.
      documents: by the end of the totals, the sums of documents, and what is added up of them.
      tables: by metric, the scores of segments.
    """

    sums: list[PCollection[NamedSums]] = dataclasses.field(default_factory=list)
    ends: list[str] = dataclasses.field(default_factory=list)
    documents: dict[str, tuple[PCollection[NamedDocuments], Adding]] = dataclasses.field(
        default_factory=dict
    )
    tables: dict[MetricWord, PCollection[pa.Table]] = dataclasses.field(default_factory=dict)

    def add(self, end: str, sums: PCollection[NamedSums]) -> None:
        """Adds sums of parts of the corpus."""
        self.ends.append(end)
        self.sums.append(sums)


_Statistics = dict[tuple[MetricWord, TextName], PCollection[BatchStatistics]]
"""The statistics of all batches, for each metric and each way to make its tokens."""


def sum_all(
    batches: PCollection[SegmentBatch],
    job: Job,
    step: Step,
    others: dict[str, PCollection[NamedSums]],
) -> Summed:
    """Adds the steps from batches in the global window to everything that a job adds up.

    Args:
      batches: the segments of the whole input.
      job: what is asked for.
      step: the function that makes a step of each DoFn.
      others: other sums of parts of the corpus, by the end at which the last step gets them.
    """
    parts = _Parts()
    if any(row_of(name).counts_texts for name in job.scorings):
        parts.add(SAMPLE, sum_samples(batches, SAMPLE, step))
    statistics = _count(with_documents(batches, job, step), job, step, parts)
    for metric in job.metrics:
        _add_metric(statistics, job, metric, step, parts)
    for end, sums in others.items():
        parts.add(end, sums)
    if parts.documents:
        documents, adding = zip(*parts.documents.values(), strict=True)
        of_ends = dict(zip(parts.documents, adding, strict=True))
        parts.sums.append(totals_of_documents(documents, of_ends, step))
    return Summed(add_up(parts.sums), parts.ends, parts.tables)


def with_documents(
    batches: PCollection[SegmentBatch], job: Job, step: Step
) -> PCollection[SegmentBatch]:
    """The batches; with a check that each segment has a document, if the job needs them."""
    documents = job.evidence.documents
    if documents is None:
        return batches
    label = DocumentLabel(documents, job.source.labels.index(documents))
    return check_documents(batches, label, step)


def counted_of(job: Job) -> Counted:
    """What is counted for a job."""
    return {
        (metric.name, text.name): (text, job.scorings[metric.name].counters[text.name])
        for metric in job.metrics
        for text in metric.texts
    }


def counting(job: Job, counted: Counted, step: Step) -> beam.ParDo:
    """The step that counts each batch for all metrics, and picks examples of it."""
    first = counts_empty_candidates(job.scorings) or job.metrics[0].name
    return count_metrics(
        list(counted.values()),
        job.threads,
        step,
        languages=_language_label(job),
        lengths=_lengths(job),
        keep_texts=job.source.keeps_texts,
        on_consoles=list(counted).index((first, job.scorings[first].text)),
        pick=_picker(job, list(counted)) if job.examples else None,
    )


def _count(batches: PCollection[SegmentBatch], job: Job, step: Step, parts: _Parts) -> _Statistics:
    """Adds one step that counts each batch for all metrics, and steps that take those of each one.

    The first one also picks examples. Beam fuses all of these steps with the reading. So each batch
    is read once, and prepared once.
    """
    counted = counted_of(job)
    if len(counted) == 1 and not job.examples:
        ((only, (text, counter)),) = counted.items()
        counting_one = count_matches(
            text,
            counter,
            job.threads,
            step,
            languages=_language_label(job),
            lengths=_lengths(job),
            keep_texts=job.source.keeps_texts,
        )
        return {only: batches | "Count matches" >> counting_one}
    counts = batches | "Count matches" >> counting(job, counted, step)
    if job.examples:
        parts.add(EXAMPLES, sum_examples(counts, EXAMPLES, job.examples, step))
    return {
        (name, text): counts
        | f"Take the counts of {with_text(job.scorings[name], text)}"
        >> take_statistics(number, step)
        for number, (name, text) in enumerate(counted)
    }


def _picker(job: Job, counted: Sequence[tuple[MetricWord, TextName]]) -> Picker:
    """What picks examples of a batch by its statistics, which are in this order."""
    metrics = tuple(
        PickedMetric(
            metric.name,
            metric.segments,
            counted.index((metric.name, metric.text.name)),
            row_of(metric.name).lower_is_better,
        )
        for metric in job.metrics
    )
    return Picker(job.examples, metrics, kind_of, baseline_of(job), tuple(job.source.labels))


class Addition(NamedTuple):
    """Something that is added up for a metric.

    Attributes:
      end: the end at which the last step gets the totals.
      text: the way to make tokens of the statistics that are added up.
      adding: how.
    """

    end: str
    text: TextName
    adding: Adding


def additions(job: Job, metric: JobMetric) -> Iterator[Addition]:
    """What is added up for a metric: its own totals first, then those of other tokens."""
    scorings, evidence = job.scorings[metric.name], job.evidence
    for text, counter in scorings.counters.items():
        adding = Adding(counter.basis)
        if text == scorings.text:
            adding = Adding(
                counter.basis,
                job.slicing,
                tuple(job.source.labels),
                evidence.uncertainty,
                baseline_of(job),
                evidence.needs_all_pairs,
                evidence.documents if evidence.needs_documents else None,
                evidence.resampling,
            )
        yield Addition(end_of(scorings, text), text, adding)


def _add_metric(
    statistics: _Statistics, job: Job, metric: JobMetric, step: Step, parts: _Parts
) -> None:
    """Adds the steps of a metric. Beam fuses them with the counting."""
    name = metric.name
    scorings = job.scorings[name]
    own = statistics[name, scorings.text]
    for end, text, adding in additions(job, metric):
        parts.add(end, sum_batches(statistics[name, text], end, adding, step, threads=job.threads))
        if adding.documents is not None:
            parts.documents[end] = sum_documents(own, end, adding, step), adding
    if scorings.segments is not None:
        scoring = ScoreSegments(
            name, kind_of, scorings.segments, job.schema_of_segments, job.threads
        )
        parts.tables[name] = own | f"Score segments{suffix_of(job, name)}" >> beam.ParDo(
            step(scoring)
        )


def baseline_of(job: Job) -> str | None:
    """The baseline; None for the first system: some sources find theirs when they are read."""
    return job.evidence.baseline or next(iter(job.source.systems), None)


def suffix_of(job: Job, name: MetricWord) -> str:
    """What the labels of a metric's steps end in. Those of the first one have no more words."""
    return "" if name == job.metrics[0].name else f" ({name})"


def _lengths(job: Job) -> TokenLengths | None:
    """How slices by length count tokens for metrics that have none; None without such slices."""
    has_lengths = any(LENGTH in item for item in job.slicing.items)
    return TokenLengths(job.text, BleuCounter(1)) if has_lengths else None


def _language_label(job: Job) -> LanguageLabel | None:
    if job.languages is None:
        return None
    return LanguageLabel(job.languages, job.source.labels.index(job.languages))
