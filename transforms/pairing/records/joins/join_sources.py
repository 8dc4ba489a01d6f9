"""Wires joins by ids, and long records, to Beam: the one place where text is shuffled."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection, TaggedOutput
from apache_beam.typehints import typehints

from beam_bleu.transforms.definition.choices import AllowedName, natural_order
from beam_bleu.transforms.errors import InputError, joined, lost_data
from beam_bleu.transforms.notices import added_notices, sentences
from beam_bleu.transforms.pairing.batch import KEPT_ID, SegmentBatch
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.lines.text_digest import OF_RECORDS
from beam_bleu.transforms.pairing.needs import Role, ValueColumn
from beam_bleu.transforms.pairing.paired import (
    CoverageName,
    Digests,
    FoundCoverage,
    FoundInput,
    FoundSegments,
    InputRole,
    OnBadRecord,
    Paired,
    SystemCoverage,
    bad_records_error,
)
from beam_bleu.transforms.pairing.records.choosing import FIRST, WITNESSES
from beam_bleu.transforms.pairing.records.joins.buckets import join_bucket
from beam_bleu.transforms.pairing.records.joins.findings import (
    Report,
    coverage_notices,
    mismatches,
    require_none,
)
from beam_bleu.transforms.pairing.records.joins.rows import (
    digest_of_references,
    join_rows,
    kept,
    messages_of,
    taken,
)
from beam_bleu.transforms.pairing.records.record_files import PlanRecords, RecordFiles, RecordSource
from beam_bleu.transforms.pairing.records.wanted import Wanted
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.wiring.steps import OfSource, Step, ThreadedDoFn, as_batches, unchanged


@dataclasses.dataclass(frozen=True)
class JoinedRecords(RecordSource):
    """A source that joins streams of records: those with equal ids belong to one segment.

    If `systems` is empty, `references` is one stream of long records, each with the candidate of
    one system; all records of a segment must have the same references, labels and kept columns. In
    a join, labels and kept columns are those of the first stream of references. Without references,
    only numbers are read, and the first system determines the segments. If the whole job runs on
    this machine, rows wait in `row_folder`; if that is "", they go through the runner's shuffle.
    """

    systems: tuple[str, ...]
    candidates: tuple[RecordFiles, ...]
    references: tuple[RecordFiles, ...]
    coverage: CoverageName = "strict"
    expected: int | None = None
    on_bad_record: OnBadRecord = "fail"
    row_folder: str = ""
    allow: tuple[AllowedName, ...] = ()

    @property
    def is_long(self) -> bool:
        return not self.systems

    @property
    def wanted(self) -> Wanted:
        return self._base.wanted

    @property
    def kept(self) -> tuple[str, ...]:
        return (KEPT_ID, *super().kept)

    @property
    def inputs(self) -> tuple[Stream, ...]:
        return tuple(reader.stream for reader in (*self.candidates, *self.references))

    def pair(self, threads: int, step: Step = unchanged, describe: bool = False) -> PairByIds:
        return PairByIds(self, threads, step, describe)

    @functools.cached_property
    def readers(self) -> tuple[RecordFiles, ...]:
        """A reader for each stream, references first, that reads only what the join needs."""
        if self.is_long:
            return self.references
        named = self.wanted.references
        usual = (*WITNESSES, *(map(re.escape, named) if named else FIRST["references"]))
        # References are witnesses, too, unless there are two streams, whose texts differ anyway.
        of_references = usual if len(self.references) == 1 else WITNESSES
        return (
            *(
                self._reader(reader, "references", values=(), witnesses=of_references)
                for reader in self.references
            ),
            *(
                self._reader(reader, "candidates", system_name=system, witnesses=usual)
                for system, reader in zip(self.systems, self.candidates, strict=True)
            ),
        )

    def is_of_references(self, stream: int) -> bool:
        """Whether a reader is of references alone, which are the same for all candidates."""
        return not self.is_long and stream < len(self.references)

    def digest_method(self, stream: int) -> str:
        of_records = self.readers[stream].digest_method
        return OF_RECORDS if self.is_of_references(stream) else of_records

    def sides(self, systems: Sequence[str]) -> tuple[str, ...]:
        """The sides, which must have the same segments, as messages name them; references first."""
        # A layout can take the references from the file of a system, which the user has named.
        of_systems = zip(self.candidates, self.systems, strict=True)
        names = {each.stream.pattern: f" (in the file of {name})" for each, name in of_systems}
        streams = (reader.stream for reader in self.references)
        labels = (stream.label + names.get(stream.pattern, "") for stream in streams)
        return (*labels, *(f"candidates {system}" for system in systems))

    @property
    def values(self) -> tuple[ValueColumn, ...]:
        return self.readers[-1].wanted.values

    @property
    def _base(self) -> RecordFiles:
        return (*self.references, *self.candidates)[0]

    def _reader(self, reader: RecordFiles, role: Role, **differing: Any) -> RecordFiles:
        """A reader of a stream's texts; only the first one also reads labels and kept columns."""
        if reader is not self._base:
            differing |= {"labels": (), "kept": (), "keeps_texts": False}
        roles: tuple[Role, ...] = (role,) if role in reader.roles else ()
        wanted = dataclasses.replace(reader.wanted, where_if_there=True, **differing)
        return reader.of_stream(roles, wanted)


