"""Wires joins of records to Beam: the one place where text goes through a shuffle.

A reader gives the records of a portion. Their rows go to buckets by their ids, as few large
messages. Then each bucket is joined on its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import PCollection, TaggedOutput
from apache_beam.typehints import typehints

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.notices import added, sentences
from beam_bleu.transforms.pairing.bad_records import FoundBad, bad_records_error
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.lines.correspondence import Expected
from beam_bleu.transforms.pairing.paired import Digests, FoundInput, FoundSegments, Paired
from beam_bleu.transforms.pairing.records.joins.coverage import (
    COVERAGES,
    Report,
    add_reports,
    coverage_notices,
    found_coverage,
    mismatches,
    require_clear_ids,
    require_complete,
)
from beam_bleu.transforms.pairing.records.joins.join_plan import JoinPlan
from beam_bleu.transforms.pairing.records.joins.join_rows import join_rows
from beam_bleu.transforms.pairing.records.joins.portion_report import (
    PortionReport,
    require_all_arrived,
    require_names,
    systems_in,
)
from beam_bleu.transforms.pairing.records.joins.record_ids import IdKind
from beam_bleu.transforms.pairing.records.joins.row_messages import SYSTEM, messages_of
from beam_bleu.transforms.pairing.records.record_files import RecordFiles
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.shown_names import natural_order
from beam_bleu.transforms.wiring.steps import Step, as_batches
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

__all__ = ["PairByIds"]

_BUCKET_BYTES = 1 << 24
"""Bytes of the files for each bucket. A worker holds the texts of one bucket at a time. They
can be several times as large, because files can be compressed."""

_MOST_BUCKETS = 1 << 12
"""Each portion sends a message to each bucket, and more messages would be too small."""

_MESSAGE_BYTES = 1 << 25
"""About how many bytes of a portion are cut into messages at a time. Compressed files are one
portion, of any size."""


class PairByIds(beam.PTransform):
    """Expands a pipeline's root to the `Paired` segments of a join.

    The pipeline fails with an `InputError` if an id is missing, twice or unknown, as the coverage
    says, if a segment has several different references, or if a file cannot be read.
    """

    def __init__(self, plan: JoinPlan, threads: int, step: Step, describe: bool) -> None:
        super().__init__()
        self._plan = plan
        self._threads = threads
        self._step = step
        self._describe = describe

    def default_label(self) -> str:
        return "Pair by ids"

    def expand(self, root: beam.Pipeline) -> Paired:
        plan, step = self._plan, self._step
        portions, plans = self._planned(root)
        read = (
            portions
            | "Gather the plans" >> beam.GroupByKey()
            | "Choose the buckets" >> beam.ParDo(step(ChooseBuckets(plan.readers)))
            | "Spread the portions" >> beam.Reshuffle()
            | "Read records"
            >> beam.ParDo(step(SendRows(plan, self._threads, self._describe))).with_outputs(
                SendRows.REPORTS, SendRows.REJECTED, SendRows.SYSTEMS, main="messages"
            )
        )
        read.messages.element_type = typehints.Tuple[int, bytes]  # see `as_batches`
        if plan.is_long:
            systems = (
                read[SendRows.SYSTEMS]
                | "Gather the systems" >> beam.GroupByKey()
                | "Name the systems"
                >> beam.ParDo(step(NameSystems(plan.readers[0]))).with_output_types(
                    typehints.Tuple[int, typehints.Tuple[str, ...]]
                )
            )
            gathered = {
                "messages": read.messages,
                "systems": systems,
            } | "Bring equal ids together" >> beam.CoGroupByKey()
        else:
            gathered = (
                read.messages
                | "Bring equal ids together" >> beam.GroupByKey()
                | "Name the messages" >> beam.MapTuple(_messages_only)
            )
        joined = gathered | "Join" >> beam.ParDo(step(_Join(plan))).with_outputs(
            _Join.REPORTS, main="batches"
        )
        ends = {"plans": plans, "read": read[SendRows.REPORTS], "joined": joined[_Join.REPORTS]}
        checked = (
            ends
            | "Gather the reports" >> beam.CoGroupByKey()
            | "Check the ids"
            >> beam.ParDo(step(_CheckIds(plan, self._describe))).with_outputs(
                _CheckIds.TALLY, _CheckIds.DIGESTS, main="segments"
            )
        )
        return Paired(
            as_batches(joined.batches, SegmentBatch),
            checked.segments,
            checked[_CheckIds.DIGESTS] if self._describe else None,
            checked[_CheckIds.TALLY],
            read[SendRows.REJECTED] if plan.on_bad_record == "reject" else None,
        )

    def _planned(self, root: beam.Pipeline) -> tuple[PCollection[Any], PCollection[Any]]:
        """The portions and what was found of all streams: (0, (number of the stream, value))."""
        portions, plans = [], []
        for number, reader in enumerate(self._plan.readers):
            label = reader.stream.label
            planned = root | f"Plan {label}" >> reader.plan(
                self._threads, self._step, self._describe
            )
            portions.append(
                planned.portions | f"Number the portions of {label}" >> _numbered(number)
            )
            plans.append(planned.segments | f"Number the plan of {label}" >> _numbered(number))
        return (
            portions | "Take all portions" >> beam.Flatten(),
            plans | "Take all plans" >> beam.Flatten(),
        )


def _numbered(number: int) -> beam.PTransform:
    return beam.Map(_of_stream, number)


def _of_stream(value: Any, number: int) -> tuple[int, tuple[int, Any]]:
    return 0, (number, value)


def _messages_only(bucket: int, messages: Iterable[bytes]) -> tuple[int, Mapping[str, Any]]:
    return bucket, {"messages": messages, "systems": ()}


class _Join(beam.DoFn):
    """(bucket, its messages and the names of the systems) -> batches of segments."""

    REPORTS = "reports"

    def __init__(self, plan: JoinPlan) -> None:
        self._plan = plan

    def process(self, gathered: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[Any]:
        _, parts = gathered
        systems: tuple[str, ...] = next(iter(parts["systems"]), ())
        joined = self._plan.join(parts["messages"], systems)
        yield TaggedOutput(self.REPORTS, (0, (joined.report, joined.tally)))
        yield from joined.batches


class _CheckIds(beam.DoFn):
    """Everything that was found -> `FoundSegments`, the `Tally` and the `Digests`."""

    TALLY, DIGESTS = "tally", "digests"

    def __init__(self, plan: JoinPlan, describe: bool) -> None:
        self._plan = plan
        self._describe = describe

    def process(self, gathered: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[Any]:
        plan, (_, ends) = self._plan, gathered
        by_stream: dict[int, FoundSegments] = dict(sorted(ends["plans"]))
        streams = [PortionReport(stream) for stream in range(len(plan.readers))]
        for portion in ends["read"]:
            streams[portion.stream] += portion
        parts: list[tuple[Report, Tally]] = list(ends["joined"])
        report = add_reports(of_part for of_part, _ in parts)
        require_all_arrived(streams, [by_stream[stream.stream].count for stream in streams], report)
        systems = plan.systems or natural_order(streams[0].systems)
        sides = plan.sides_of(systems)
        require_clear_ids(report, plan.sides)
        if COVERAGES[plan.coverage].complete:
            require_complete(report, sides, {stream.stream: stream.lost.read for stream in streams})
        different = mismatches(report)
        if different and "other-documents" not in plan.allow:
            raise InputError(
                joined(sentences(different), separator="; "),
                "equal ids must be of the same document: score outputs for the same documents; if "
                "the differences are meant, add --allow other-documents",
            )
        of_parts = sum((of_part for _, of_part in parts), Tally())
        # As for all forms of input: before conditions and rejected records leave segments out.
        Expected(segments=plan.expected).require_segments(of_parts.read + streams[0].lost.read)
        tally = sum((stream.lost for stream in streams), of_parts)
        for system in systems:
            # If no segment is left at all, the last step of the job says why.
            if report.segments and not tally.scored.get(system):
                raise InputError(
                    f"candidates {system}: none of the {report.segments:,} segments can be scored",
                    "check that the ids are those of the references, and check --coverage, which "
                    f"is {plan.coverage}" + (", and --where" if plan.has_conditions else ""),
                )
        yield FoundSegments(
            tally.read,
            added(
                [
                    *(notice for of_stream in by_stream.values() for notice in of_stream.notices),
                    *coverage_notices(plan.coverage, report, sides, tally.left_out),
                    *different,
                ]
            ),
            tuple(dict.fromkeys(note for of in by_stream.values() for note in of.notes)),
            tuple(self._inputs(by_stream)) if self._describe else (),
            systems,
            found_coverage(plan.coverage, report, systems, sides[len(sides) - len(systems) :]),
        )
        yield TaggedOutput(self.TALLY, tally)
        if self._describe:
            digests = tuple(
                f"{plan.readers[stream].digest_method}:{streams[stream].digest:032x}"
                for stream in self._order()
            )
            yield TaggedOutput(self.DIGESTS, Digests(tally.read, digests))

    def _order(self) -> list[int]:
        """The numbers of the streams, with those of the systems first."""
        count, systems = len(self._plan.readers), len(self._plan.systems)
        return [*range(count - systems, count), *range(count - systems)]

    def _inputs(self, by_stream: Mapping[int, FoundSegments]) -> Iterator[FoundInput]:
        references = len(self._plan.readers) - len(self._plan.systems)
        for stream in self._order():
            (described,) = by_stream[stream].inputs
            if self._plan.is_long:
                yield described
            elif stream < references:
                yield dataclasses.replace(described, role="references")
            else:
                system = self._plan.systems[stream - references]
                yield dataclasses.replace(described, role="candidates", system=system)


class ChooseBuckets(beam.DoFn):
    """(0, all portions) -> (number of the stream, portion, number of buckets)."""

    def __init__(self, readers: Sequence[RecordFiles]) -> None:
        self._readers = readers

    def process(self, gathered: tuple[int, Iterable[tuple[int, Any]]]) -> Iterator[Any]:
        lacking = [{*portion.chosen.lacking} for portion in dict(gathered[1]).values()]
        for column in sorted(set.intersection(*lacking)):
            raise InputError(
                f"no file of the join has the column {column} (--where)",
                "check the name of the column",
            )
        total = sum(portion.bytes for _, portion in gathered[1])
        buckets = min(max(-(-total // _BUCKET_BYTES), 1), _MOST_BUCKETS)
        PROGRESS.begin("scoring", total)
        for stream, portion in gathered[1]:
            yield stream, portion, buckets


class SendRows(ThreadedDoFn):
    """Portions of all streams -> (bucket, message), and what became of the records."""

    REPORTS, REJECTED, SYSTEMS = "reports", "rejected", "systems"

    def __init__(self, plan: JoinPlan, threads: int, describe: bool) -> None:
        super().__init__(threads)
        self._readers = plan.readers
        self._rejects = plan.on_bad_record == "reject"
        self._folder = plan.folder
        self._describe = describe

    def weight(self, output: Any) -> int:
        # A compressed file is one portion, of any size.
        if isinstance(output, TaggedOutput):
            return len(output.value.raw) if output.tag == self.REJECTED else 0
        return len(output[1])

    def work(self, element: tuple[int, Any, int]) -> Iterator[Any]:
        stream, portion, buckets = element
        reader = self._readers[stream]
        chosen = portion.chosen
        report = PortionReport(stream)
        bad = FoundBad()
        waiting: dict[IdKind, list[pa.Table]] = {}
        for read in reader.read(portion, self._describe):
            rows = join_rows(read, chosen, reader.stream.label)
            systems: list[str] = []
            if SYSTEM in rows.rows.column_names:
                for chunk in rows.rows[SYSTEM].chunks:
                    systems += chunk.dictionary.to_pylist()
            report += PortionReport(
                stream,
                rows.read,
                len(rows.rows),
                rows.lost,
                read.digest or 0,
                systems_in([systems]),
            )
            if self._rejects:
                for record in rows.bad:
                    yield TaggedOutput(self.REJECTED, record)
            else:
                bad.add(rows.bad, len(rows.bad))
            waiting.setdefault(rows.kind, []).append(rows.rows)
            if (
                sum(table.nbytes for tables in waiting.values() for table in tables)
                > _MESSAGE_BYTES
            ):
                yield from self._folder.keep(_messages(waiting, stream, buckets))
        if bad.segments:
            raise bad_records_error(bad.first, report.read, bad.segments, "records")
        yield from self._folder.keep(_messages(waiting, stream, buckets))
        yield TaggedOutput(self.REPORTS, (0, report))
        yield TaggedOutput(self.SYSTEMS, (0, (buckets, report.systems)))


def _messages(
    waiting: dict[IdKind, list[pa.Table]], stream: int, buckets: int
) -> Iterator[tuple[int, bytes]]:
    """The messages of the tables that wait, which are removed."""
    for kind, tables in waiting.items():
        rows = pa.concat_tables(tables, promote_options="default").unify_dictionaries()
        yield from messages_of(rows, stream, kind, buckets)
    waiting.clear()


class NameSystems(beam.DoFn):
    """(0, (number of buckets, names of systems) of all portions) -> (bucket, all names)."""

    def __init__(self, reader: RecordFiles) -> None:
        self._column = str(reader.wanted.system)
        self._label = reader.stream.label

    def process(
        self, gathered: tuple[int, Iterable[tuple[int, tuple[str, ...]]]]
    ) -> Iterator[tuple[int, tuple[str, ...]]]:
        named = list(gathered[1])
        systems = systems_in(names for _, names in named)
        require_names(systems, self._column, self._label)
        for bucket in range(named[0][0]):
            yield bucket, natural_order(systems)
