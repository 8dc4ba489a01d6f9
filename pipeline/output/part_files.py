"""Segment scores as Parquet part files, which the workers write.

A worker writes the part files of each bundle under names that no other attempt uses. Only the name
and the number of rows go to the next step. Files of failed attempts are never referenced, and the
last step of the run removes them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import RUN_KEY, SEGMENT_SCORES, new_data_file
from beam_bleu.transforms.score.segment_table import TEXTS
from beam_bleu.transforms.wiring.filesystems import join
from beam_bleu.transforms.wiring.threads import CollectBundles

__all__ = ["PartFile", "WritePartFiles"]

_ROW_GROUP_BYTES = 1 << 23
"""A row group is in memory until it is written: 80,000 rows, or fewer if texts are kept."""

_PART_FILE_BYTES = 1 << 30
"""Before they are compressed: about 100 MB, if nothing is kept."""

_DIFFERENT = ("index", "score", "matches")
"""Columns with many different values."""


@dataclasses.dataclass(frozen=True)
class PartFile:
    """A finished file: its name, which no other file ever has, and the number of its rows."""

    name: str
    rows: int


class WritePartFiles(CollectBundles):
    """Writes tables to Parquet files of a run; emits the `PartFile` of each finished file.

    On several threads, a bundle writes several files at the same time.
    """

    def __init__(self, output: str, run: str, schema: pa.Schema, threads: int = 1) -> None:
        super().__init__(threads)
        self._output, self._run, self._schema = output, run, schema.with_metadata({RUN_KEY: run})

    def new_collector(self) -> _PartFiles:
        return _PartFiles(self._output, self._run, self._schema)

    def collected(self, collector: _PartFiles) -> list[PartFile]:
        return collector.finished()


class _PartFiles:
    """Files that are written one after the other. Mutable."""

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
        """All files, none of which is written to any more."""
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
        self._finished.append(PartFile(self._name, self._rows))
        self._writer = None


def _writer(file: Any, schema: pa.Schema) -> pq.ParquetWriter:
    # All other columns have few different values, except texts that are kept: these are large.
    repeated = [
        _leaf(field)
        for field in schema
        if field.name not in _DIFFERENT and field.type not in (pa.large_string(), TEXTS)
    ]
    # They need two thirds of the time of pyarrow's defaults, and make smaller files. With
    # differences of matches in place of a dictionary, files are 2 % larger, but need less time.
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
        # Each row group has all systems, so a reader could skip none of them by the system.
        write_statistics=["index", "score"],
    )


def _leaf(field: pa.Field) -> str:
    """The name of a column in Parquet: that of its elements, if it has lists."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else str(field.name)
