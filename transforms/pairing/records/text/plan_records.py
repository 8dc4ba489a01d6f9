"""From the files of JSON lines or tab-separated text to portions: wires this to Beam.

Only heads, counts and plans go through a shuffle.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apache_beam as beam

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.found_files import find_files, open_anywhere
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.line_steps import CountLines, tell_files
from beam_bleu.transforms.pairing.lines.line_warnings import notes_of, nul_notices
from beam_bleu.transforms.pairing.lines.plan import Plan, Portion, make_plan
from beam_bleu.transforms.pairing.lines.ranges import ByteRange, LineCounts, cut_corpus
from beam_bleu.transforms.pairing.paired import FoundInput, FoundSegments, InputFile
from beam_bleu.transforms.pairing.records.columns.choosing import (
    choice_notes,
    require_same_columns,
)
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen
from beam_bleu.transforms.pairing.records.record_files import PlannedRecords
from beam_bleu.transforms.pairing.records.text.heads import (
    Head,
    HeadReader,
    NoRecordError,
    require_same_headers,
)
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.wiring.steps import Step, starting_with

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.text.source import LineRecords

_LOG = logging.getLogger("beam_bleu_workers")
_DETAILS = logging.getLogger("beam_bleu")


@dataclasses.dataclass(frozen=True)
class RecordPortion:
    """The lines that one worker reads.

    Attributes:
      as_lines: the lines. There is one stream.
      head: what is read of them.
      bytes: about how many bytes they have in their files.
    """

    as_lines: Portion
    head: Head
    bytes: int

    @property
    def records(self) -> int:
        """The number of the records."""
        return self.as_lines.lines

    @property
    def chosen(self) -> Chosen:
        """The columns that are read."""
        return self.head.columns


class PlanLineRecords(beam.PTransform):
    """Expands a pipeline's root to the `PlannedRecords` of a source.

    The pipeline fails with an `InputError` if a file is missing, unreadable, truncated or no text,
    if it changes while the pipeline runs, if it does not have the columns, or if the input is not
    what was expected.
    """

    def __init__(self, source: LineRecords, threads: int, step: Step, describe: bool) -> None:
        super().__init__()
        self._source = source
        self._threads = threads
        self._step = step
        self._describe = describe

    def default_label(self) -> str:
        return "Plan records"

    def expand(self, root: beam.Pipeline) -> PlannedRecords:
        source = self._source
        listed = (
            root
            | "Name the input" >> starting_with(source.stream, root)
            | "List its files"
            >> beam.ParDo(self._step(_ListRanges(source))).with_outputs(
                _ListRanges.HEAD, main="ranges"
            )
        )
        counts = (
            listed.ranges
            | "Spread the ranges" >> beam.Reshuffle()
            | "Count lines" >> beam.ParDo(self._step(_CountRecords(source, self._threads)))
        )
        planned = (
            (counts, listed[_ListRanges.HEAD])
            | "Bring head and counts together" >> beam.Flatten()
            | "Gather the counts" >> beam.GroupByKey()
            | "Plan portions"
            >> beam.ParDo(self._step(_Plan(source, self._describe))).with_outputs(
                _Plan.SEGMENTS, main="portions"
            )
        )
        return PlannedRecords(planned.portions, planned[_Plan.SEGMENTS])


class _ListRanges(beam.DoFn):
    HEAD = "head"

    def __init__(self, source: LineRecords) -> None:
        self._source = source

    def process(self, stream: Stream) -> Iterator[Any]:
        PROGRESS.begin("listing")
        source = self._source
        shards = shards_in_order(0, stream, find_files(stream))
        source.wanted.check_files(stream, [shard.file.path for shard in shards])
        tell_files(stream, shards)
        head = HeadReader(source, open_anywhere).first_head(shards)
        PROGRESS.begin("counting lines", sum(shard.file.size for shard in shards))
        yield beam.pvalue.TaggedOutput(self.HEAD, (0, head))
        yield from cut_corpus(shards, source.range_bytes)


class _CountRecords(CountLines):
    """Maps each `ByteRange` to (0, its `LineCounts`), and the first one of a file to its `Head`."""

    def __init__(self, source: LineRecords, threads: int) -> None:
        longest = source.expected.max_line_bytes
        super().__init__(
            [source.stream], None if source.on_bad_record == "reject" else longest, threads
        )
        self._source = source

    def work(self, part: ByteRange) -> Iterable[tuple[int, Any]]:
        yield from super().work(part)
        shard = part.shard
        if part.start or (shard.number == 0 and shard.is_last):  # the listing has read this head
            return
        with contextlib.suppress(NoRecordError):  # each record is judged when it is read
            head = HeadReader(self._source, open_anywhere).head(shard)
            if head is not None:
                yield 0, head


class _Plan(beam.DoFn):
    SEGMENTS = "segments"

    def __init__(self, source: LineRecords, describe: bool) -> None:
        self._source = source
        self._describe = describe

    def process(self, gathered: tuple[int, Iterable[Any]]) -> Iterator[Any]:
        PROGRESS.begin("planning")
        source, stream = self._source, self._source.stream
        elements = list(gathered[1])
        counts = [element for element in elements if isinstance(element, LineCounts)]
        by_file = {each.shard.number: each for each in elements if isinstance(each, Head)}
        heads = [by_file[number] for number in sorted(by_file)]
        notices = nul_notices([stream], counts)
        if source.has_header:
            require_same_headers(stream, heads)
            _require_records(stream, counts, len(heads))
        head = dataclasses.replace(heads[0], chosen=require_same_columns(stream, heads))
        plan = make_plan([stream], counts, header_lines=int(source.has_header))
        source.expected.require_segments(plan.segments)
        notes = (
            *source.expected.notes,
            *choice_notes(source.wanted, head.columns, source.stream_of_join),
            *source.header_notes,
            *notes_of([stream], plan.shards),
        )
        for note in notes:
            _LOG.warning(note)  # for users who see only the log of a worker
        inputs = (_described(stream, plan),) if self._describe else ()
        systems = head.columns.systems
        segments = FoundSegments(plan.segments, notices, notes, inputs, systems)
        _DETAILS.info("records: %s, portions: %s", f"{plan.segments:,}", f"{plan.portion_count:,}")
        PROGRESS.begin("scoring", plan.bytes)
        yield beam.pvalue.TaggedOutput(self.SEGMENTS, segments)
        for portion in plan.portions_to_read():
            yield RecordPortion(portion, head, plan.bytes * portion.lines // plan.segments)


def _require_records(stream: Stream, counts: Sequence[LineCounts], headers: int) -> None:
    lines = sum(int(count.newlines.sum()) + count.unfinished_line for count in counts)
    if lines == headers > 0:
        raise InputError(
            stream.told("there is no record, only a header", stream.pattern),
            "check that the files were written; if the files have no headers, add --no_header",
        )


def _described(stream: Stream, plan: Plan) -> FoundInput:
    files = tuple(
        InputFile(stream.shown(shard.file.path), shard.file.size, lines, stream.version(version))
        for shard, lines, version in zip(
            plan.shards[0], plan.lines[0], plan.versions[0], strict=True
        )
    )
    return FoundInput("records", None, stream.shown(stream.pattern), files)
