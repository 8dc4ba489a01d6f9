"""Wires joins of records to Beam: the one place where text goes through a shuffle.

A reader gives the records of a work unit. Their rows go to partitions by their ids, as few large
messages. Then each partition is joined on its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection, TaggedOutput
from apache_beam.typehints import typehints

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.lines.expected import Expected
from beam_bleu.transforms.pairing.paired import Digests, FoundInput, FoundSegments, Paired
from beam_bleu.transforms.pairing.records.joins.coverage import (
    COVERAGES,
    Report,
    add_reports,
    coverage_notes,
    found_coverage,
    require_clear_ids,
    require_complete,
)
from beam_bleu.transforms.pairing.records.joins.join_plan import JoinPlan
from beam_bleu.transforms.pairing.records.joins.send_rows import (
    ChoosePartitions,
    NameSystems,
    SendRows,
)
from beam_bleu.transforms.pairing.records.joins.unit_report import UnitReport, require_all_arrived
from beam_bleu.transforms.pairing.tally import Tally
from beam_bleu.transforms.shown_names import natural_order
from beam_bleu.transforms.wiring.coders import as_batches
from beam_bleu.transforms.wiring.steps import Step

__all__ = ["PairByIds"]


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
        units, found = self._planned(root)
        read = (
            units
            | "Gather the plans" >> beam.GroupByKey()
            | "Choose the partitions" >> beam.ParDo(step(ChoosePartitions(plan.readers)))
            | "Spread the work units" >> beam.Reshuffle()
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
        ends = {"found": found, "read": read[SendRows.REPORTS], "joined": joined[_Join.REPORTS]}
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
        """The work units and what was found of all streams: (0, (number of the stream, value))."""
        units, found = [], []
        for number, reader in enumerate(self._plan.readers):
            label = reader.stream.label
            planned = root | f"Plan {label}" >> reader.plan(
                self._threads, self._step, self._describe
            )
            units.append(planned.units | f"Number the units of {label}" >> _numbered(number))
            found.append(planned.found | f"Number the plan of {label}" >> _numbered(number))
        return (
            units | "Take all units" >> beam.Flatten(),
            found | "Take all plans" >> beam.Flatten(),
        )


def _numbered(number: int) -> beam.PTransform:
    return beam.Map(_of_stream, number)


def _of_stream(value: Any, number: int) -> tuple[int, tuple[int, Any]]:
    return 0, (number, value)


def _messages_only(partition: int, messages: Iterable[bytes]) -> tuple[int, Mapping[str, Any]]:
    return partition, {"messages": messages, "systems": ()}


class _Join(beam.DoFn):
    """(partition, its messages and the names of the systems) -> batches of segments."""

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
        found: dict[int, FoundSegments] = dict(sorted(ends["found"]))
        units = [UnitReport(stream) for stream in range(len(plan.readers))]
        for unit in ends["read"]:
            units[unit.stream] += unit
        parts: list[tuple[Report, Tally]] = list(ends["joined"])
        report = add_reports(each for each, _ in parts)
        require_all_arrived(units, [found[unit.stream].count for unit in units], report)
        systems = plan.systems or natural_order(units[0].systems)
        sides = plan.sides_of(systems)
        require_clear_ids(report, plan.sides)
        if COVERAGES[plan.coverage].complete:
            require_complete(report, sides, {unit.stream: unit.lost.read for unit in units})
        of_parts = sum((each for _, each in parts), Tally())
        # As for all forms of input: before conditions and rejected records leave segments out.
        Expected(segments=plan.expected).require_segments(of_parts.read + units[0].lost.read)
        tally = sum((unit.lost for unit in units), of_parts)
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
            tuple(dict.fromkeys(each for of in found.values() for each in of.warnings))
            + coverage_notes(plan.coverage, report, sides, tally.left_out),
            tuple(dict.fromkeys(each for of in found.values() for each in of.notes)),
            tuple(self._inputs(found)) if self._describe else (),
            systems,
            found_coverage(plan.coverage, report, systems, sides[len(sides) - len(systems) :]),
        )
        yield TaggedOutput(self.TALLY, tally)
        if self._describe:
            digests = tuple(
                f"{plan.readers[stream].digest_method}:{units[stream].digest:032x}"
                for stream in self._order()
            )
            yield TaggedOutput(self.DIGESTS, Digests(tally.read, digests))

    def _order(self) -> list[int]:
        """The numbers of the streams, with those of the systems first."""
        count, systems = len(self._plan.readers), len(self._plan.systems)
        return [*range(count - systems, count), *range(count - systems)]

    def _inputs(self, found: Mapping[int, FoundSegments]) -> Iterator[FoundInput]:
        references = len(self._plan.readers) - len(self._plan.systems)
        for stream in self._order():
            (described,) = found[stream].inputs
            if self._plan.is_long:
                yield described
            elif stream < references:
                yield dataclasses.replace(described, role="references")
            else:
                system = self._plan.systems[stream - references]
                yield dataclasses.replace(described, role="candidates", system=system)
