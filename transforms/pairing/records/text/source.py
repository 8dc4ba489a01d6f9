"""JSON lines and tab-separated text as a source of segments: wires their parsing to Beam.

`plan_records.py` finds the portions. Then text goes directly from the file into the batch that is
scored. A worker reads lines on one thread, and parses them on all of its threads.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam

from beam_bleu.transforms.pairing.bad_records import FoundBad, bad_records_error
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.lines.line_steps import AddUpLineDigests
from beam_bleu.transforms.pairing.lines.text_digest import METHOD, LineDigests
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.paired import Paired
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen, ReadRecords, Wanted
from beam_bleu.transforms.pairing.records.record_segments import Segments, to_segments
from beam_bleu.transforms.pairing.records.text.heads import Head
from beam_bleu.transforms.pairing.records.text.line_files import LineFiles
from beam_bleu.transforms.pairing.records.text.plan_records import PlanLineRecords, RecordPortion
from beam_bleu.transforms.pairing.records.text.raw_lines import RawLines
from beam_bleu.transforms.wiring.coders import as_batches, giving_batches
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["LineRecords"]


@dataclasses.dataclass(frozen=True)
class LineRecords(LineFiles):
    """A source of segments from files in which each line is a record. A join can use it, too."""

    @property
    def digest_method(self) -> str:
        """The name of the method of `ReadRecords.digest`."""
        return METHOD

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairLineRecords:
        """The transform that reads the segments. A worker uses this number of threads."""
        return PairLineRecords(self, threads, step, describe)

    def of_stream(self, roles: tuple[Role, ...], wanted: Wanted) -> LineRecords:
        """The reader of a stream of a join, whose records have texts of one role, or none."""
        # All columns of the join say whether files have headers, so the answer is kept here.
        return dataclasses.replace(self, roles=roles, wanted=wanted, header=self.has_header)

    def plan(self, threads: int, step: Step = unchanged, describe: bool = False) -> PlanLineRecords:
        """The transform of a pipeline's root to `PlannedRecords`."""
        return PlanLineRecords(self, threads, step, describe)

    def portion_bytes(self, portion: RecordPortion) -> int:
        """About how many bytes a portion has in its files."""
        return portion.bytes

    def chosen(self, portion: RecordPortion) -> Chosen:
        """The columns that are read of a portion. They are the same for all portions."""
        return portion.head.chosen

    def read(self, portion: RecordPortion, digest: bool = False) -> Iterator[ReadRecords]:
        """The records of a portion, in order.

        Raises:
          InputError: a file cannot be read, or has changed since the plan was made.
        """
        for lines in self.read_lines(portion.as_lines, portion.head):
            read = self.parse(lines, portion.head)
            if digest:
                (of_lines,) = LineDigests.of([lines.column], lines.first).sums
                read = dataclasses.replace(read, digest=of_lines)
            yield read


class PairLineRecords(beam.PTransform):
    """Expands a pipeline's root to the `Paired` segments of a source.

    The pipeline fails for the reasons of `PlanLineRecords`, and, unless they are rejected, if
    there are bad records.
    """

    def __init__(self, source: LineFiles, threads: int, step: Step, describe: bool) -> None:
        super().__init__()
        self._source = source
        self._threads = threads
        self._step = step
        self._describe = describe

    def default_label(self) -> str:
        return "Read records"

    def expand(self, root: beam.Pipeline) -> Paired:
        source = self._source
        planned = root | PlanLineRecords(source, self._threads, self._step, self._describe)
        reading = self._step(_ReadLines(source))
        parsing = self._step(_ParseLines(source, self._threads, self._describe))
        rejects = source.on_bad_record == "reject"
        handing = self._step(_HandOn(rejects))
        segments = (
            planned.portions
            | "Spread the portions" >> beam.Reshuffle()
            | "Read lines" >> giving_batches(reading, _PortionLines)
            | "Parse lines" >> giving_batches(parsing, _Parsed)
            | "Hand on segments"
            >> beam.ParDo(handing).with_outputs(
                _HandOn.TALLIES, _HandOn.REJECTED, _HandOn.DIGESTS, main="batches"
            )
        )
        digests = None
        if self._describe:
            digests = (
                segments[_HandOn.DIGESTS]
                | "Add up digests" >> beam.CombinePerKey(AddUpLineDigests())
                | "Take the digests" >> beam.Values()
            )
        return Paired(
            as_batches(segments.batches, SegmentBatch),
            planned.segments,
            digests,
            segments[_HandOn.TALLIES],
            segments[_HandOn.REJECTED] if rejects else None,
        )


@dataclasses.dataclass(frozen=True)
class _PortionLines:
    """Lines of a portion. `ends_portion`: whether they are its last ones."""

    lines: RawLines
    head: Head
    ends_portion: bool

    @property
    def nbytes(self) -> int:
        return self.lines.nbytes


@dataclasses.dataclass(frozen=True)
class _Parsed:
    """The segments of such lines, and the digest of the lines."""

    segments: Segments
    digest: LineDigests | None
    ends_portion: bool

    @property
    def nbytes(self) -> int:
        return sum(batch.nbytes for batch in self.segments.batches)


class _ReadLines(beam.DoFn):
    def __init__(self, source: LineFiles) -> None:
        self._source = source

    def process(self, portion: RecordPortion) -> Iterator[_PortionLines]:
        last = portion.as_lines.first_line + portion.as_lines.lines
        for lines in self._source.read_lines(portion.as_lines, portion.head):
            ends_portion = lines.first + len(lines.column) == last
            yield _PortionLines(lines, portion.head, ends_portion)


class _ParseLines(ThreadedDoFn):
    def __init__(self, source: LineFiles, threads: int, describe: bool) -> None:
        super().__init__(threads)
        self._source = source
        self._describe = describe

    def work(self, element: _PortionLines) -> Iterable[_Parsed]:
        lines, head = element.lines, element.head
        read = self._source.parse(lines, head)
        segments = to_segments(read, head.chosen, lines.label, lines.line)
        digest = LineDigests.of([lines.column], lines.first) if self._describe else None
        return [_Parsed(segments, digest, element.ends_portion)]


class _HandOn(beam.DoFn):
    """Gives the batches, the tallies, the rejected records and the digests as they are.

    If bad records are not rejected, the rest of a portion is read to count them, and then the
    job fails.
    """

    TALLIES = "tallies"
    REJECTED = "rejected"
    DIGESTS = "digests"

    def __init__(self, rejects: bool) -> None:
        self._rejects = rejects

    def start_bundle(self) -> None:
        self._begin_portion()

    def _begin_portion(self) -> None:
        self._bad = FoundBad()
        self._read = 0

    def _end_portion(self) -> None:
        if self._bad.records:
            raise bad_records_error(self._bad.first, self._read, self._bad.segments)
        self._begin_portion()

    def finish_bundle(self) -> None:
        self._end_portion()  # for an engine that divides a portion

    def process(self, parsed: _Parsed) -> Iterator[Any]:
        segments = parsed.segments
        if self._rejects:
            for record in segments.bad:
                yield beam.pvalue.TaggedOutput(self.REJECTED, record)
        else:
            self._bad.add(segments.bad, len(segments.bad))
            self._read += segments.tally.read
            if parsed.ends_portion:
                self._end_portion()
        if not self._bad.records:
            yield from segments.batches
        yield beam.pvalue.TaggedOutput(self.TALLIES, segments.tally)
        if parsed.digest is not None:
            yield beam.pvalue.TaggedOutput(self.DIGESTS, (0, parsed.digest))
