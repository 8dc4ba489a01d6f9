"""The pipeline graph: from a source to scores.json, and to segment scores."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection

from beam_bleu.pipeline.errors.marked_steps import filesystem_options, marked
from beam_bleu.pipeline.gates.judging import enforce
from beam_bleu.pipeline.job import Job, Results
from beam_bleu.pipeline.output.document import document_bytes, result_document
from beam_bleu.pipeline.output.file_names import MANIFEST, SCORES, TOTALS
from beam_bleu.pipeline.output.manifest import manifest, streams, without_versions
from beam_bleu.pipeline.output.part_files import WritePartFiles, check_rows
from beam_bleu.pipeline.output.publication import in_place, write_documents
from beam_bleu.pipeline.output.receipt import earlier_result, write_receipt
from beam_bleu.pipeline.output.rejected_files import WriteRejected
from beam_bleu.pipeline.reruns.rerun_input import described_input
from beam_bleu.pipeline.saved.totals_file import saved_bytes
from beam_bleu.pipeline.scoring.gathering import Gathered, bring_together, by_end
from beam_bleu.pipeline.scoring.scorings import JobMetric, Scorings, schema_of_segments
from beam_bleu.pipeline.scoring.totals import MetricTotals, Totals
from beam_bleu.pipeline.starting.plain_steps import PlainDoFn
from beam_bleu.transforms.definition.slicing import LENGTH, Slicing
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.known_metrics import (
    MetricWord,
    counts_empty_candidates,
    kind_of,
)
from beam_bleu.transforms.metrics.bleu.kernel import BleuCounter
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.paired import Digests, FoundSegments
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.score.score_segments import ScoreSegments
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.batch_steps import (
    TokenLengths,
    check_documents,
    count_matches,
    count_metrics,
    take_statistics,
)
from beam_bleu.transforms.statistics.segment_labels import DocumentLabel, LanguageLabel
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import sums_by_system, tally_of
from beam_bleu.transforms.totals.moments.sum_document_moments import (
    NamedDocuments,
    moments_of_documents,
    sum_documents,
)
from beam_bleu.transforms.totals.rejected import (
    Rejected,
    check_rejected,
    require_segments_left,
)
from beam_bleu.transforms.totals.slice_sums import SliceSums, require_bounded
from beam_bleu.transforms.totals.summing import (
    sum_corpus,
    sum_moments,
    sum_replicates,
    sum_slices,
)
from beam_bleu.transforms.wiring.add_up import NamedSums, add_up, giving_sums
from beam_bleu.transforms.wiring.steps import Step
from beam_bleu.transforms.wiring.sums import ALL_SYSTEMS

__all__ = ["build"]


def build(root: beam.Pipeline, job: Job) -> None:
    """Adds a job to a pipeline: pairing, statistics, totals, score, and scores.json last.

    The tokenizer's model is sent only once, with the step that counts.
    """
    step = functools.partial(marked, filesystems=filesystem_options(root.options))
    paired = root | job.source.pair(job.threads, step, describe=job.manifest)
    batches = paired.batches
    if job.evidence.documents is not None:
        documents = job.evidence.documents
        label = DocumentLabel(documents, job.source.labels.index(documents))
        batches = check_documents(batches, label, step)
    parts = _Parts()
    statistics = _count(batches, job, step)
    for metric in job.metrics:
        _add_metric(statistics, job, metric, step, parts)
    # The last step always gets the element `results`. So it runs even if a runner has lost the
    # other data. Then it finds that the numbers of segments differ, and fails.
    named = (
        root
        | "Begin" >> beam.Impulse()
        | "Name the job" >> beam.ParDo(_NameTheJob(_results(job))).with_output_types(Results)
    )
    if job.gates:
        # A step of its own beside the reading, so that it ends a repeated job within seconds.
        named |= "Judge an earlier attempt" >> beam.ParDo(
            step(_JudgeEarlierAttempt())
        ).with_output_types(Results)
    ends = {"results": named, "segments": paired.segments}
    if paired.digests is not None:
        ends["digests"] = paired.digests
    if paired.tallies is not None:
        parts.sums["tallies"] = paired.tallies | "Name the tallies" >> giving_sums(_NameTallies())
    if paired.rejected is not None:
        # Beam fuses this step with the reading.
        ends["rejected"] = paired.rejected | "Write rejected records" >> beam.ParDo(
            step(WriteRejected(job.output, job.run))
        ).with_output_types(Rejected)
    if parts.tables:
        # Beam fuses these steps with the counting, so only the names of files are shuffled.
        schema = schema_of_segments(job.scorings, job.source.labels)
        written = [
            table
            | f"Write segment scores{_suffix(job, name)}"
            >> beam.ParDo(
                step(WritePartFiles(job.output, job.run, schema, job.threads))
            ).with_output_types(str)
            for name, table in parts.tables.items()
        ]
        ends["part_files"] = written[0]
        if len(written) > 1:
            ends["part_files"] = written | "Collect segment scores" >> beam.Flatten()
    sums = list(parts.sums.values())
    if parts.documents:
        sums.append(
            moments_of_documents(
                parts.documents.values(),
                {_end("moments", scorings): scorings.basis for scorings in job.scorings.values()},
                job.slicing.most,
                step,
                baseline=_baseline(job),
                with_all_pairs=job.evidence.needs_all_pairs,
            )
        )
    last = step(_ScoreAndWrite([*ends, *parts.sums, *parts.documents]))
    _ = bring_together(ends, add_up(sums)) | "Score and write" >> beam.ParDo(last)


@dataclasses.dataclass(frozen=True)
class _Parts:
    """What the steps of all metrics give. The dictionaries change.

    Attributes:
      sums: by the end at which the last step gets the sums, those of parts of the corpus.
      documents: by the end of the moments, the sums of documents of which they are made.
      tables: by metric, the scores of segments.
    """

    sums: dict[str, PCollection[NamedSums]] = dataclasses.field(default_factory=dict)
    documents: dict[str, PCollection[NamedDocuments]] = dataclasses.field(default_factory=dict)
    tables: dict[MetricWord, PCollection[pa.Table]] = dataclasses.field(default_factory=dict)


_Statistics = dict[tuple[MetricWord, TextName], PCollection[BatchStatistics]]
"""The statistics of all batches, for each metric and each way to make its tokens."""


def _count(batches: PCollection[SegmentBatch], job: Job, step: Step) -> _Statistics:
    """Adds one step that counts each batch for all metrics, and steps that take those of each one.

    Beam fuses all of these steps with the reading. So each batch is read once, and prepared once.
    """
    counted = {
        (metric.name, text.name): (text, job.scorings[metric.name].counters[text.name])
        for metric in job.metrics
        for text in metric.texts
    }
    languages, lengths = _language_label(job), _lengths(job)
    if len(counted) == 1:
        ((only, (text, counter)),) = counted.items()
        counting = count_matches(
            text, counter, job.threads, step, languages=languages, lengths=lengths
        )
        return {only: batches | "Count matches" >> counting}
    first = counts_empty_candidates(job.scorings) or job.metrics[0].name
    counts = batches | "Count matches" >> count_metrics(
        list(counted.values()),
        job.threads,
        step,
        languages=languages,
        lengths=lengths,
        on_consoles=list(counted).index((first, job.scorings[first].text)),
    )
    return {
        (name, text): counts
        | f"Take the counts of {_with_text(job.scorings[name], text)}"
        >> take_statistics(number, step)
        for number, (name, text) in enumerate(counted)
    }


def _add_metric(
    statistics: _Statistics, job: Job, metric: JobMetric, step: Step, parts: _Parts
) -> None:
    """Adds the steps of a metric. Beam fuses them with the counting."""
    name, evidence, labels = metric.name, job.evidence, job.source.labels
    scorings, suffix = job.scorings[name], _suffix(job, name)
    for text, counter in scorings.counters.items():
        end = _end("totals", scorings, text)
        parts.sums[end] = sum_corpus(
            statistics[name, text], end, counter.basis, step, threads=job.threads
        )
    own, basis = statistics[name, scorings.text], scorings.basis
    if job.slicing:
        end = _end("slices", scorings)
        parts.sums[end] = sum_slices(
            own, end, job.slicing, labels, basis, step, threads=job.threads
        )
    if evidence.needs_moments:
        end = _end("moments", scorings)
        if evidence.documents is not None:
            parts.documents[end] = sum_documents(
                own, end, job.slicing, labels, basis, step, documents=evidence.documents
            )
        else:
            parts.sums[end] = sum_moments(
                own,
                end,
                job.slicing,
                labels,
                basis,
                step,
                baseline=_baseline(job),
                with_all_pairs=evidence.needs_all_pairs,
                threads=job.threads,
            )
    if evidence.resampling is not None:
        end = _end("replicates", scorings)
        parts.sums[end] = sum_replicates(
            own,
            end,
            evidence.resampling,
            labels,
            basis,
            step,
            documents=evidence.documents,
            threads=job.threads,
        )
    if scorings.segments is not None:
        schema = schema_of_segments(job.scorings, labels)
        scoring = ScoreSegments(name, kind_of, scorings.segments, schema, job.threads)
        parts.tables[name] = own | f"Score segments{suffix}" >> beam.ParDo(step(scoring))


def _baseline(job: Job) -> str | None:
    """The baseline; None for the first system: some sources find theirs when they are read."""
    return job.evidence.baseline or next(iter(job.source.systems), None)


def _suffix(job: Job, name: MetricWord) -> str:
    """What the labels of a metric's steps end in. Those of the first one have no more words."""
    return "" if name == job.metrics[0].name else f" ({name})"


