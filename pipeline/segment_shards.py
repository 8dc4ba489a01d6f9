"""Segment scores as Parquet shards, which the workers write and the last step puts in place.

A worker writes a shard for each bundle (or several, if it is long) under a name
that no other attempt has, aside from where they will be, and only the name goes
on. Files of failed attempts are never referenced. The last step has the names of
all finished bundles: it checks the rows of these shards, and publication.py puts
them in place.

    DIR/segment_scores/part-RUN-*.parquet                of the last successful run
    DIR/.segment_scores/RUN/staged/part-RUN-*.parquet    of one that is under way
    DIR/.segment_scores/RUN/former/*                     what it is about to replace

A shard is known to be beam-bleu's by two signs: the run in its name, and the same run
in the metadata of the file. Only such files are ever moved or removed.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence

import apache_beam as beam
import pyarrow as pa
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue
from pyarrow.parquet import FileMetaData, ParquetWriter, read_metadata

from beam_bleu.pipeline import storage
from beam_bleu.transforms.errors import JobError

__all__ = ["WriteShards"]

SEGMENT_SCORES = "segment_scores"
ASIDE = f".{SEGMENT_SCORES}"

RUN_KEY = "beam-bleu.run"
"""The key of a shard's metadata under which it names its run."""

_SHARD = re.compile(r"part-(\w+)-[0-9a-f]{32}\.parquet")

_ROW_GROUP_ROWS = 1 << 16
_SHARD_ROWS = 1 << 22
"""About 50 MB."""


def final_folder(output: str) -> str:
    """Where the shards of a successful run are."""
    return FileSystems.join(output, SEGMENT_SCORES)


def staging_folder(output: str, run: str) -> str:
    """Where the shards of a run are until all of them are written."""
    return FileSystems.join(output, ASIDE, run, "staged")


def run_of(name: str) -> str | None:
    """The run that a file's name says it is a shard of; None if it is called otherwise."""
    found = _SHARD.fullmatch(name)
    return found[1] if found else None


class WriteShards(beam.DoFn):
    """Writes tables to Parquet files of a run; emits the name of each finished file."""

    def __init__(self, output: str, run: str, schema: pa.Schema) -> None:
        self._folder = staging_folder(output, run)
        self._run = run
        self._schema = schema.with_metadata({RUN_KEY: run})

    def start_bundle(self) -> None:
        self._shard: _Shard | None = None

    def process(self, table: pa.Table) -> Iterator[str]:
        with storage.writing(self._folder):
            if self._shard is None:
                self._shard = _Shard(self._folder, self._run, self._schema)
            self._shard.add(table)
            if self._shard.rows < _SHARD_ROWS:
                return
        yield self._finished()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._shard is not None:
            yield GlobalWindows.windowed_value(self._finished())

    def _finished(self) -> str:
        shard, self._shard = self._shard, None
        assert shard is not None
        with storage.writing(self._folder):
            shard.close()
        return shard.name


class _Shard:
    """A file that is being written.

    Attributes:
      name: its name, which is its own for ever.
      rows: how many it has.
    """

    def __init__(self, folder: str, run: str, schema: pa.Schema) -> None:
        self.name = f"part-{run}-{uuid.uuid4().hex}.parquet"
        self.rows = 0
        self._waiting: list[pa.Table] = []
        path = FileSystems.join(folder, self.name)
        self._file = FileSystems.create(
            path, "application/vnd.apache.parquet", CompressionTypes.UNCOMPRESSED
        )
        small = ["sys_len", "ref_len", "matches.list.element", "totals.list.element"]
        # As small as with any other choices, in two thirds of the time of pyarrow's.
        self._writer = ParquetWriter(
            self._file,
            schema,
            compression="zstd",
            use_dictionary=["system", *small],
            column_encoding={"index": "DELTA_BINARY_PACKED"},
            write_statistics=["index", "system", "score"],
        )

    def add(self, table: pa.Table) -> None:
        """Adds rows."""
        self.rows += len(table)
        self._waiting.append(table)
        if sum(map(len, self._waiting)) >= _ROW_GROUP_ROWS:
            self._write_group()

    def close(self) -> None:
        """Writes what waits, and the end of the file."""
        if self._waiting:
            self._write_group()
        self._writer.close()
        self._file.close()

    def _write_group(self) -> None:
        self._writer.write_table(pa.concat_tables(self._waiting))
        self._waiting = []


def check_rows(output: str, run: str, shards: Sequence[str], rows: int) -> None:
    """Checks that all rows were written, by what the shards themselves say.

    Args:
      output: the job's folder.
      run: the run's name.
      shards: the names of the shards.
      rows: how many rows they have to have.

    Raises:
      JobError: they have more or fewer, or cannot be read.
    """
    staged, final = staging_folder(output, run), final_folder(output)
    places = {name: folder for folder in (final, staged) for name in storage.names(folder)}
    missing = [name for name in shards if name not in places]
    if missing:
        raise JobError(
            f"the count does not close: {len(missing)} of {len(shards)} shards of segment "
            f"scores are not where they were written, among them {missing[0]}",
            "all workers must see the same --output, and nobody else may remove files from it",
        )
    paths = [FileSystems.join(places[name], name) for name in shards]
    written = sum(storage.each(_rows_of, paths))
    if written != rows:
        raise JobError(
            f"the count does not close: {rows} segment scores are due, {written} were written",
            "the runner lost or repeated data: do not trust it with this job",
        )


def metadata_of(path: str) -> FileMetaData:
    """What a Parquet file says of itself, read from its end."""
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        return read_metadata(file)


def _rows_of(path: str) -> int:
    try:
        return int(metadata_of(path).num_rows)
    except Exception as error:
        raise JobError(f"{path} cannot be read: {error}", "check the folder") from error
