"""The steps of a join before the shuffle: they read records, and send their rows to partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import TaggedOutput

from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.pairing.bad_records import FoundBad, bad_records_error
from beam_bleu.transforms.pairing.records.columns.wanted import Chosen
from beam_bleu.transforms.pairing.records.joins.id_kinds import IdKind
from beam_bleu.transforms.pairing.records.joins.join_plan import JoinPlan
from beam_bleu.transforms.pairing.records.joins.join_rows import join_rows
from beam_bleu.transforms.pairing.records.joins.row_messages import SYSTEM, messages_of
from beam_bleu.transforms.pairing.records.joins.unit_report import (
    UnitReport,
    require_names,
    systems_in,
)
from beam_bleu.transforms.pairing.records.record_reader import RecordReader
from beam_bleu.transforms.progress import PROGRESS
from beam_bleu.transforms.shown_names import natural_order
from beam_bleu.transforms.wiring.threads import ThreadedDoFn

_PARTITION_BYTES = 1 << 24
"""Bytes of the files for each partition. A worker holds the texts of one partition at a time. They
can be several times as large, because files can be compressed."""

_MOST_PARTITIONS = 1 << 12
"""Each work unit sends a message to each partition, and more messages would be too small."""

_MESSAGE_BYTES = 1 << 25
"""About how many bytes of a work unit are cut into messages at a time. Compressed files are one
work unit, of any size."""


class ChoosePartitions(beam.DoFn):
    """(0, all work units) -> (number of the stream, work unit, number of partitions)."""

    def __init__(self, readers: Sequence[RecordReader]) -> None:
        self._readers = readers

    def process(self, gathered: tuple[int, Iterable[tuple[int, Any]]]) -> Iterator[Any]:
        first_units = dict(gathered[1])
        require_columns_of_conditions(
            {
                self._readers[stream].stream.label: self._readers[stream].chosen(unit)
                for stream, unit in sorted(first_units.items(), key=lambda item: item[0])
            }
        )
        total = sum(self._readers[stream].unit_bytes(unit) for stream, unit in gathered[1])
        partitions = min(max(-(-total // _PARTITION_BYTES), 1), _MOST_PARTITIONS)
        for stream, unit in gathered[1]:
            yield stream, unit, partitions
        PROGRESS.begin("scoring", total)


def require_columns_of_conditions(chosen: Mapping[str, Chosen]) -> None:
    """Checks that each condition has a column in one stream or several.

    Args:
      chosen: the columns that are read, by the name of the stream.

    Raises:
      InputError: no stream has the column of a condition.
    """
    lacking = [{each.column for each in of_stream.lacking} for of_stream in chosen.values()]
    for column in sorted(set.intersection(*lacking)):
        labels: dict[str, list[str]] = {}
        for label, of_stream in chosen.items():
            (listed,) = {each.columns for each in of_stream.lacking if each.column == column}
            labels.setdefault(listed, []).append(label)
        raise InputError(
            f"no file of the join has the column {column} (--where)",
            "; ".join(f"of {joined(of)}, {listed}" for listed, of in labels.items()),
        )


class SendRows(ThreadedDoFn):
    """Work units of all streams -> (partition, message), and what became of the records."""

    REPORTS, REJECTED, SYSTEMS = "reports", "rejected", "systems"

    def __init__(self, plan: JoinPlan, threads: int, describe: bool) -> None:
        super().__init__(threads)
        self._readers = plan.readers
        self._rejects = plan.on_bad_record == "reject"
        self._folder = plan.folder
        self._describe = describe

    def weight(self, output: Any) -> int:
        # A compressed file is one work unit, of any size.
        if isinstance(output, TaggedOutput):
            return len(output.value.raw) if output.tag == self.REJECTED else 0
        return len(output[1])

    def work(self, element: tuple[int, Any, int]) -> Iterator[Any]:
        stream, unit, partitions = element
        reader = self._readers[stream]
        chosen = reader.chosen(unit)
        report = UnitReport(stream)
        bad = FoundBad()
        waiting: dict[IdKind, list[pa.Table]] = {}
        for read in reader.read(unit, self._describe):
            rows = join_rows(read, chosen, reader.stream.label)
            systems: list[str] = []
            if SYSTEM in rows.rows.column_names:
                for chunk in rows.rows[SYSTEM].chunks:
                    systems += chunk.dictionary.to_pylist()
            report += UnitReport(
                stream,
                rows.read,
                len(rows.rows),
                rows.lost,
                read.digest or 0,
                systems_in([systems]),
            )
            if self._rejects:
                for each in rows.bad:
                    yield TaggedOutput(self.REJECTED, each)
            else:
                bad.add(rows.bad, len(rows.bad))
            waiting.setdefault(rows.kind, []).append(rows.rows)
            if sum(each.nbytes for tables in waiting.values() for each in tables) > _MESSAGE_BYTES:
                yield from self._folder.keep(_messages(waiting, stream, partitions))
        if bad.segments:
            raise bad_records_error(bad.first, report.read, bad.segments, "records")
        yield from self._folder.keep(_messages(waiting, stream, partitions))
        yield TaggedOutput(self.REPORTS, (0, report))
        yield TaggedOutput(self.SYSTEMS, (0, (partitions, report.systems)))


def _messages(
    waiting: dict[IdKind, list[pa.Table]], stream: int, partitions: int
) -> Iterator[tuple[int, bytes]]:
    """The messages of the tables that wait, which are removed."""
    for kind, tables in waiting.items():
        rows = pa.concat_tables(tables, promote_options="default").unify_dictionaries()
        yield from messages_of(rows, stream, kind, partitions)
    waiting.clear()


class NameSystems(beam.DoFn):
    """(0, (number of partitions, names of systems) of all units) -> (partition, all names)."""

    def __init__(self, reader: RecordReader) -> None:
        self._column = str(reader.wanted.system)
        self._label = reader.stream.label

    def process(
        self, gathered: tuple[int, Iterable[tuple[int, tuple[str, ...]]]]
    ) -> Iterator[tuple[int, tuple[str, ...]]]:
        named = list(gathered[1])
        systems = systems_in(names for _, names in named)
        require_names(systems, self._column, self._label)
        for partition in range(named[0][0]):
            yield partition, natural_order(systems)
