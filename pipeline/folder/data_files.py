"""Writes the data files of a run on its workers: segment scores, and rejected records.

A worker writes files for each bundle, under names that no other attempt uses, and sends on only the
names and counts. Files of failed attempts are never referenced; the last step removes them.
"""

from __future__ import annotations

import base64
import collections
import dataclasses
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.metrics.metric import Metrics
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from beam_bleu.pipeline.errors.printable import json_text
from beam_bleu.pipeline.folder import storage
from beam_bleu.pipeline.folder.file_names import REJECTED, RUN_KEY, SEGMENT_SCORES, new_data_file
from beam_bleu.transforms.pairing.paired import BAD_REASONS, BadRecord
from beam_bleu.transforms.score.segment_table import TEXTS
from beam_bleu.transforms.totals.closing import FIRST, Rejected
from beam_bleu.transforms.wiring.filesystems import join
from beam_bleu.transforms.wiring.steps import CollectBundles

# Row groups are kept in memory until they are written: 80,000 rows, or fewer if texts are kept.
_ROW_GROUP_BYTES = 1 << 23
_PART_FILE_BYTES = 1 << 30  # before compression; afterwards about 100 MB if no texts are kept
_DIFFERENT = ("index", "score", "matches")


PartFile = tuple[str, int]  # the name of a finished file, and the number of its rows


class WritePartFiles(CollectBundles):
    """Writes tables to a run's Parquet files; each thread of a bundle writes to its own file."""

    def __init__(self, output: str, run: str, schema: pa.Schema, threads: int = 1) -> None:
        super().__init__(threads)
        self._output, self._run, self._schema = output, run, schema.with_metadata({RUN_KEY: run})

    def new_collector(self) -> _PartFiles:
        return _PartFiles(self._output, self._run, self._schema)

    def collected(self, collector: _PartFiles) -> list[PartFile]:
        return collector.finished()


class _PartFiles:
    """The Parquet files that one thread writes, one after the other. Mutable."""

    def __init__(self, output: str, run: str, schema: pa.Schema) -> None:
        self._output, self._run, self._schema = output, run, schema
        self._finished: list[PartFile] = []
        self._waiting: list[pa.Table] = []
        self._writer: pq.ParquetWriter | None = None

    def add(self, table: pa.Table) -> None:
        with storage.writing(self._output):
            self._waiting.append(table)
            if sum(waiting.nbytes for waiting in self._waiting) >= _ROW_GROUP_BYTES:
                self._write_group()
                if self._bytes >= _PART_FILE_BYTES:
                    self._end()

    def finished(self) -> list[PartFile]:
        with storage.writing(self._output):
            if self._waiting:
                self._write_group()
            if self._writer is not None:
                self._end()
        return self._finished

    def _write_group(self) -> None:
        if self._writer is None:
            self._name = new_data_file(SEGMENT_SCORES, self._run)
            self._rows = self._bytes = 0
            self._file = storage.created(join(self._output, self._name))
            self._writer = _writer(self._file, self._schema)
        group = pa.concat_tables(self._waiting)
        self._writer.write_table(group)
        self._rows += len(group)
        self._bytes += group.nbytes
        self._waiting = []

    def _end(self) -> None:
        assert self._writer is not None
        self._writer.close()
        self._file.close()
        self._finished.append((self._name, self._rows))
        self._writer = None


def _writer(file: Any, schema: pa.Schema) -> pq.ParquetWriter:
    # All columns but these and the kept texts, which are large, have few distinct values.
    repeated = [
        _leaf(field)
        for field in schema
        if field.name not in _DIFFERENT and field.type not in (pa.large_string(), TEXTS)
    ]
    # These settings take two thirds of the time of pyarrow's defaults, and make smaller files.
    # Delta-encoding matches instead of a dictionary makes files 2 % larger, but takes less time.
    return pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=repeated,
        column_encoding={
            _leaf(field): "DELTA_BINARY_PACKED"
            for field in schema
            if field.name in _DIFFERENT and field.name != "score"
        },
        # Each row group has all systems, so statistics of systems would let readers skip none.
        write_statistics=["index", "score"],
    )


def _leaf(field: pa.Field) -> str:
    """The name of a column in Parquet; for a column of lists, that of their elements."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else str(field.name)


class WriteRejected(beam.DoFn):
    def __init__(self, output: str, run: str) -> None:
        self._output = output
        self._run = run
        self._counters = {
            reason: Metrics.counter("beam_bleu", f"rejected_{reason.replace('-', '_')}")
            for reason in BAD_REASONS
        }

    def start_bundle(self) -> None:
        self._file: Any = None
        self._reasons: collections.Counter[str] = collections.Counter()
        self._first: list[BadRecord] = []

    def process(self, bad: BadRecord) -> None:
        self._counters[bad.reason].inc()
        with storage.writing(self._output):
            if self._file is None:
                self._name = new_data_file(REJECTED, self._run)
                self._file = storage.created(join(self._output, self._name))
            self._file.write(rejected_line(bad))
        self._reasons[bad.reason] += 1
        # Records usually arrive in order, so this runs only for the first few.
        if len(self._first) < FIRST or bad.place_in_input < self._first[-1].place_in_input:
            first = [*self._first, dataclasses.replace(bad, raw=b"")]
            self._first[:] = sorted(first, key=lambda record: record.place_in_input)[:FIRST]

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._file is not None:
            with storage.writing(self._output):
                self._file.close()
            written = Rejected((self._name,), dict(self._reasons), tuple(self._first))
            yield GlobalWindows.windowed_value(written)


def rejected_line(bad: BadRecord) -> bytes:
    """A rejected record as a JSON line; if it is not UTF-8, `raw_base64` has its exact bytes."""
    raw, exact = bad.raw.decode(errors="backslashreplace"), None
    if raw.encode() != bad.raw:
        exact = base64.b64encode(bad.raw).decode("ascii")
    content = {
        "source": bad.label,
        "path": bad.path,
        "position": bad.place,
        "segment": bad.number,
        "reason": bad.reason,
        "what": bad.what,
        "raw": raw,
        "raw_base64": exact,
    }
    return json_text(content).encode() + b"\n"
