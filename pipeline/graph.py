"""Builds the Beam pipeline of a job: from its source to scores.json and the segment scores."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import apache_beam as beam

from beam_bleu.pipeline.cheap_start import give_back_freed_memory
from beam_bleu.pipeline.errors.marked_steps import Marked, filesystem_options
from beam_bleu.pipeline.folder.data_files import PartFile, WritePartFiles, WriteRejected
from beam_bleu.pipeline.folder.file_names import CONFUSIONS, EXAMPLES, MANIFEST, SCORES, TOTALS
from beam_bleu.pipeline.folder.manifest import manifest, streams
from beam_bleu.pipeline.folder.publication import commit
from beam_bleu.pipeline.output.run_results import RunResult, hand_over, requested
from beam_bleu.pipeline.result.document import document_bytes, document_of
from beam_bleu.pipeline.saved.judging import enforce
from beam_bleu.pipeline.saved.totals_file import saved_bytes
from beam_bleu.pipeline.scoring.batch_sums import (
    Gathered,
    bring_together,
    by_end,
    suffix_of,
    sum_all,
)
from beam_bleu.pipeline.scoring.confusions import confusions_bytes, most_frequent
from beam_bleu.pipeline.scoring.job import Job
from beam_bleu.pipeline.scoring.scored import result_of
from beam_bleu.pipeline.scoring.totals import DIGESTS, TALLIES, only_sum
from beam_bleu.transforms.errors import lost_data
from beam_bleu.transforms.pairing.paired import Digests, FoundSegments
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.totals.closing import Rejected

if TYPE_CHECKING:  # a run in this process does not need the module
    from beam_bleu.pipeline.engines.handshake import Handshake


def build(root: beam.Pipeline, job: Job, handshake: Handshake | None = None) -> None:
    """Adds the steps of a job to a pipeline: pairing, statistics, totals, score, and the commit.

    With a handshake, nothing is read before the workers have answered. Without one, this process is
    the only worker.
    """
    step = functools.partial(Marked, filesystems=filesystem_options(root.options))
    begin: Any = root
    if handshake is not None:
        begin = root | handshake.steps(step)
        step = functools.partial(step, set_up=handshake.set_up)
    paired = begin | job.source.pair(job.threads, step, describe=job.manifest)
    of_source = {TALLIES: paired.tallies, DIGESTS: paired.digests}
    summed = sum_all(paired.batches, job, step, of_source)
    # The last step always gets the element `job`, so it runs even if a runner has lost all other
    # data. It then finds that the numbers of segments differ, and fails.
    sent = dataclasses.replace(job.of_last_step, request=requested(job))
    named = root | "Name the job" >> beam.Create([sent], reshuffle=False)
    ends = {"job": named, "segments": paired.segments}
    if paired.rejected is not None:
        # Beam fuses this step with the reading.
        ends["rejected"] = paired.rejected | "Write rejected records" >> beam.ParDo(
            step(WriteRejected(job.output, job.run))
        ).with_output_types(Rejected)
    if job.confusions:
        ends["confusions"] = most_frequent(paired.batches, job, step)
    if summed.tables:
        # Beam fuses these steps with the counting, so only the names of files are shuffled.
        schema = job.schema_of_segments
        written = [
            table
            | f"Write segment scores{suffix_of(job, name)}"
            >> beam.ParDo(
                step(WritePartFiles(job.output, job.run, schema, job.threads))
            ).with_output_types(PartFile)
            for name, table in summed.tables.items()
        ]
        ends["part_files"] = written[0]
        if len(written) > 1:
            ends["part_files"] = written | "Collect segment scores" >> beam.Flatten()
    last = step(_ScoreAndWrite([*ends, *summed.ends]))
    _ = bring_together(ends, summed.sums) | "Score and write" >> beam.ParDo(last)


class _ScoreAndWrite(beam.DoFn):
    def __init__(self, ends: Sequence[str]) -> None:
        self._ends = ends

    def process(self, gathered: Gathered) -> None:
        _score_and_write(by_end(self._ends, gathered[1]))


def _score_and_write(ends: Mapping[str, Sequence[Any]]) -> None:
    PROGRESS.begin("writing")
    job: Job
    (job,) = ends["job"]
    output, run = job.output, job.run
    # Results of many slices are many Python objects, whose allocator cannot use what malloc keeps.
    give_back_freed_memory()
    totals, result, examples = result_of(job, ends)
    segments: FoundSegments
    (segments,) = ends["segments"]
    scores = document_bytes(document_of(result))
    documents = {SCORES: scores}
    part_files: Sequence[PartFile] = ends.get("part_files", ())
    if result.segment_scores is not None:
        rows = result.segment_scores["rows"]
        written = sum(rows for _, rows in part_files)
        if written != rows:
            raise lost_data(f"there should be {rows} segment scores, but {written} were written")
    data = [*(name for name, _ in part_files), *totals.rejected.files]
    listed: dict[str, tuple[int, bytes]] = {}
    if examples is not None:
        documents[EXAMPLES] = examples
        listed["examples"] = job.examples, examples
    if job.confusions:
        documents[CONFUSIONS] = confusions_bytes(ends["confusions"], job, totals.systems)
        listed["confusions"] = job.confusions, documents[CONFUSIONS]
    if job.manifest:
        digests: Digests = only_sum(DIGESTS, ends[DIGESTS])
        read = streams(segments, digests)
        documents[MANIFEST] = document_bytes(manifest(read, scores, job.request, data, listed))
        if job.evidence.save_totals:
            documents[TOTALS] = saved_bytes(totals, job, read, scores)
    commit(output, run, documents, data)
    if job.is_awaited:
        hand_over(output, run, RunResult(scores, result, tuple(segments.notes)))
    else:  # a launcher that waits shows the result first, and then checks the gates itself
        enforce(job.gates, result, output if job.manifest else "")
