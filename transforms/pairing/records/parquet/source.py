"""Parquet files as a source of segments: wires their reading to Beam.

Only footers and plans go through a shuffle. Text goes directly from the file into the batch that is
scored.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from beam_bleu.transforms.pairing.files.found_files import find_files, open_for_arrow, version_of
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import Shard, Stream
from beam_bleu.transforms.pairing.lines.line_steps import tell_files
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.paired import FoundInput, FoundSegments, InputFile, Paired
from beam_bleu.transforms.pairing.records.columns.choosing import choice_notes
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    ReadRecords,
    Wanted,
    with_path_columns,
)
from beam_bleu.transforms.pairing.records.parquet.parquet_files import (
    other_columns,
    read_footer,
    read_portion,
)
from beam_bleu.transforms.pairing.records.parquet.parquet_plan import (
    Footer,
    OtherColumnsError,
    ParquetPortion,
    make_parquet_plan,
)
from beam_bleu.transforms.pairing.records.parquet.record_digest import METHOD
from beam_bleu.transforms.pairing.records.read_segments import read_segments
from beam_bleu.transforms.pairing.records.record_files import RecordFiles
from beam_bleu.transforms.pairing.records.record_reader import PlannedRecords
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.wiring.steps import Step, unchanged
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["PairParquet", "ParquetRecords", "PlanParquet"]

_LOG = logging.getLogger("beam_bleu_workers")
_DETAILS = logging.getLogger("beam_bleu")


@dataclasses.dataclass(frozen=True)
class ParquetRecords(RecordFiles):
    """A source of segments from Parquet files: each row is a record. A join can use it, too."""

    @property
    def digest_method(self) -> str:
        """The name of the method of `ReadRecords.digest`."""
        return METHOD

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairParquet:
        """The transform that reads the segments. A worker reads footers on `threads` threads."""
        return PairParquet(self, threads, step, describe)

    def of_stream(self, roles: tuple[Role, ...], wanted: Wanted) -> ParquetRecords:
        """The reader of a stream of a join, whose records have texts of one role, or none."""
        return dataclasses.replace(self, roles=roles, wanted=wanted)

    def plan(self, threads: int, step: Step = unchanged, describe: bool = False) -> PlanParquet:
        """The transform of a pipeline's root to `PlannedRecords`."""
        return PlanParquet(self, threads, step, describe)

    def portion_bytes(self, portion: ParquetPortion) -> int:
        """About how many bytes a portion has."""
        return portion.bytes

    def chosen(self, portion: ParquetPortion) -> Chosen:
        """The columns that are read of a portion. They are the same for all portions."""
        return portion.chosen

    def read(self, portion: ParquetPortion, digest: bool = False) -> Iterator[ReadRecords]:
        """The records of a portion, in order.

        Raises:
          InputError: a file cannot be read, is damaged, or has changed since the plan was made.
        """
        longest = self.expected.max_line_bytes
        for read in read_portion(self.stream, portion, open_for_arrow, version_of, longest, digest):
            yield with_path_columns(read, portion.chosen, self.stream.label)


class PairParquet(beam.PTransform):
    """Expands a pipeline's root to the `Paired` segments of a source.

    The pipeline fails with an `InputError` if a file is missing, damaged, encrypted or not Parquet,
    if it changes while the pipeline runs, if a file does not have the columns, or at bad records.
    """

    def __init__(self, source: ParquetRecords, threads: int, step: Step, describe: bool) -> None:
        super().__init__()
        self._source = source
        self._threads = threads
        self._step = step
        self._describe = describe

    def default_label(self) -> str:
        return "Read Parquet"

    def expand(self, root: beam.Pipeline) -> Paired:
        source = self._source
        planned = root | source.plan(self._threads, self._step, self._describe)
        return read_segments(
            planned,
            source,
            source.stream.label,
            self._step,
            self._describe,
            source.on_bad_record,
        )


class PlanParquet(beam.PTransform):
    """Expands a pipeline's root to the `PlannedRecords` of a source."""

    def __init__(self, source: ParquetRecords, threads: int, step: Step, describe: bool) -> None:
        super().__init__()
        self._source = source
        self._threads = threads
        self._step = step
        self._describe = describe

    def default_label(self) -> str:
        return "Plan Parquet"

    def expand(self, root: beam.Pipeline) -> PlannedRecords:
        planned = (
            root
            | "Name the input" >> beam.Create([self._source.stream], reshuffle=False)
            | "List its files" >> beam.ParDo(self._step(_ListFiles(self._source)))
            | "Spread the files" >> beam.Reshuffle()
            | "Read footers" >> beam.ParDo(self._step(_ReadFooters(self._source, self._threads)))
            | "Gather the footers" >> beam.GroupByKey()
            | "Plan portions"
            >> beam.ParDo(self._step(_Plan(self._source, self._describe))).with_outputs(
                _Plan.SEGMENTS, main="portions"
            )
        )
        return PlannedRecords(planned.portions, planned[_Plan.SEGMENTS])


class _ListFiles(beam.DoFn):
    def __init__(self, source: ParquetRecords) -> None:
        self._source = source

    def process(self, stream: Stream) -> Iterator[Shard]:
        PROGRESS.begin("listing")
        shards = shards_in_order(0, stream, find_files(stream))
        self._source.wanted.check_files(stream, [shard.file.path for shard in shards])
        tell_files(stream, shards)
        yield from shards


class _ReadFooters(ThreadedDoFn):
    def __init__(self, source: ParquetRecords, threads: int) -> None:
        super().__init__(threads)
        self._source = source

    def work(self, shard: Shard) -> Iterable[tuple[int, Footer]]:
        source = self._source
        version = version_of(source.stream, shard.file.path)
        footer = read_footer(
            source.stream, shard, version, open_for_arrow, source.wanted, source.roles
        )
        return [(0, footer)]


class _Plan(beam.DoFn):
    SEGMENTS = "segments"

    def __init__(self, source: ParquetRecords, describe: bool) -> None:
        self._source = source
        self._describe = describe

    def process(self, keyed: tuple[int, Iterable[Footer]]) -> Iterator[Any]:
        PROGRESS.begin("planning")
        source, (_, footers) = self._source, keyed
        try:
            plan = make_parquet_plan(source.stream, footers, source.range_bytes)
        except OtherColumnsError as error:
            raise other_columns(source.stream, error, open_for_arrow) from error
        source.expected.require_segments(plan.rows)
        notes = choice_notes(source.wanted, plan.chosen, source.stream_of_join)
        for note in notes:
            _LOG.warning(note)  # for users who see only the log of a worker
        systems = plan.chosen.systems
        inputs = _described(source.stream, plan.footers) if self._describe else ()
        segments = FoundSegments(plan.rows, (), notes, inputs, systems)
        yield beam.pvalue.TaggedOutput(self.SEGMENTS, segments)
        portions = list(plan.portions())
        yield from portions
        _DETAILS.info("records: %s, portions: %s", f"{plan.rows:,}", f"{len(portions):,}")
        PROGRESS.begin("scoring", plan.bytes)


def _described(stream: Stream, footers: Sequence[Footer]) -> tuple[FoundInput, ...]:
    files = tuple(
        InputFile(
            stream.shown(footer.shard.file.path),
            footer.shard.file.size,
            int(footer.rows.sum()),
            stream.version(footer.version),
        )
        for footer in footers
    )
    return (FoundInput("records", None, stream.shown(stream.pattern), files),)
