"""From the files of records to portions, whatever their format: wires this to Beam.

Only what is found about files goes through a shuffle, and plans. Text goes directly from the file
into the batch that is scored.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import apache_beam as beam
from apache_beam.pvalue import PCollection, TaggedOutput

from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.line_steps import tell_files
from beam_bleu.transforms.pairing.paired import FoundInput, FoundSegments, InputFile
from beam_bleu.transforms.pairing.records.columns.choosing import choice_notes
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.wiring.steps import OfSource, starting_with
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.record_files import Portion, RecordFiles

__all__ = ["PlanRecords"]

_LOG = logging.getLogger("beam_bleu_workers")
_DETAILS = logging.getLogger("beam_bleu")


@dataclasses.dataclass(frozen=True)
class RecordPlan:
    """All records of a stream, in portions.

    Attributes:
      count: the number of the records.
      bytes: about how many bytes they have.
      chosen: the columns that are read.
      portions: the portions, in the order in which workers should read them.
      files: the files, in order.
      snapshot: the version of the table that listed the files; None if no table did.
      notices: what a reader of the score must know about the texts.
      notes: sentences about the files, for the same reader.
    """

    count: int
    bytes: int
    chosen: Chosen
    portions: Iterable[Portion]
    files: tuple[InputFile, ...]
    snapshot: str | None = None
    notices: tuple[Notice, ...] = ()
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class PlannedRecords:
    """A plan for the records of one stream.

    Attributes:
      portions: PCollection of the portions, before they are spread over the workers.
      segments: PCollection of one `FoundSegments`. Its `count` is the number of the records.
    """

    portions: PCollection[Portion]
    segments: PCollection[FoundSegments]


class PlanRecords(OfSource):
    """Expands a pipeline's root to the `PlannedRecords` of a source.

    A worker looks at files on `threads` threads. The pipeline fails with an `InputError` if a file
    is missing, unreadable, damaged or of another format, if it changes while the pipeline runs, if
    it does not have the columns, or if the input is not what was expected.
    """

    LABEL = "Plan records"

    def expand(self, root: beam.Pipeline) -> PlannedRecords:
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
        return PlannedRecords(planned.portions, planned[_Plan.SEGMENTS])


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
        source.expected.require_segments(plan.count)
        chosen = choice_notes(source.wanted, plan.chosen, source.stream_of_join)
        notes = (*source.expected.notes, *chosen, *plan.notes)
        for note in notes:
            _LOG.warning(note)  # for users who see only the log of a worker
        portions = list(plan.portions)
        _DETAILS.info("records: %s, portions: %s", f"{plan.count:,}", f"{len(portions):,}")
        PROGRESS.begin("scoring", plan.bytes)
        pattern = stream.shown(stream.pattern)
        found = FoundInput("records", None, pattern, plan.files, snapshot=plan.snapshot)
        inputs = (found,) if self._describe else ()
        segments = FoundSegments(plan.count, plan.notices, notes, inputs, plan.chosen.systems)
        yield TaggedOutput(self.SEGMENTS, segments)
        yield from portions