def _end(what: str, scorings: Scorings, text: TextName | None = None) -> str:
    """The name of an end with sums of a metric; with those of another way to make tokens."""
    return f"{what} of {_with_text(scorings, text)}"


def _with_text(scorings: Scorings, text: TextName | None) -> str:
    """The name of a metric, with that of another way to make its tokens."""
    if text is None or text == scorings.text:
        return scorings.name
    return f"{scorings.name} ({text.label})"


def _lengths(job: Job) -> TokenLengths | None:
    """How slices by length count tokens for metrics that have none; None if they need no help."""
    has_lengths = any(LENGTH in item for item in job.slicing.items)
    own = [scorings.counters[scorings.text] for scorings in job.scorings.values()]
    if not has_lengths or all(counter.is_tokenized for counter in own):
        return None
    return TokenLengths(job.text, BleuCounter(1))


def _language_label(job: Job) -> LanguageLabel | None:
    if job.languages is None:
        return None
    return LanguageLabel(job.languages, job.source.labels.index(job.languages))


class _NameTallies(PlainDoFn):
    def process(self, tally: Tally) -> Iterator[NamedSums]:
        yield ("tallies", ALL_SYSTEMS), tally


class _NameTheJob(PlainDoFn):
    def __init__(self, results: Results) -> None:
        self._results = results

    def process(self, impulse: bytes) -> Iterator[Results]:
        yield self._results


