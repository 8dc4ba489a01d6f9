"""Reads segments from records that hold candidates and references side by side, in any format."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam

from beam_bleu.transforms.pairing.bad_records import FoundBad, OnBadRecord, bad_records_error
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.lines.text_digest import MODULUS
from beam_bleu.transforms.pairing.paired import Digests, Paired
from beam_bleu.transforms.pairing.records.record_reader import PlannedRecords, RecordReader
from beam_bleu.transforms.pairing.records.record_segments import to_segments
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.wiring.coders import as_batches
from beam_bleu.transforms.wiring.steps import Step

__all__ = ["read_segments"]


def read_segments(
    planned: PlannedRecords,
    reader: RecordReader,
    label: str,
    step: Step,
    describe: bool,
    on_bad_record: OnBadRecord,
) -> Paired:
    """Adds the steps that read the portions of a plan and make batches of segments.

    This is a function and not a transform, so that consoles show each step by its own name.

    Args:
      planned: the plan.
      reader: reads the portions.
      label: the input in messages.
      step: the function that makes a step of each DoFn.
      describe: whether to add up the digests of the records.
      on_bad_record: what happens at a bad record.
    """
    reading = step(_ReadPortion(reader, label, describe, on_bad_record))
    read = (
        planned.portions
        | "Spread the portions" >> beam.Reshuffle()
        | "Read records"
        >> beam.ParDo(reading).with_outputs(
            _ReadPortion.TALLIES, _ReadPortion.REJECTED, _ReadPortion.DIGESTS, main="batches"
        )
    )
    digests = None
    if describe:
        digests = (
            read[_ReadPortion.DIGESTS]
            | "Add up digests" >> beam.CombinePerKey(_AddUpDigests(reader.digest_method))
            | "Take the digests" >> beam.Values()
        )
    rejected = read[_ReadPortion.REJECTED] if on_bad_record == "reject" else None
    batches = as_batches(read.batches, SegmentBatch)
    return Paired(batches, planned.segments, digests, read[_ReadPortion.TALLIES], rejected)


@dataclasses.dataclass(frozen=True)
class _RecordDigest:
    """The sum of the hashes of records, and the number of the records."""

    records: int = 0
    sum: int = 0

    def __add__(self, other: _RecordDigest) -> _RecordDigest:
        return _RecordDigest(self.records + other.records, (self.sum + other.sum) % MODULUS)


class _ReadPortion(beam.DoFn):
    TALLIES = "tallies"
    REJECTED = "rejected"
    DIGESTS = "digests"

    def __init__(
        self, reader: RecordReader, label: str, describe: bool, on_bad_record: OnBadRecord
    ) -> None:
        self._reader = reader
        self._label = label
        self._describe = describe
        self._rejects = on_bad_record == "reject"

    def process(self, portion: Any) -> Iterator[Any]:
        chosen = self._reader.chosen(portion)
        tally, digest = Tally(), _RecordDigest()
        bad = FoundBad()
        for read in self._reader.read(portion, self._describe):
            segments = to_segments(read, chosen, self._label)
            tally += segments.tally
            if read.digest is not None:
                digest += _RecordDigest(segments.tally.read, read.digest)
            if self._rejects:
                for record in segments.bad:
                    yield beam.pvalue.TaggedOutput(self.REJECTED, record)
            else:
                bad.add(segments.bad, len(segments.bad))
            if not bad.records:
                yield from segments.batches
        if bad.records:
            raise bad_records_error(bad.first, tally.read, bad.segments)
        yield beam.pvalue.TaggedOutput(self.TALLIES, tally)
        if self._describe:
            yield beam.pvalue.TaggedOutput(self.DIGESTS, (0, digest))


class _AddUpDigests(beam.CombineFn):
    def __init__(self, method: str) -> None:
        self._method = method

    def create_accumulator(self) -> _RecordDigest:
        return _RecordDigest()

    def add_input(self, accumulator: _RecordDigest, digest: _RecordDigest) -> _RecordDigest:
        return accumulator + digest

    def merge_accumulators(self, accumulators: Iterable[_RecordDigest]) -> _RecordDigest:
        return sum(accumulators, start=self.create_accumulator())

    def extract_output(self, accumulator: _RecordDigest) -> Digests:
        return Digests(accumulator.records, (f"{self._method}:{accumulator.sum:032x}",))
