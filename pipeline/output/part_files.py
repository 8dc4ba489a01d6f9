"""Segment scores as Parquet part files. The workers write them, the last step puts them in place.

A worker writes a part file for each bundle (several ones if the bundle is long, or if it is written
on several threads) to a hidden folder, under a name that no other attempt uses. Only the name goes
to the next step. Files of failed attempts are never referenced. The last step gets the names of
all finished bundles: it checks the rows of these files, and publication.py puts them in place.

Two signs show that a part file is beam-bleu's: the run in its name, and the same run in the
metadata of the file. beam-bleu moves and removes only such files.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import RUN_KEY
from beam_bleu.pipeline.output.output_folder import final_folder, new_part_file, staging_folder
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.score.segment_table import TEXTS
from beam_bleu.transforms.wiring.filesystems import join
from beam_bleu.transforms.wiring.threads import CollectBundles

__all__ = ["WritePartFiles"]

_ROW_GROUP_ROWS = 1 << 16
_ROW_GROUP_BYTES = 1 << 26
"""A row group ends at one of these, because what is kept of a segment can be long. It is in memory
until it is written."""

_PART_FILE_ROWS = 1 << 22
"""About 50 MB, if nothing is kept."""
_PART_FILE_BYTES = 1 << 30
"""The same for long texts, before they are compressed."""


_DIFFERENT = ("index", "score", "matches")
"""Columns with many different values."""


class WritePartFiles(CollectBundles):
    """Writes tables to Parquet files of a run; emits the name of each finished file.

    On several threads, a bundle writes several files at the same time.
    """

    def __init__(self, output: str, run: str, schema: pa.Schema, threads: int = 1) -> None:
        super().__init__(threads)
        self._folder = staging_folder(output, run)
        self._run = run
        self._schema = schema.with_metadata({RUN_KEY: run})

    def new_collector(self) -> _PartFiles:
        return _PartFiles(self._folder, self._run, self._schema)

    def collected(self, collector: _PartFiles) -> list[str]:
        return collector.finished()


class _PartFiles:
    """Files that are written one after the other."""

    def __init__(self, folder: str, run: str, schema: pa.Schema) -> None:
        self._folder = folder
        self._run = run
        self._schema = schema
        self._names: list[str] = []
        self._open: _PartFile | None = None

    def add(self, table: pa.Table) -> None:
        """Adds rows."""
        with storage.writing(self._folder):
            if self._open is None:
                self._open = _PartFile(self._folder, self._run, self._schema)
            self._open.add(table)
            if self._open.rows >= _PART_FILE_ROWS or self._open.bytes >= _PART_FILE_BYTES:
                self._close(self._open)

    def finished(self) -> list[str]:
        """The names of all files, none of which is written to any more."""
        if self._open is not None:
            with storage.writing(self._folder):
                self._close(self._open)
        return self._names

    def _close(self, part_file: _PartFile) -> None:
        part_file.close()
        self._names.append(part_file.name)
        self._open = None


class _PartFile:
    """A file that is being written.

    Attributes:
      name: its name; no other file ever has the same name.
      rows: the number of its rows.
      bytes: the bytes of these rows in memory.
    """

    def __init__(self, folder: str, run: str, schema: pa.Schema) -> None:
        self.name = new_part_file(run)
        self.rows = self.bytes = 0
        self._waiting: list[pa.Table] = []
        self._waiting_bytes = 0
        path = join(folder, self.name)
        self._file = storage.created(path)
        # All other columns have few different values, except those that are kept.
        repeated = [
            _leaf(field)
            for field in schema
            if field.name not in _DIFFERENT and not _is_kept(field.type)
        ]
        # They need two thirds of the time of pyarrow's defaults, and make smaller files. With
        # differences of matches in place of a dictionary, files are 2 % larger, but need less time.
        self._writer = pq.ParquetWriter(
            self._file,
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

    def add(self, table: pa.Table) -> None:
        """Adds rows."""
        size = table.nbytes
        self.rows += len(table)
        self.bytes += size
        self._waiting.append(table)
        self._waiting_bytes += size
        is_long = self._waiting_bytes >= _ROW_GROUP_BYTES
        if is_long or sum(map(len, self._waiting)) >= _ROW_GROUP_ROWS:
            self._write_group()

    def close(self) -> None:
        """Writes the waiting rows and the end of the file."""
        if self._waiting:
            self._write_group()
        self._writer.close()
        self._file.close()

    def _write_group(self) -> None:
        self._writer.write_table(pa.concat_tables(self._waiting))
        self._waiting = []
        self._waiting_bytes = 0


def _is_kept(kind: pa.DataType) -> bool:
    """Whether a column has texts that are kept: only these are large."""
    return bool(pa.types.is_large_string(kind) or kind == TEXTS)


def _leaf(field: pa.Field) -> str:
    """The name of a column in Parquet: that of its elements, if it has lists."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else str(field.name)


def check_rows(output: str, run: str, part_files: Sequence[str], rows: int) -> None:
    """Checks that all rows were written. Each part file has its number of rows in its metadata.

    Args:
      output: the job's folder.
      run: the run's name.
      part_files: the names of the part files.
      rows: the right number of rows, of all part files together.

    Raises:
      JobError: they have more or fewer, or cannot be read.
    """
    staged, final = staging_folder(output, run), final_folder(output)
    places = {name: folder for folder in (final, staged) for name in storage.names(folder)}
    missing = [name for name in part_files if name not in places]
    if missing:
        raise JobError(
            f"{len(missing)} of {len(part_files)} files of segment scores are not in the folder "
            f"where they were written, for example {missing[0]}",
            "check that all workers see the same --output, and that nothing removes files from it",
        )
    paths = [join(places[name], name) for name in part_files]
    written = sum(storage.each(_rows_of, paths))
    if written != rows:
        raise JobError(
            f"there should be {rows} segment scores, but {written} were written",
            "the runner lost or repeated data: do not use it for this job",
        )


def metadata_of(path: str) -> pq.FileMetaData:
    """The metadata of a Parquet file, read from its end."""
    with storage.opened(path) as file:
        return pq.read_metadata(file)


def _rows_of(path: str) -> int:
    try:
        return int(metadata_of(path).num_rows)
    except Exception as error:
        raise JobError(f"{path} cannot be read: {error}", "check the folder") from error
