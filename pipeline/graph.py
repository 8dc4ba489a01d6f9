"""The pipeline graph: from a source to scores.json, and to segment scores."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam

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
from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.pipeline.starting.plain_steps import PlainDoFn
from beam_bleu.transforms.definition.slicing import Slicing
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.bleu.columns import bleu_basis
from beam_bleu.transforms.metrics.bleu.kernel import BleuCounter
from beam_bleu.transforms.metrics.bleu.score_segments import ScoreSegments
from beam_bleu.transforms.metrics.bleu.segment_table import bleu_table_schema
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.pairing.paired import Digests, FoundSegments
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.statistics.by_language import LanguageLabel
from beam_bleu.transforms.statistics.check_documents import check_documents
from beam_bleu.transforms.statistics.count_matches import count_matches
from beam_bleu.transforms.statistics.documents import DocumentLabel
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import add_tallies, sums_by_system, tally_of
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.rejected import (
    Rejected,
    check_rejected,
    require_segments_left,
)
from beam_bleu.transforms.totals.slice_sums import SliceSums, require_bounded
from beam_bleu.transforms.totals.steps import (
    sum_corpus,
    sum_moments,
    sum_replicates,
    sum_slices,
)
from beam_bleu.transforms.wiring.keyed import keyed

__all__ = ["build"]


def build(root: beam.Pipeline, job: Job) -> None:
    """Adds a job to a pipeline: pairing, statistics, totals, score, and scores.json last.

    The tokenizer's model is sent only once, with the step that counts.
    """
    scorings = job.scorings
    step = functools.partial(marked, filesystems=filesystem_options(root.options))
    paired = root | job.source.pair(job.threads, step, describe=job.manifest)
    batches = paired.batches
    if job.evidence.documents is not None:
        documents = job.evidence.documents
        label = DocumentLabel(documents, job.source.labels.index(documents))
        batches = check_documents(batches, label, step)
    orders = scorings.counted_orders
    # Beam fuses all of these steps with the reading. So each batch is read once, and counted
    # once for each way to make tokens. Only one way changes Beam's metrics.
    statistics, sums_of_texts = {}, {}
    for text in job.texts:
        is_own = text == job.config.text
        suffix = "" if is_own else f" ({text.name.label})"
        statistics[text.name] = batches | f"Count matches{suffix}" >> count_matches(
            text,
            BleuCounter(orders[text.name]),
            job.threads,
            step,
            languages=_language_label(job),
            metrics=is_own,
        )
        sums_of_texts[text.name] = sum_corpus(
            statistics[text.name],
            bleu_basis(orders[text.name]),
            step,
            threads=job.threads,
            label_suffix=suffix,
        )
    own, basis = statistics[scorings.text], bleu_basis(orders[scorings.text])
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
    ends = {
        "results": named,
        "segments": paired.segments,
        **{_totals_of(text, scorings): each for text, each in sums_of_texts.items()},
    }
    if paired.digests is not None:
        ends["digests"] = paired.digests
    # These have a key already. Each step less makes the start faster.
    sums: dict[str, Any] = {}
    if paired.tallies is not None:
        sums["tallies"] = (
            paired.tallies
            | "Name the tallies" >> beam.Map(keyed)
            | "Add up tallies" >> beam.CombinePerKey(add_tallies)
        )
    if job.slicing:
        sums["slices"] = sum_slices(
            own,
            job.slicing,
            job.source.labels,
            basis,
            step,
            threads=job.threads,
        )
    evidence = job.evidence
    if evidence.needs_moments:
        sums["moments"] = sum_moments(
            own,
            job.slicing,
            job.source.labels,
            basis,
            step,
            # Some sources find their systems only when they are read.
            baseline=evidence.baseline or next(iter(job.source.systems), None),
            with_all_pairs=evidence.needs_all_pairs,
            documents=evidence.documents,
            threads=job.threads,
        )
    if evidence.resampling is not None:
        sums["replicates"] = sum_replicates(
            own,
            evidence.resampling,
            job.source.labels,
            basis,
            step,
            documents=evidence.documents,
            threads=job.threads,
        )
    if paired.rejected is not None:
        # Beam fuses this step with the reading.
        ends["rejected"] = paired.rejected | "Write rejected records" >> beam.ParDo(
            step(WriteRejected(job.output, job.run))
        ).with_output_types(Rejected)
    if scorings.segments is not None:
        # Beam fuses these steps with the counting, so only the names of files are shuffled.
        ends["shards"] = (
            own
            | "Score segments"
            >> beam.ParDo(step(ScoreSegments(scorings.segments, job.threads, job.source.labels)))
            | "Write segment scores"
            >> beam.ParDo(
                step(
                    WriteShards(
                        job.output,
                        job.run,
                        bleu_table_schema(scorings.segments, job.source.labels),
                        job.threads,
                    )
                )
            ).with_output_types(str)
        )
    last = step(_ScoreAndWrite([*ends, *sums]))
    _ = bring_together(ends, sums) | "Score and write" >> beam.ParDo(last)


def _language_label(job: Job) -> LanguageLabel | None:
    if job.languages is None:
        return None
    return LanguageLabel(job.languages, job.source.labels.index(job.languages))


def _totals_of(text: TextName, scorings: Scorings) -> str:
    """The name of the end with the sums of a way to make tokens."""
    return "totals" if text == scorings.text else f"totals ({text.label})"


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
    by_text: dict[TextName, dict[str, CorpusSums]] = {}
    orders = results.scorings.counted_orders
    for text in orders:
        sums = list(ends[_totals_of(text, results.scorings)])
        by_text[text] = sums_by_system(found, sums)
    (segments,) = found
    tally = tally_of(segments, ends.get("tallies"))
    rejected = check_rejected(ends.get("rejected", ()), tally, results.most_rejected)
    require_segments_left(tally, rejected)
    totals = Totals(
        segments.systems,
        tally,
        by_text,
        is_tallied="tallies" in ends,
        rejected=rejected,
        warnings=segments.warnings,
        coverage=segments.coverage,
        slices=_slices_of(
            results.slicing,
            ends.get("slices", ()),
            bleu_basis(orders[results.scorings.text]),
            segments.systems,
        ),
        moments=_only_sum("moments", ends, is_needed=False),
        replicates=_only_sum("replicates", ends, is_needed=False),
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
    if results.scorings.segments is not None:
        check_rows(output, run, shards, sum(totals.scored.values()))
    if results.receipt:
        # Before the result: if this fails, the previous result stays. The launcher reads the
        # receipt only after the job is done.
        write_receipt(results.receipt, data, segments.notes)
    # Also without segment scores, because those of a previous run must be removed.
    with in_place(output, run, shards, documents, rejected.files):
        write_documents(output, documents)
    # After the result, because it is complete. A launcher that waits warns itself.
    _enforce(results, document)


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
