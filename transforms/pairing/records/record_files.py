"""Wires record files to Beam, as a source of segments or as a stream of a join.

Only plans, and what was found out about files, go through a shuffle. A worker reads the parts of a
portion on one thread, and parses them on all of its threads.
"""

from __future__ import annotations

import abc
import dataclasses
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection, TaggedOutput

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.canonical import with_empty_texts
from beam_bleu.transforms.pairing.files.found_files import find_shards
from beam_bleu.transforms.pairing.files.streams import Shard, Stream
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.lines.text_digest import OF_RECORDS, sum_of_columns
from beam_bleu.transforms.pairing.needs import Role
from beam_bleu.transforms.pairing.paired import (
    Digests,
    FoundInput,
    FoundSegments,
    InputFile,
    OnBadRecord,
    Paired,
    bad_records_error,
)
from beam_bleu.transforms.pairing.records.choosing import (
    BOTH,
    choice_notes,
    choose,
    divided_column,
    has_header,
    is_name_pattern,
    is_usual_name,
)
from beam_bleu.transforms.pairing.records.column_paths import repeated_headers
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMATS, RecordFormatName
from beam_bleu.transforms.pairing.records.record_segments import batches_of, judge
from beam_bleu.transforms.pairing.records.wanted import (
    Chosen,
    Columns,
    Fault,
    RawRecords,
    ReadRecords,
    Wanted,
    null_in,
)
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.wiring.steps import (
    OfSource,
    Step,
    ThreadedDoFn,
    as_batches,
    giving_batches,
    starting_with,
    unchanged,
)

_MOST_NAMES = 12  # the most names of columns that a message lists


@dataclasses.dataclass(frozen=True)
class Portion:
    """The records that one worker reads, with the columns to read of each file; `first` is counted
    from 0 in the whole input.
    """

    first: int
    records: int
    bytes: int
    pieces: tuple[Any, ...]
    chosen: Mapping[str, Chosen]


@dataclasses.dataclass(frozen=True)
class RecordPlan:
    """All records of a stream, in portions, in the order in which workers should read them."""

    chosen: Chosen
    portions: Sequence[Portion]
    files: tuple[InputFile, ...]
    snapshot: str | None = None
    notices: tuple[Notice, ...] = ()


class RecordSource:
    is_of_lines = False
    notes: tuple[str, ...] = ()  # none, because they need the columns, which are not known yet

    if TYPE_CHECKING:

        @property
        def wanted(self) -> Wanted: ...

    @property
    def labels(self) -> tuple[str, ...]:
        return self.wanted.labels

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.wanted.kept)

    @property
    def keeps_texts(self) -> bool:
        return self.wanted.keeps_texts


