"""Reads segments from records that hold candidates and references side by side, in any format.

Text goes directly from the file into the batch that is scored. A worker reads parts of a portion on
one thread, and parses them on all of its threads.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import apache_beam as beam

from beam_bleu.transforms.pairing.bad_records import FoundBad, bad_records_error
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.lines.text_digest import MODULUS
from beam_bleu.transforms.pairing.paired import Digests, Paired
from beam_bleu.transforms.pairing.records.record_segments import (
    Segments,
    to_segments,
)
from beam_bleu.transforms.wiring.steps import OfSource, as_batches, giving_batches
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

if TYPE_CHECKING:
    from beam_bleu.transforms.pairing.records.record_files import (
        PartOfPortion,
        Portion,
        RecordFiles,
    )

__all__ = ["PairRecords"]


class PairRecords(OfSource):
    """Expands a pipeline's root to the `Paired` segments of a source.

    The pipeline fails with an `InputError` if a file is missing, unreadable, damaged or of another
    format, if it changes while the pipeline runs, if it does not have the columns, if the input is
    not what was expected, and, unless they are rejected, if there are bad records.
    """

    LABEL = "Read records"

    def expand(self, root: beam.Pipeline) -> Paired:
        source, step = self._source, self._step
        planned = root | source.plan(self._threads, step, self._describe)
        reading = step(_ReadParts(source))
        parsing = step(_ParseParts(source, self._threads, self._describe))
        rejects = source.on_bad_record == "reject"
        segments = (
            planned.portions
            | "Spread the portions" >> beam.Reshuffle()
            | "Read parts" >> giving_batches(reading, _Part)
            | "Parse parts" >> giving_batches(parsing, _Parsed)
            | "Hand on segments"
            >> beam.ParDo(step(_HandOn(rejects))).with_outputs(
                _HandOn.TALLIES, _HandOn.REJECTED, _HandOn.DIGESTS, main="batches"
            )
        )
        digests = None
        if self._describe:
            digests = (
                segments[_HandOn.DIGESTS]
                | "Add up digests" >> beam.CombinePerKey(_AddUpDigests(source.digest_method))
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
class _Part:
    """A part of a portion, and the number of the portion's records."""

    part: PartOfPortion
    of_portion: int

    @property
    def nbytes(self) -> int:
        return self.part.nbytes


@dataclasses.dataclass(frozen=True)
class _Parsed:
    """The segments of a part, its digest or 0, and the number of the portion's records."""

    segments: Segments
    digest: int
    of_portion: int

    @property
    def nbytes(self) -> int:
        return sum(batch.nbytes for batch in self.segments.batches)


class _ReadParts(beam.DoFn):
    def __init__(self, source: RecordFiles) -> None:
        self._source = source

    def process(self, portion: Portion) -> Iterator[_Part]:
        for part in self._source.parts(portion):
            yield _Part(part, portion.records)


class _ParseParts(ThreadedDoFn):
    def __init__(self, source: RecordFiles, threads: int, describe: bool) -> None:
        super().__init__(threads, threads + 1)
        self._source = source
        self._describe = describe

    def work(self, element: _Part) -> Iterable[_Parsed]:
        read = self._source.parsed(element.part, self._describe)
        segments = to_segments(read, element.part.chosen)
        return [_Parsed(segments, read.digest or 0, element.of_portion)]


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
            if self._read >= parsed.of_portion:
                self._end_portion()
        if not self._bad.records:
            yield from segments.batches
        yield beam.pvalue.TaggedOutput(self.TALLIES, segments.tally)
        yield beam.pvalue.TaggedOutput(self.DIGESTS, (0, (segments.tally.read, parsed.digest)))


_RecordDigest = tuple[int, int]
"""The number of records, and the sum of their hashes."""


class _AddUpDigests(beam.CombineFn):
    def __init__(self, method: str) -> None:
        self._method = method

    def create_accumulator(self) -> _RecordDigest:
        return 0, 0

    def add_input(self, accumulator: _RecordDigest, digest: _RecordDigest) -> _RecordDigest:
        return accumulator[0] + digest[0], (accumulator[1] + digest[1]) % MODULUS

    def merge_accumulators(self, accumulators: Iterable[_RecordDigest]) -> _RecordDigest:
        return functools.reduce(self.add_input, accumulators, self.create_accumulator())

    def extract_output(self, accumulator: _RecordDigest) -> Digests:
        return Digests(accumulator[0], (f"{self._method}:{accumulator[1]:032x}",))
