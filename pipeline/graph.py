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
from beam_bleu.pipeline.gates.enforcing import enforce
from beam_bleu.pipeline.job import Job, Results
from beam_bleu.pipeline.output.document import document_bytes, result_document
from beam_bleu.pipeline.output.earlier_attempt import earlier_result
from beam_bleu.pipeline.output.file_names import MANIFEST, SCORES, TOTALS
from beam_bleu.pipeline.output.manifest import manifest, streams, without_versions
from beam_bleu.pipeline.output.parquet_shards import WriteShards, check_rows
from beam_bleu.pipeline.output.publication import in_place, write_documents
from beam_bleu.pipeline.output.receipt import write_receipt
from beam_bleu.pipeline.output.rejected_shards import WriteRejected
from beam_bleu.pipeline.reruns.rerun_input import described_input
from beam_bleu.pipeline.saved.totals_file import saved_bytes
from beam_bleu.pipeline.scoring.gathering import Gathered, bring_together, by_end
from beam_bleu.pipeline.scoring.scorings import Scorings, schema_of_segments
from beam_bleu.pipeline.scoring.totals import MetricTotals, Totals
from beam_bleu.pipeline.starting.plain_steps import PlainDoFn
from beam_bleu.transforms.definition.slicing import LENGTH, Slicing
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.known_metrics import MetricName, kind_of
from beam_bleu.transforms.metrics.bleu.kernel import BleuCounter
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.paired import Digests, FoundSegments
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.score.score_segments import ScoreSegments
from beam_bleu.transforms.statistics.batch_steps import TokenLengths, check_documents, count_matches
from beam_bleu.transforms.statistics.segment_labels import DocumentLabel, LanguageLabel
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import add_tallies, sums_by_system, tally_of
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
from beam_bleu.transforms.wiring.keyed import keyed
from beam_bleu.transforms.wiring.steps import Step

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
    # Those of `sums` have a key already. Each step less makes the start faster.
    ends: dict[str, Any] = {}
    sums: dict[str, Any] = {}
    tables: list[PCollection[pa.Table]] = []
    for name in job.metrics:
        _add_metric(batches, job, name, step, ends, sums, tables)
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
    ends |= {"results": named, "segments": paired.segments}
    if paired.digests is not None:
        ends["digests"] = paired.digests
    if paired.tallies is not None:
        sums["tallies"] = (
            paired.tallies
            | "Name the tallies" >> beam.Map(keyed)
            | "Add up tallies" >> beam.CombinePerKey(add_tallies)
        )
    if paired.rejected is not None:
        # Beam fuses this step with the reading.
        ends["rejected"] = paired.rejected | "Write rejected records" >> beam.ParDo(
            step(WriteRejected(job.output, job.run))
        ).with_output_types(Rejected)
    if tables:
        # Beam fuses these steps with the counting, so only the names of files are shuffled.
        schema = schema_of_segments(job.scorings, job.source.labels)
        written = [
            table
            | f"Write segment scores{_suffix(job, name)}"
            >> beam.ParDo(
                step(WriteShards(job.output, job.run, schema, job.threads))
            ).with_output_types(str)
            for name, table in zip(job.metrics, tables, strict=True)
        ]
        ends["shards"] = written[0]
        if len(written) > 1:
            ends["shards"] = written | "Collect segment scores" >> beam.Flatten()
    last = step(_ScoreAndWrite([*ends, *sums]))
    _ = bring_together(ends, sums) | "Score and write" >> beam.ParDo(last)


def _add_metric(
    batches: PCollection[SegmentBatch],
    job: Job,
    name: MetricName,
    step: Step,
    ends: dict[str, Any],
    sums: dict[str, Any],
    tables: list[PCollection[pa.Table]],
) -> None:
    """Adds the steps of a metric: its ends, its sums and the tables of segments' scores.

    Beam fuses all of these steps with the reading. So each batch is read once, and counted once
    for each way to make tokens. Only one way changes Beam's metrics.
    """
    scorings, evidence, labels = job.scorings[name], job.evidence, job.source.labels
    counters, suffix = scorings.counters, _suffix(job, name)
    is_first = name == job.metrics[0]
    statistics = {}
    for text in job.texts(name):
        counter, is_own = counters[text.name], text.name == scorings.text
        of_text = suffix if is_own else f" ({text.name.label})"
        statistics[text.name] = batches | f"Count matches{of_text}" >> count_matches(
            text,
            counter,
            job.threads,
            step,
            languages=_language_label(job),
            lengths=_lengths(job, scorings) if is_own else None,
            metrics=is_own and is_first,
        )
        ends[_end("totals", scorings, text.name)] = sum_corpus(
            statistics[text.name],
            counter.basis,
            step,
            threads=job.threads,
            label_suffix=of_text,
        )
    own, basis = statistics[scorings.text], counters[scorings.text].basis
    if job.slicing:
        sums[_end("slices", scorings)] = sum_slices(
            own, job.slicing, labels, basis, step, threads=job.threads, label_suffix=suffix
        )
    if evidence.needs_moments:
        sums[_end("moments", scorings)] = sum_moments(
            own,
            job.slicing,
            labels,
            basis,
            step,
            # Some sources find their systems only when they are read.
            baseline=evidence.baseline or next(iter(job.source.systems), None),
            with_all_pairs=evidence.needs_all_pairs,
            documents=evidence.documents,
            threads=job.threads,
            label_suffix=suffix,
        )
    if evidence.resampling is not None:
        sums[_end("replicates", scorings)] = sum_replicates(
            own,
            evidence.resampling,
            labels,
            basis,
            step,
            documents=evidence.documents,
            threads=job.threads,
            label_suffix=suffix,
        )
    if scorings.segments is not None:
        schema = schema_of_segments(job.scorings, labels)
        scoring = ScoreSegments(name, kind_of, scorings.segments, schema, job.threads)
        tables.append(own | f"Score segments{suffix}" >> beam.ParDo(step(scoring)))