# Bytes of files for each bucket. A worker holds the texts of one bucket at a time, which can be
# several times as large if files are compressed.
_BUCKET_BYTES = 1 << 24

_MOST_BUCKETS = 1 << 12  # each portion sends a message to each bucket; more would be too small

# About how many bytes of a portion, which can be a large file, are made into messages at a time.
_MESSAGE_BYTES = 1 << 25


class PairByIds(OfSource):
    LABEL = "Pair by ids"

    def expand(self, root: beam.Pipeline) -> Paired:
        source, step = self._source, self._step
        portions, plans = self._planned(root)
        read = (
            portions
            | "Gather the plans" >> beam.GroupByKey()
            | "Choose the buckets" >> beam.ParDo(step(_ChooseBuckets()))
            | "Spread the portions" >> beam.Reshuffle()
            | "Read records"
            >> beam.ParDo(step(_SendRows(source, self._threads, self._describe))).with_outputs(
                _SendRows.REPORTS, _SendRows.REJECTED, main="messages"
            )
        )
        read.messages.element_type = typehints.Tuple[int, bytes]  # see `as_batches`
        systems = (
            read[_SendRows.REPORTS]
            | "Gather the systems" >> beam.GroupByKey()
            | "Name the systems"
            >> beam.ParDo(step(_NameSystems(source))).with_output_types(
                typehints.Tuple[int, typehints.Tuple[str, ...]]
            )
        )
        joined = (
            {"messages": read.messages, "systems": systems}
            | "Bring equal ids together" >> beam.CoGroupByKey()
            | "Join" >> beam.ParDo(step(_Join(source))).with_outputs(_Join.REPORTS, main="batches")
        )
        ends = {"plans": plans, "read": read[_SendRows.REPORTS], "joined": joined[_Join.REPORTS]}
        checked = (
            ends
            | "Gather the reports" >> beam.CoGroupByKey()
            | "Check the ids"
            >> beam.ParDo(step(_CheckIds(source, self._describe))).with_outputs(
                _CheckIds.TALLY, _CheckIds.DIGESTS, main="segments"
            )
        )
        return Paired(
            as_batches(joined.batches, SegmentBatch),
            checked.segments,
            checked[_CheckIds.DIGESTS] if self._describe else None,
            checked[_CheckIds.TALLY],
            read[_SendRows.REJECTED] if source.on_bad_record == "reject" else None,
        )

    def _planned(self, root: beam.Pipeline) -> tuple[PCollection[Any], PCollection[Any]]:
        """The portions and the plans of all streams, each as (0, (number of the stream, value))."""
        portions, plans = [], []
        for number, reader in enumerate(self._source.readers):
            label = reader.stream.label
            planned, found = root | f"Plan {label}" >> PlanRecords(
                reader, self._threads, self._step, self._describe
            )
            portions.append(planned | f"Number the portions of {label}" >> _numbered(number))
            plans.append(found | f"Number the plan of {label}" >> _numbered(number))
        return (
            portions | "Take all portions" >> beam.Flatten(),
            plans | "Take all plans" >> beam.Flatten(),
        )


