"""Files whose rows lie in groups as a source of segments: wires their reading to Beam.

Only footers and plans go through a shuffle. Text goes directly from the file into the batch that is
scored.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam

from beam_bleu.transforms.pairing.files.found_files import (
    find_files,
    open_for_arrow,
    refuse_files_of_delta_tables,
    version_of,
)
from beam_bleu.transforms.pairing.files.shards import shards_in_order
from beam_bleu.transforms.pairing.files.streams import Shard, Stream
from beam_bleu.transforms.pairing.files.tables import require_table_columns
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
from beam_bleu.transforms.pairing.records.read_segments import read_segments
from beam_bleu.transforms.pairing.records.record_files import RecordFiles
from beam_bleu.transforms.pairing.records.record_reader import PlannedRecords
from beam_bleu.transforms.pairing.records.row_groups.group_file import GroupFormat
from beam_bleu.transforms.pairing.records.row_groups.group_files import (
    other_columns,
    read_footer,
    read_portion,
)
from beam_bleu.transforms.pairing.records.row_groups.group_formats import (
    GROUP_FORMATS,
    GroupFormatName,
)
from beam_bleu.transforms.pairing.records.row_groups.group_plan import (
    Footer,
    GroupPortion,
    OtherColumnsError,
    make_group_plan,
)
from beam_bleu.transforms.pairing.records.row_groups.record_digest import METHOD
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.wiring.steps import Step, starting_with, unchanged
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["PairRowGroups", "PlanRowGroups", "RowGroupRecords"]

_LOG = logging.getLogger("beam_bleu_workers")
_DETAILS = logging.getLogger("beam_bleu")


@dataclasses.dataclass(frozen=True)
class RowGroupRecords(RecordFiles):
    """A source of segments from files of a format: each row is a record. A join can use it, too.

    Attributes:
      format: the format of the files.
    """

    format: GroupFormatName

    @property
    def form(self) -> GroupFormat:
        """What the format says about itself."""
        return GROUP_FORMATS[self.format]

    @property
    def digest_method(self) -> str:
        """The name of the method of `ReadRecords.digest`."""
        return METHOD

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairRowGroups:
        """The transform that reads the segments. A worker reads footers on `threads` threads."""
        return PairRowGroups(self, threads, step, describe)

    def of_stream(self, roles: tuple[Role, ...], wanted: Wanted) -> RowGroupRecords:
        """The reader of a stream of a join, whose records have texts of one role, or none."""
        return dataclasses.replace(self, roles=roles, wanted=wanted)

    def plan(self, threads: int, step: Step = unchanged, describe: bool = False) -> PlanRowGroups:
        """The transform of a pipeline's root to `PlannedRecords`."""
        return PlanRowGroups(self, threads, step, describe)

    def portion_bytes(self, portion: GroupPortion) -> int:
        """About how many bytes a portion has."""
        return portion.bytes

    def chosen(self, portion: GroupPortion) -> Chosen:
        """The columns that are read of a portion. They are the same for all portions."""
        return portion.chosen

    def read(self, portion: GroupPortion, digest: bool = False) -> Iterator[ReadRecords]:
        """The records of a portion, in order.

        Raises:
          InputError: a file cannot be read, is damaged, or has changed since the plan was made.
        """
        longest = self.expected.max_line_bytes
        for read in read_portion(
            self.form, self.stream, portion, open_for_arrow, version_of, longest, digest
        ):
            yield with_path_columns(read, portion.chosen, self.stream.label)


class _OfRowGroups(beam.PTransform):
    """What both transforms of a source have. A worker reads footers on `threads` threads."""

    def __init__(self, source: RowGroupRecords, threads: int, step: Step, describe: bool) -> None:
        super().__init__()
        self._source = source
        self._threads = threads
        self._step = step
        self._describe = describe


class PairRowGroups(_OfRowGroups):
    """Expands a pipeline's root to the `Paired` segments of a source.

    The pipeline fails with an `InputError` if a file is missing, damaged, encrypted or of another
    format, if it changes while the pipeline runs, if a file does not have the columns, or at bad
    records.
    """

    def default_label(self) -> str:
        return f"Read {self._source.form.label}"

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


class PlanRowGroups(_OfRowGroups):
    """Expands a pipeline's root to the `PlannedRecords` of a source."""

    def default_label(self) -> str:
        return f"Plan {self._source.form.label}"

    def expand(self, root: beam.Pipeline) -> PlannedRecords:
        planned = (
            root
            | "Name the input" >> starting_with(self._source.stream, root)
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
    def __init__(self, source: RowGroupRecords) -> None:
        self._source = source

    def process(self, stream: Stream) -> Iterator[Shard]:
        PROGRESS.begin("listing")
        shards = shards_in_order(0, stream, find_files(stream))
        refuse_files_of_delta_tables(stream, [shard.file for shard in shards])
        self._source.wanted.check_files(stream, [shard.file.path for shard in shards])
        tell_files(stream, shards)
        yield from shards


class _ReadFooters(ThreadedDoFn):
    def __init__(self, source: RowGroupRecords, threads: int) -> None:
        super().__init__(threads)
        self._source = source

    def work(self, shard: Shard) -> Iterable[tuple[int, Footer]]:
        source = self._source
        version = version_of(source.stream, shard.file.path)
        footer = read_footer(
            source.form, source.stream, shard, version, open_for_arrow, source.wanted, source.roles
        )
        return [(0, footer)]


class _Plan(beam.DoFn):
    SEGMENTS = "segments"

    def __init__(self, source: RowGroupRecords, describe: bool) -> None:
        self._source = source
        self._describe = describe

    def process(self, keyed: tuple[int, Iterable[Footer]]) -> Iterator[Any]:
        PROGRESS.begin("planning")
        source, (_, footers) = self._source, keyed
        try:
            plan = make_group_plan(source.stream, footers, source.range_bytes)
        except OtherColumnsError as error:
            raise other_columns(source.form, source.stream, error, open_for_arrow) from error
        require_table_columns(
            source.stream.label,
            [footer.shard.file for footer in plan.footers],
            [str(path.steps[0]) for path in plan.chosen.columns],
        )
        source.expected.require_segments(plan.rows)
        notes = choice_notes(source.wanted, plan.chosen, source.stream_of_join)
        for note in notes:
            _LOG.warning(note)  # for users who see only the log of a worker
        systems = plan.chosen.systems
        inputs = _described(source.stream, plan.footers) if self._describe else ()
        segments = FoundSegments(plan.rows, (), notes, inputs, systems)
        portions = plan.portions_to_read()
        _DETAILS.info("records: %s, portions: %s", f"{plan.rows:,}", f"{len(portions):,}")
        PROGRESS.begin("scoring", plan.bytes)
        yield beam.pvalue.TaggedOutput(self.SEGMENTS, segments)
        yield from portions


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
    listed_by = footers[0].shard.file.listed_by
    snapshot = None if listed_by is None else listed_by.snapshot
    return (FoundInput("records", None, stream.shown(stream.pattern), files, snapshot=snapshot),)