def _suffix(job: Job, name: MetricName) -> str:
    """What the labels of a metric's steps end in. Those of the first one have no more words."""
    return "" if name == job.metrics[0] else f" ({name})"


def _end(what: str, scorings: Scorings, text: TextName | None = None) -> str:
    """The name of an end with sums of a metric; with those of another way to make tokens."""
    of_text = "" if text is None or text == scorings.text else f" ({text.label})"
    return f"{what} of {scorings.name}{of_text}"


def _lengths(job: Job, scorings: Scorings) -> TokenLengths | None:
    """How slices by length count tokens for a metric that has none; None if it needs no help."""
    has_lengths = any(LENGTH in item for item in job.slicing.items)
    if not has_lengths or scorings.counters[scorings.text].is_tokenized:
        return None
    return TokenLengths(job.config.text, BleuCounter(1))


def _language_label(job: Job) -> LanguageLabel | None:
    if job.languages is None:
        return None
    return LanguageLabel(job.languages, job.source.labels.index(job.languages))


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
    found: list[FoundSegments] = list(ends["segments"])
    metrics = {
        name: _metric_totals(scorings, found, results.slicing, ends)
        for name, scorings in results.scorings.items()
    }
    (segments,) = found
    tally = tally_of(segments, ends.get("tallies"))
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
        digests: Digests = _only_sum("digests", ends)
        read = streams(segments, digests)
        documents[MANIFEST] = document_bytes(manifest(read, data, results.input))
        if results.evidence.save_totals:
            documents[TOTALS] = saved_bytes(totals, results, without_versions(read), data)
    shards: list[str] = list(ends.get("shards", ()))
    if "shards" in ends:
        check_rows(output, run, shards, sum(totals.scored.values()) * len(totals.metrics))
    if results.receipt:
        # Before the result: if this fails, the previous result stays. The launcher reads the
        # receipt only after the job is done.
        write_receipt(results.receipt, data, segments.notes)
    # Also without segment scores, because those of a previous run must be removed.
    with in_place(output, run, shards, documents, rejected.files):
        write_documents(output, documents)
    # After the result, because it is complete. A launcher that waits warns itself.
    _enforce(results, document)


def _metric_totals(
    scorings: Scorings,
    found: Sequence[FoundSegments],
    slicing: Slicing,
    ends: Mapping[str, Iterable[Any]],
) -> MetricTotals:
    """What the job has added up for a metric."""
    counters = scorings.counters
    sums = {
        text: sums_by_system(found, list(ends[_end("totals", scorings, text)])) for text in counters
    }
    return MetricTotals(
        sums,
        _slices_of(
            slicing,
            ends.get(_end("slices", scorings), ()),
            counters[scorings.text].basis,
            found[0].systems,
        ),
        _only_sum(_end("moments", scorings), ends, is_needed=False),
        _only_sum(_end("replicates", scorings), ends, is_needed=False),
    )


def _enforce(results: Results, document: Mapping[str, Any]) -> None:
    output = results.output if results.manifest else ""
    enforce(results.gates, document, output, warn=not results.receipt)


def _slices_of(
    slicing: Slicing, given: Iterable[SliceSums], basis: Basis, systems: Sequence[str]
) -> SliceSums | None:
    """The sums of all slices; None if no slices are scored.

    Raises:
      InputError: there are too many slices.
    """
    if not slicing:
        return None
    # If the runner has lost or repeated them, they are not the sums of the whole corpus.
    found = SliceSums.zero(basis.width)
    for each in given:
        found = found.added(each, slicing.most)
    require_bounded(found.keys, slicing)
    return found.arranged(slicing.in_order(found.keys), systems)


def _only_sum(name: str, ends: Mapping[str, Iterable[Any]], *, is_needed: bool = True) -> Any:
    """The sum at an end.

    Returns:
      None if there is no sum, and it is not needed: it was not asked for, or nothing was read.

    Raises:
      JobError: there are several sums, or there is none although it is needed.
    """
    found = list(ends.get(name, ()))
    if len(found) > 1 or (is_needed and not found):
        raise JobError(
            f"the last step got {len(found)} sums of {name}: it must get 1",
            "the runner lost or repeated data: do not use it for this job",
        )
    return found[0] if found else None