def _numbered(number: int) -> beam.PTransform:
    return beam.Map(lambda value: (0, (number, value)))


class _ChooseBuckets(beam.DoFn):
    """(0, all portions) -> (number of the stream, portion, number of buckets)."""

    def process(self, gathered: tuple[int, Iterable[tuple[int, Any]]]) -> Iterator[Any]:
        portions = list(gathered[1])
        lacking = [
            {*chosen.lacking} for _, portion in portions for chosen in portion.chosen.values()
        ]
        for column in sorted(set.intersection(*lacking)):
            what = f"no file of the join has the column {column} (--where)"
            raise InputError(what, "check the name of the column")
        total = sum(portion.bytes for _, portion in portions)
        buckets = min(max(-(-total // _BUCKET_BYTES), 1), _MOST_BUCKETS)
        PROGRESS.begin("scoring", total)
        for stream, portion in portions:
            yield stream, portion, buckets


class _SendRows(ThreadedDoFn):
    """Portions of all streams -> (bucket, message), reports, and rejected records."""

    REPORTS, REJECTED = "reports", "rejected"

    def __init__(self, source: JoinedRecords, threads: int, describe: bool) -> None:
        super().__init__(threads)
        self._source = source
        self._describe = describe

    def weight(self, output: Any) -> int:
        # Rows count by their bytes: a portion can be a whole compressed file, of any size.
        if isinstance(output, TaggedOutput):
            return len(output.value.raw) if output.tag == self.REJECTED else 0
        return len(output[1])

    def work(self, element: tuple[int, Any, int]) -> Iterator[Any]:
        stream, portion, buckets = element
        source, reader = self._source, self._source.readers[stream]
        report = Report()
        waiting: list[pa.Table] = []
        is_of_references = source.is_of_references(stream)
        for read in reader.read(portion, self._describe and not is_of_references):
            rows, bad, of_part = join_rows(read)
            if self._describe and is_of_references:
                of_part = dataclasses.replace(of_part, digest=digest_of_references(read))
            report += of_part
            if bad and source.on_bad_record != "reject":
                raise bad_records_error(bad, len(bad), of_part.read)
            for record in bad:
                yield TaggedOutput(self.REJECTED, record)
            waiting.append(rows)
            if sum(table.nbytes for table in waiting) > _MESSAGE_BYTES:
                yield from self._messages(waiting, stream, buckets)
                waiting = []
        if waiting:
            yield from self._messages(waiting, stream, buckets)
        yield TaggedOutput(self.REPORTS, (0, (stream, buckets, report)))

    def _messages(
        self, waiting: list[pa.Table], stream: int, buckets: int
    ) -> Iterator[tuple[int, bytes]]:
        rows = pa.concat_tables(waiting, promote_options="default").unify_dictionaries()
        return kept(self._source.row_folder, messages_of(rows, stream, buckets))


@dataclasses.dataclass(eq=False, repr=False)
class _NameSystems(beam.DoFn):
    """(0, the reports of all portions) -> (bucket, the names of all systems)."""

    source: JoinedRecords

    def process(
        self, gathered: tuple[int, Iterable[tuple[int, int, Report]]]
    ) -> Iterator[tuple[int, tuple[str, ...]]]:
        reports = list(gathered[1])
        systems = _systems(self.source, (report for _, _, report in reports))
        for bucket in range(reports[0][1]):
            yield bucket, systems


def _systems(source: JoinedRecords, reports: Iterable[Report]) -> tuple[str, ...]:
    return source.systems or natural_order(sum(reports, Report()).systems)


@dataclasses.dataclass(eq=False, repr=False)
class _Join(beam.DoFn):
    """(bucket, its messages and the names of the systems) -> batches of segments."""

    REPORTS: ClassVar[str] = "reports"
    source: JoinedRecords

    def process(self, gathered: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[Any]:
        _, parts = gathered
        (systems,) = parts["systems"]
        messages = taken(self.source.row_folder, parts["messages"])
        report, batches = join_bucket(self.source, systems, messages)
        yield TaggedOutput(self.REPORTS, (0, report))
        yield from batches


class _CheckIds(beam.DoFn):
    """Everything that was found -> `FoundSegments`, the `Tally` and the `Digests`."""

    TALLY, DIGESTS = "tally", "digests"

    def __init__(self, source: JoinedRecords, describe: bool) -> None:
        self._source = source
        self._describe = describe

    def process(self, gathered: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[Any]:
        source, (_, ends) = self._source, gathered
        by_stream: dict[int, FoundSegments] = dict(sorted(ends["plans"]))
        streams = [Report()] * len(by_stream)
        for stream, _, of_portion in ends["read"]:
            streams[stream] += of_portion
        systems = _systems(source, streams)
        report, read = sum(ends["joined"], Report()), sum(streams, Report())
        planned, lost = sum(plan.count for plan in by_stream.values()), read.tally
        if (read.read, read.sent) != (planned, report.arrived):
            raise lost_data(
                f"of the join, {planned} records were planned, {read.read} were read, {read.sent} "
                f"were sent and {report.arrived} arrived"
            )
        sides = source.sides(systems)
        require_none(["twice"], report, sides)
        require_none(["differing"], report, sides)
        if source.coverage == "strict":
            require_none(["missing", "unknown"], report, sides)
        different = mismatches(report)
        if different and "other-documents" not in source.allow:
            raise InputError(
                joined(sentences(different), separator="; "),
                "score outputs for the same documents, or add --allow other-documents",
            )
        # As for all kinds of input, before conditions and rejected records leave segments out.
        count = report.tally.read + streams[0].tally.read
        Expected(segments=source.expected).require_segments(count)
        tally = report.tally + lost
        for system in systems:
            # If no segment is left at all, the job's last step says why.
            if report.segments and not tally.scored.get(system):
                raise InputError(
                    f"candidates {system}: none of the {report.segments:,} segments can be scored",
                    "check the ids, --coverage and --where",
                )
        yield FoundSegments(
            tally.read,
            added_notices(
                [
                    *(notice for of_stream in by_stream.values() for notice in of_stream.notices),
                    *coverage_notices(source.coverage, report, sides),
                    *different,
                ]
            ),
            tuple(dict.fromkeys(note for of in by_stream.values() for note in of.notes)),
            tuple(self._inputs(by_stream)) if self._describe else (),
            systems,
            FoundCoverage(
                source.coverage,
                report.segments,
                tuple(
                    SystemCoverage(
                        system, report.of("missing", side).count, report.of("unknown", side).count
                    )
                    for system, side in zip(systems, sides[len(source.references) :], strict=True)
                ),
            ),
            frozenset.intersection(*(plan.tasks for plan in by_stream.values())),
        )
        yield TaggedOutput(self.TALLY, tally)
        if self._describe:
            digests = tuple(
                (source.digest_method(stream), streams[stream].digest) for stream in self._order()
            )
            yield TaggedOutput(self.DIGESTS, Digests(tally.read, digests))

    def _order(self) -> list[int]:
        references, count = len(self._source.references), len(self._source.readers)
        return [*range(references, count), *range(references)]

    def _inputs(self, by_stream: Mapping[int, FoundSegments]) -> Iterator[FoundInput]:
        references = len(self._source.references)
        systems = (*(None for _ in range(references)), *self._source.systems)
        for stream in self._order():
            (described,) = by_stream[stream].inputs
            if not self._source.is_long:
                role: InputRole = "references" if stream < references else "candidates"
                described = dataclasses.replace(described, role=role, system=systems[stream])
            yield described