@dataclasses.dataclass(frozen=True)
class RecordFiles(RecordSource, abc.ABC):
    """Files of records, and what to read of them. `record_files` makes one for a format.

    A `header` of None means yes for text with fields, unless all columns are given by numbers. In a
    join, `roles` are only candidates or only references.
    """

    stream: Stream
    wanted: Wanted
    format: RecordFormatName
    header: bool | None = None
    _: dataclasses.KW_ONLY
    range_bytes: int | None = None
    expected: Expected = dataclasses.field(default_factory=Expected)
    on_bad_record: OnBadRecord = "fail"
    roles: tuple[Role, ...] = BOTH

    digest_method: ClassVar[str]

    @abc.abstractmethod
    def cut(self, shards: Sequence[Shard]) -> Iterable[Any]:
        """What to look at before there can be a plan: files, or parts of files."""

    @abc.abstractmethod
    def look_at(self, part: Any) -> Iterable[Any]:
        """What is found in a part; runs on any thread."""

    @abc.abstractmethod
    def planned(self, found: Sequence[Any]) -> RecordPlan:
        """The plan from everything that was found, whatever its order."""

    @abc.abstractmethod
    def parts(self, portion: Portion) -> Iterator[RawRecords]:
        """The records of a portion, not parsed, in order, part by part."""

    @abc.abstractmethod
    def columns_of(self, part: RawRecords) -> tuple[Columns, dict[int, Fault]]:
        """The columns of a part, arbitrary where a record could not be read, and the faults."""

    @abc.abstractmethod
    def digest_of(self, read: ReadRecords) -> int:
        """The sum of the hashes of the records."""

    def parsed(self, part: RawRecords, digest: bool) -> ReadRecords:
        columns, faults = self.columns_of(part)
        if self.has_header:
            faults = {**repeated_headers(columns, part.chosen.fields), **faults}
        faults = {row: fault for row, fault in faults.items() if row not in part.bad_rows}
        unread = {*part.bad_rows, *(row for row, fault in faults.items() if not fault.path)}
        columns = {path: null_in(column, unread) for path, column in columns.items()}
        for path in part.chosen.texts:
            if not path.steps:
                columns[path] = pa.repeat(pa.scalar("", pa.large_string()), len(part.values))
        for path, label in part.chosen.path_labels:
            value = label.agreed([(part.label, part.path)])
            columns[path] = pa.repeat(pa.scalar(value, pa.large_string()), len(part.values))
        read = ReadRecords(part, columns, faults)
        if digest:
            read = dataclasses.replace(read, digest=self.digest_of(read))
        if not self.wanted.reference_of_each:
            for path in part.chosen.references:
                columns[path] = with_empty_texts(columns[path])
        return read

    def read(self, portion: Portion, digest: bool = False) -> Iterator[ReadRecords]:
        return (self.parsed(part, digest) for part in self.parts(portion))

    @property
    def reads_all_references(self) -> bool:
        needs = self.wanted.needs_of_tasks.values()
        return all("references" in roles for roles in (self.roles, *(own.roles for own in needs)))

    @property
    def has_fields(self) -> bool:
        return RECORD_FORMATS[self.format].delimiter != ""

    @property
    def has_header(self) -> bool:
        known = has_header(self.wanted, self.roles) if self.header is None else self.header
        return self.has_fields and known

    @property
    def header_notes(self) -> tuple[str, ...]:
        if not self.has_fields or self.has_header or self.header is not None:
            return ()
        return (
            "the first line of each file is read as a record; if it has the names of the "
            "columns, add --header",
        )

    def chosen(self, schema: pa.Schema, shard: Shard) -> Chosen:
        try:
            needs, label = self.wanted.needs_of(shard.file.path), self.stream.label
            return choose(self.wanted, schema, label, self.roles, self.has_fields, needs)
        except InputError as error:
            cause = f"{error.cause}: {self.stream.shown(shard.file.path)}"
            raise InputError(cause, error.remedy) from error

    def chosen_of_fields(self, fields: Sequence[str], shard: Shard) -> Chosen:
        numbers = [str(number + 1) for number in range(len(fields))]
        names = fields if self.has_header else numbers
        chosen = self.chosen(pa.schema([(name, pa.large_string()) for name in names]), shard)
        if self.header is None and not self.has_header:
            read = [fields[int(column.steps[0])] for column in chosen.columns]
            if any(map(is_usual_name, read)) or (len(fields) > 1 and [*fields] == numbers):
                what = f"the first line looks like a header: {joined(fields, _MOST_NAMES)}"
                remedy = "add --header if it has the names of the columns; if not, --no_header"
                raise InputError(self.stream.told(what, shard.file.path), remedy)
        return chosen

    def input_files(
        self, shards: Sequence[Shard], records: Sequence[int], versions: Sequence[str | None]
    ) -> tuple[InputFile, ...]:
        files = zip(shards, records, versions, strict=True)
        return tuple(InputFile.of(self.stream, *of_file) for of_file in files)

    def of_stream(self, roles: tuple[Role, ...], wanted: Wanted) -> RecordFiles:
        # Whether files have headers depends on all columns of the join, so it is decided here.
        header = self.has_header if self.has_fields else None
        return dataclasses.replace(self, roles=roles, wanted=wanted, header=header)

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairRecords:
        return PairRecords(self, threads, step, describe)

    @property
    def systems(self) -> tuple[str, ...]:
        wanted = self.wanted
        if wanted.system_name is not None:
            return (wanted.system_name,)
        if any(map(is_name_pattern, wanted.candidates)):
            return ()
        return tuple(name or column for name, column in map(divided_column, wanted.candidates))

    @property
    def inputs(self) -> tuple[Stream, ...]:
        return (self.stream,)


