"""The middle of a job's pipeline: steps that count batches, score segments and add up the sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection
from apache_beam.typehints import typehints

from beam_bleu.pipeline.errors.marked_steps import PlainDoFn
from beam_bleu.pipeline.scoring.job import Job, Scorings
from beam_bleu.pipeline.scoring.totals import SAMPLE, end_of
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.examples.picking import PickedMetric, Picker
from beam_bleu.transforms.inspection.sample import Sampling
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, MetricWord, row_of
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Sums
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.score.segment_table import segment_table
from beam_bleu.transforms.statistics.batch_steps import count_matches
from beam_bleu.transforms.statistics.counting import BatchStatistics, SegmentLabel
from beam_bleu.transforms.text.text import Text, TextName
from beam_bleu.transforms.totals.batch_adder import PICKED, Adding, Additions
from beam_bleu.transforms.totals.summing import SumBundles, sum_documents
from beam_bleu.transforms.wiring.steps import (
    CollectBundles,
    NamedSums,
    Step,
    ThreadedDoFn,
    add_up,
    giving_sums,
)

# What is counted: for each metric and each way to make its tokens, the text options and the metric.
Counted = dict[tuple[MetricWord, TextName], tuple[Text, Metric]]


class Summed(NamedTuple):
    sums: PCollection[NamedSums]
    ends: Sequence[str]
    tables: dict[MetricWord, PCollection[pa.Table]]


def sum_all(
    batches: PCollection[SegmentBatch],
    job: Job,
    step: Step,
    of_source: Mapping[str, PCollection[Sums] | None],
) -> Summed:
    """Adds the steps from batches, in the global window, to everything that a job adds up.

    One step, fused with the reading, counts for all metrics, so each batch is read once.
    """
    sums = {
        name: parts | f"Name the {name}" >> giving_sums(_Name(name))
        for name, parts in of_source.items()
        if parts is not None
    }
    if any(row_of(name).counts_texts for name in job.scorings):
        sums[SAMPLE] = batches | "Take a sample" >> giving_sums(step(_TakeSamples()))
    counts = batches | "Count matches" >> counting(job, step)
    added = additions(job)
    totals = counts | "Sum the totals" >> giving_sums(step(SumBundles(added, job.threads)))
    parts = [totals, *sums.values()]
    if documents := of_documents(added):
        parts.append(sum_documents(counts, documents, step))
    ends = [*added, *sums, *([PICKED] if job.picks else [])]
    return Summed(add_up(parts), ends, segment_tables(counts, job, step))


class _Name(PlainDoFn):
    def __init__(self, name: str) -> None:
        self._name = name

    def process(self, sums: Sums) -> Iterator[NamedSums]:
        yield self._name, sums


class _TakeSamples(CollectBundles):
    def new_collector(self) -> Sampling:
        return Sampling()

    def collected(self, collector: Sampling) -> Iterable[NamedSums]:
        return [(SAMPLE, collector.total)]


def segment_tables(
    counts: PCollection[BatchStatistics], job: Job, step: Step
) -> dict[MetricWord, PCollection[pa.Table]]:
    counted = [*counted_of(job)]
    tables = {}
    for name, scorings in job.scorings.items():
        if scorings.segments is not None:
            place = counted.index((name, scorings.text))
            scoring = ScoreSegments(place, scorings, job.schema_of_segments, job.threads)
            label = f"Score segments{suffix_of(job, name)}"
            tables[name] = counts | label >> beam.ParDo(step(scoring))
    return tables


class ScoreSegments(ThreadedDoFn):
    """Maps statistics to a table of segment scores, only of the tasks that have the metric."""

    def __init__(self, place: int, scorings: Scorings, schema: pa.Schema, threads: int) -> None:
        super().__init__(threads)
        self._place, self._scorings, self._schema = place, scorings, schema

    def work(self, statistics: BatchStatistics) -> Iterable[pa.Table]:
        scorings = self._scorings
        assert scorings.segments is not None
        own = scorings.name, scorings.segments, self._schema
        table = segment_table(statistics, self._place, *own)
        if scorings.by_task:
            label = str(scorings.unpooled)
            tasks = table[label].to_pylist()
            is_of = {task: scorings.is_of({label: task}) for task in {*tasks}}
            table = table.filter(pa.array([is_of[task] for task in tasks], pa.bool_()))
        return [table] if len(table) else []


def counted_of(job: Job) -> Counted:
    return {
        (name, text): (job.metrics.texts[text], metric)
        for name, own in job.scorings.items()
        for text, metric in own.counted.items()
    }


def counting(job: Job, step: Step) -> beam.ParDo:
    counted = counted_of(job)
    own = next(iter(job.scorings.values()))
    # How slices by length count tokens if the metrics have none.
    lengths = (job.metrics.lengths, BleuConfig(max_ngram_order=1))
    return count_matches(
        list(counted.values()),
        job.threads,
        step,
        languages=_label(job, own.languages),
        documents=_label(job, job.evidence.documents),
        lengths=lengths if any(LENGTH in item for item in job.slicing.items) else None,
        keep_texts=job.source.keeps_texts,
        pick=_picker(job, list(counted)) if job.picks else None,
    )


def _picker(job: Job, counted: Sequence[tuple[MetricWord, TextName]]) -> Picker:
    metrics = tuple(
        PickedMetric(
            name,
            job.metrics.of_segments(name),
            counted.index((name, own.text)),
            row_of(name).lower_is_better,
        )
        for name, own in job.scorings.items()
        if job.examples
    )
    varied = (
        job.metrics.texts[job.scorings[DEFAULT_METRIC].text] if job.evidence.diversity else None
    )
    return Picker(job.examples, metrics, job.baseline, tuple(job.source.labels), varied)


def additions(job: Job) -> dict[str, Adding]:
    """What is added up for each end. Presets with other tokens have no slices and no evidence."""
    evidence = job.evidence
    # Even without standard errors, replicates need the number of documents.
    needs_documents = evidence.uncertainty or evidence.resampling is not None
    added = {}
    for place, ((name, text), (_, metric)) in enumerate(counted_of(job).items()):
        adding = Adding(metric.basis, place)
        if text == job.scorings[name].text:
            adding = dataclasses.replace(
                adding,
                slicing=job.slicing,
                labels=tuple(job.source.labels),
                with_products=evidence.uncertainty,
                baseline=job.baseline,
                # So that `rescore` can compare with another baseline, saved totals have all pairs.
                with_all_pairs=evidence.compare_all or evidence.save_totals,
                documents=evidence.documents if needs_documents else None,
                resampling=evidence.resampling,
            )
        added[end_of(name, text)] = adding
    return added


def of_documents(added: Additions) -> dict[str, Adding]:
    return {end: adding for end, adding in added.items() if adding.documents is not None}


def suffix_of(job: Job, name: MetricWord) -> str:
    return "" if name == next(iter(job.scorings)) else f" ({name})"


def _label(job: Job, name: str | None) -> SegmentLabel | None:
    return None if name is None else SegmentLabel(name, job.source.labels.index(name))


# The one key that all values share, and each value with the name of its end.
Gathered = tuple[int, Iterable[tuple[str, Any]]]


def bring_together(
    ends: Mapping[str, PCollection[Any]], sums: PCollection[NamedSums]
) -> PCollection[Gathered]:
    """Brings the values of all ends, and all sums (named by their ends), into one `Gathered`."""
    # All have the same type: otherwise the in-process runner would encode each element again.
    named = typehints.Tuple[int, typehints.Tuple[str, typehints.Any]]
    return (
        [
            *(
                end | f"Send on the {name}" >> beam.ParDo(_SendOn(name)).with_output_types(named)
                for name, end in ends.items()
            ),
            sums | "Send on the sums" >> beam.ParDo(_SendOnSums()).with_output_types(named),
        ]
        | "Collect the ends" >> beam.Flatten()
        | "Bring it together" >> beam.GroupByKey()
    )


def by_end(ends: Iterable[str], gathered: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    values: dict[str, list[Any]] = {name: [] for name in ends}
    for name, value in gathered:
        values[name].append(value)
    return values


class _SendOn(PlainDoFn):
    def __init__(self, name: str) -> None:
        self._name = name

    def process(self, value: Any) -> Iterator[tuple[int, tuple[str, Any]]]:
        yield 0, (self._name, value)


class _SendOnSums(PlainDoFn):
    def process(self, named: NamedSums) -> Iterator[tuple[int, NamedSums]]:
        yield 0, named