def _results(job: Job) -> Results:
    """What the last step needs to know, with a description of the input for the manifest."""
    return dataclasses.replace(job.results, input=described_input(job.source))


class _JudgeEarlierAttempt(beam.DoFn):
    """Ends the job at once if an earlier attempt of it has missed a threshold."""

    def process(self, results: Results) -> Iterator[Results]:
        document = earlier_result(results.output, results.receipt)
        if document is not None:
            _enforce(results, json.loads(document))
        yield results


class _ScoreAndWrite(beam.DoFn):
    def __init__(self, ends: Sequence[str]) -> None:
        self._ends = ends

    def process(self, gathered: Gathered) -> None:
        key, named = gathered
        _score_and_write(key, by_end(self._ends, named))


def _score_and_write(key: int, ends: Mapping[str, Iterable[Any]]) -> None:
    PROGRESS.begin("writing")
    results: Results
    (results,) = ends["results"]
    output, run = results.output, results.run
    of_sources: list[FoundSegments] = list(ends["segments"])
    metrics = {
        name: _metric_totals(scorings, of_sources, results.slicing, ends)
        for name, scorings in results.scorings.items()
    }
    (segments,) = of_sources
    tally = tally_of(segments, _sums(ends, "tallies") if "tallies" in ends else None)
    rejected = check_rejected(ends.get("rejected", ()), tally, results.most_rejected)
    require_segments_left(tally, rejected)
    totals = Totals(
        segments.systems,
        tally,
        metrics,
        is_tallied="tallies" in ends,
        rejected=rejected,
        warnings=segments.warnings,
        coverage=segments.coverage,
    )
    document = result_document(totals, results.scorings, results.slicing, results.evidence)
    data = document_bytes(document)
    documents = {SCORES: data}
    if results.manifest:
        digests: Digests = _only_sum("digests", ends["digests"])
        read = streams(segments, digests)
        documents[MANIFEST] = document_bytes(manifest(read, data, results.input))
        if results.evidence.save_totals:
            documents[TOTALS] = saved_bytes(totals, results, without_versions(read), data)
    part_files: list[str] = list(ends.get("part_files", ()))
    if "part_files" in ends:
        check_rows(output, run, part_files, sum(totals.scored.values()) * len(totals.metrics))
    if results.receipt:
        # Before the result: if this fails, the previous result stays. The launcher reads the
        # receipt only after the job is done.
        write_receipt(results.receipt, data, segments.notes)
    # Also without segment scores, because those of a previous run must be removed.
    with in_place(output, run, part_files, documents, rejected.files):
        write_documents(output, documents)
    # After the result, because it is complete. A launcher that waits warns itself.
    _enforce(results, document)