def record_files(
    stream: Stream, wanted: Wanted, format_name: RecordFormatName, **others: Any
) -> RecordFiles:
    row = RECORD_FORMATS[format_name]
    if row.text:
        wanted = dataclasses.replace(
            wanted,
            candidates=wanted.candidates or (row.text,),
            references=wanted.references or (row.reference or row.text,),
        )
    # Imported here, so that a run loads only the readers of its formats.
    if row.is_of_lines:
        from beam_bleu.transforms.pairing.records.line_records import LineRecords

        return LineRecords(stream, wanted, format_name, **others)
    from beam_bleu.transforms.pairing.records.row_group_records import RowGroupRecords

    return RowGroupRecords(stream, wanted, format_name, **others)


_LOG = logging.getLogger("beam_bleu_workers")
_DETAILS = logging.getLogger("beam_bleu")


class PlanRecords(OfSource):
    """Expands a pipeline's root to portions, not spread over workers yet, and a `FoundSegments`."""

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


class _OfFiles(beam.DoFn):
    def __init__(self, source: RecordFiles) -> None:
        self._source = source


class _ListParts(_OfFiles):
    def process(self, stream: Stream) -> Iterable[Any]:
        PROGRESS.begin("listing")
        shards = find_shards(0, stream)
        self._source.wanted.check_files(stream, [shard.file.path for shard in shards])
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
            _LOG.warning(note)  # for users who only see the log of a worker
        _DETAILS.info("records: %s, portions: %s", f"{count:,}", f"{len(plan.portions):,}")
        PROGRESS.begin("scoring", sum(portion.bytes for portion in plan.portions))
        pattern = stream.shown(stream.pattern)
        found_input = FoundInput("records", None, pattern, plan.files, snapshot=plan.snapshot)
        inputs = (found_input,) if self._describe else ()
        tasks = filter(None, (source.wanted.task_of(file.path) for file in plan.files))
        segments = FoundSegments(
            count, plan.notices, notes, inputs, plan.chosen.systems, tasks=frozenset(tasks)
        )
        yield TaggedOutput(self.SEGMENTS, segments)
        yield from plan.portions


class PairRecords(OfSource):
    LABEL = "Read records"

    def expand(self, root: beam.Pipeline) -> Paired:
        source, step = self._source, self._step
        portions, found_segments = root | PlanRecords(source, self._threads, step, self._describe)
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
        return Paired(
            as_batches(segments.batches, SegmentBatch),
            found_segments,
            segments[_ParseParts.DIGESTS] if self._describe else None,
            segments[_ParseParts.TALLIES],
            segments[_ParseParts.REJECTED] if source.on_bad_record == "reject" else None,
        )


class _ReadParts(_OfFiles):
    def process(self, portion: Portion) -> Iterator[RawRecords]:
        return self._source.parts(portion)


class _ParseParts(ThreadedDoFn):
    TALLIES, REJECTED, DIGESTS = "tallies", "rejected", "digests"

    def __init__(self, source: RecordFiles, threads: int, describe: bool) -> None:
        super().__init__(threads, threads)
        self._source = source
        self._describe = describe

    def work(self, part: RawRecords) -> list[Any]:
        read = self._source.parsed(part, self._describe)
        judged = judge(read)
        count = judged.tally.read
        sums = [(self._source.digest_method, read.digest)]
        if self._describe and self._source.reads_all_references:
            references = map(read.columns.__getitem__, read.raw.chosen.references)
            sums.append((OF_RECORDS, sum_of_columns(references, read.raw.first)))
        if judged.bad and self._source.on_bad_record != "reject":
            raise bad_records_error(judged.bad, len(judged.bad), count)
        return [
            *(TaggedOutput(self.REJECTED, record) for record in judged.bad),
            *batches_of(read, judged),
            TaggedOutput(self.TALLIES, judged.tally),
            TaggedOutput(self.DIGESTS, Digests(count, tuple(sums))),
        ]
