"""Plans the reading of record files, and reads segments from them: wires this to Beam.

Only what is found about files, and plans, go through a shuffle. Text goes directly from the file
into the batch that is scored. A worker reads parts of a portion on one thread, and parses them on
all of its threads.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import apache_beam as beam
from apache_beam.pvalue import PCollection, TaggedOutput

from beam_bleu.transforms.pairing.bad_records import bad_records_error
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.line_steps import AddUpDigests, tell_files
from beam_bleu.transforms.pairing.lines.text_digest import LineDigests
from beam_bleu.transforms.pairing.paired import FoundInput, FoundSegments, Paired
from beam_bleu.transforms.pairing.records.columns.choosing import choice_notes
from beam_bleu.transforms.pairing.records.columns.wanted import RawRecords
from beam_bleu.transforms.pairing.records.record_segments import batches_of, judge
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.wiring.steps import OfSource, as_batches, giving_batches, starting_with
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.record_files import Portion, RecordFiles

__all__ = ["PairRecords", "PlanRecords"]

_LOG = logging.getLogger("beam_bleu_workers")
_DETAILS = logging.getLogger("beam_bleu")


class PlanRecords(OfSource):
    """Expands a pipeline's root to the portions of a source, and what was found.

    The portions are not spread over the workers yet. The other PCollection has one `FoundSegments`,
    whose `count` is the number of the records.

    A worker looks at files on `threads` threads. The pipeline fails with an `InputError` if a file
    is missing, unreadable, damaged or of another format, if it changes while the pipeline runs, if
    it does not have the columns, or if the input is not what was expected.
    """

    LABEL = "Plan records"

    def expand(
        self, root: beam.Pipeline
    ) -> tuple[PCollection[Portion], PCollection[FoundSegments]]:
        source, step = self._source, self._step
        planned = (
            root
            | "Name the input" >> starting_with(source.stream, root)
            | "List its files" >> beam.ParDo(step(_ListParts(source)))
            | "Spread the files" >> beam.Reshuffle()
            | "Look at files" >> beam.ParDo(step(_LookAtParts(source, self._threads)))
            | "Gather what was found" >> beam.GroupByKey()
            | "Plan portions"
            >> beam.ParDo(step(_Plan(source, self._describe))).with_outputs(
                _Plan.SEGMENTS, main="portions"
            )
        )
        return planned.portions, planned[_Plan.SEGMENTS]


class _ListParts(beam.DoFn):
    def __init__(self, source: RecordFiles) -> None:
        self._source = source

    def process(self, stream: Stream) -> Iterable[Any]:
        PROGRESS.begin("listing")
        shards = shards_in_order(0, stream, find_files(stream))
        self._source.wanted.check_files(stream, [shard.file.path for shard in shards])
        tell_files(stream, shards)
        return self._source.cut(shards)


class _LookAtParts(ThreadedDoFn):
    def __init__(self, source: RecordFiles, threads: int) -> None:
        super().__init__(threads)
        self._source = source

    def work(self, part: Any) -> Iterator[tuple[int, Any]]:
        for found in self._source.look_at(part):
            yield 0, found


class _Plan(beam.DoFn):
    SEGMENTS = "segments"

    def __init__(self, source: RecordFiles, describe: bool) -> None:
        self._source = source
        self._describe = describe

    def process(self, gathered: tuple[int, Iterable[Any]]) -> Iterator[Any]:
        PROGRESS.begin("planning")
        source, stream = self._source, self._source.stream
        plan = source.planned(list(gathered[1]))
        count = sum(portion.records for portion in plan.portions)
        source.expected.require_segments(count)
        of_join = stream.label if len(source.roles) == 1 else None
        chosen = choice_notes(source.wanted, plan.chosen, of_join)
        notes = (*source.expected.notes, *chosen, *source.header_notes)
        for note in notes:
            _LOG.warning(note)  # for users who see only the log of a worker
        _DETAILS.info("records: %s, portions: %s", f"{count:,}", f"{len(plan.portions):,}")
        PROGRESS.begin("scoring", sum(portion.bytes for portion in plan.portions))
        pattern = stream.shown(stream.pattern)
        found = FoundInput("records", None, pattern, plan.files, snapshot=plan.snapshot)
        inputs = (found,) if self._describe else ()
        segments = FoundSegments(count, plan.notices, notes, inputs, plan.chosen.systems)
        yield TaggedOutput(self.SEGMENTS, segments)
        yield from plan.portions


class PairRecords(OfSource):
    """Expands a pipeline's root to the `Paired` segments of a source.

    The pipeline fails with an `InputError` as `PlanRecords` does, if a file changes while it is
    read, and, unless they are rejected, if there are bad records.
    """

    LABEL = "Read records"

    def expand(self, root: beam.Pipeline) -> Paired:
        source, step = self._source, self._step
        portions, found = root | PlanRecords(source, self._threads, step, self._describe)
        parsing = step(_ParseParts(source, self._threads, self._describe))
        segments = (
            portions
            | "Spread the portions" >> beam.Reshuffle()
            | "Read parts" >> giving_batches(step(_ReadParts(source)), RawRecords)
            | "Parse parts"
            >> beam.ParDo(parsing).with_outputs(
                _ParseParts.TALLIES, _ParseParts.REJECTED, _ParseParts.DIGESTS, main="batches"
            )
        )
        digests = None
        if self._describe:
            digests = (
                segments[_ParseParts.DIGESTS]
                | "Add up digests" >> beam.CombinePerKey(AddUpDigests(source.digest_method))
                | "Take the digests" >> beam.Values()
            )
        return Paired(
            as_batches(segments.batches, SegmentBatch),
            found,
            digests,
            segments[_ParseParts.TALLIES],
            segments[_ParseParts.REJECTED] if source.on_bad_record == "reject" else None,
        )


class _ReadParts(beam.DoFn):
    def __init__(self, source: RecordFiles) -> None:
        self._source = source

    def process(self, portion: Portion) -> Iterator[RawRecords]:
        return self._source.parts(portion)


class _ParseParts(ThreadedDoFn):
    """Gives the batches of a part, its tally, its rejected records and its digest."""

    TALLIES, REJECTED, DIGESTS = "tallies", "rejected", "digests"

    def __init__(self, source: RecordFiles, threads: int, describe: bool) -> None:
        super().__init__(threads, threads)
        self._source = source
        self._describe = describe

    def work(self, part: RawRecords) -> list[Any]:
        read = self._source.parsed(part, self._describe)
        judged = judge(read)
        count = judged.tally.read
        if judged.bad and self._source.on_bad_record != "reject":
            raise bad_records_error(judged.bad, count)
        return [
            *(TaggedOutput(self.REJECTED, record) for record in judged.bad),
            *batches_of(read, judged),
            TaggedOutput(self.TALLIES, judged.tally),
            TaggedOutput(self.DIGESTS, (0, LineDigests(count, (read.digest,)))),
        ]