def _metric_totals(
    scorings: Scorings,
    of_sources: Sequence[FoundSegments],
    slicing: Slicing,
    ends: Mapping[str, Iterable[Any]],
) -> MetricTotals:
    """What the job has added up for a metric."""
    counters = scorings.counters
    sums = {
        text: sums_by_system(of_sources, list(ends[_end("totals", scorings, text)]))
        for text in counters
    }
    return MetricTotals(
        sums,
        _slices_of(
            slicing,
            _sums(ends, _end("slices", scorings)),
            scorings.basis,
            of_sources[0].systems,
        ),
        *(
            _only_sum(end, _sums(ends, end), is_needed=False)
            for end in (_end("moments", scorings), _end("replicates", scorings))
        ),
    )


def _enforce(results: Results, document: Mapping[str, Any]) -> None:
    output = results.output if results.manifest else ""
    enforce(results.gates, document, output, warn=not results.receipt)


def _slices_of(
    slicing: Slicing, parts: Iterable[SliceSums], basis: Basis, systems: Sequence[str]
) -> SliceSums | None:
    """The sums of all slices; None if no slices are scored.

    Raises:
      InputError: there are too many slices.
    """
    if not slicing:
        return None
    # If the runner has lost or repeated them, they are not the sums of the whole corpus.
    total = sum(parts, start=SliceSums.zero(basis.width, most=slicing.most))
    require_bounded(total.keys, slicing)
    return total.arranged(slicing.in_order(total.keys), systems)


def _sums(ends: Mapping[str, Iterable[Any]], name: str) -> list[Any]:
    """The sums at an end, without their systems; none if it was not asked for."""
    return [sums for _, sums in ends.get(name, ())]


def _only_sum(name: str, elements: Iterable[Any], *, is_needed: bool = True) -> Any:
    """The sum at an end.

    Returns:
      None if there is no sum, and it is not needed: it was not asked for, or nothing was read.

    Raises:
      JobError: there are several sums, or there is none although it is needed.
    """
    sums = list(elements)
    if len(sums) > 1 or (is_needed and not sums):
        raise JobError(
            f"the last step got {len(sums)} sums of {name}, but it must get 1",
            "the runner lost or repeated data: do not use it for this job",
        )
    return sums[0] if sums else None
