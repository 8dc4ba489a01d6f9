"""Segment scores as Parquet shards, which the workers write and the last step puts in place.

A worker writes a shard for each bundle (or several, if it is long) under a name
that no other attempt has, aside from where they will be, and only the name goes
on. What a failed attempt has written is named by nobody. The last step has the
names of all finished bundles: it checks the rows of these shards, moves those of
a former run aside and these in their place, and takes that back if the result
document cannot be written. So a reader sees one run's shards or the other's; a
mixture only in the moment of the moves, which no filesystem does at once.

    DIR/segment_scores/part-*.parquet                of the last successful run
    DIR/.segment_scores/RUN/staged/part-*.parquet    of one that is under way
    DIR/.segment_scores/RUN/former/*                 what it is about to replace

One run at a time may write to a DIR: the last step removes what others have staged there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue
from pyarrow.parquet import ParquetWriter, read_metadata

from pipeline.output import RENAMING
from transforms.errors import JobError

__all__ = ["WriteShards"]

SEGMENT_SCORES = "segment_scores"

_ASIDE, _STAGED, _FORMER = f".{SEGMENT_SCORES}", "staged", "former"

_ROW_GROUP_ROWS = 1 << 16
_SHARD_ROWS = 1 << 22
"""About 50 MB."""

_AT_ONCE = 16
"""How many files are looked at, or moved, at a time: an object store takes a while for each."""


def final_folder(output: str) -> str:
    """Where the shards of a successful run are."""
    return FileSystems.join(output, SEGMENT_SCORES)


def staging_folder(output: str, run: str) -> str:
    """Where the shards of a run are until all of them are written."""
    return FileSystems.join(output, _ASIDE, run, _STAGED)


class WriteShards(beam.DoFn):
    """Writes tables to Parquet files in a folder; emits the name of each finished file."""

    def __init__(self, folder: str, schema: pa.Schema) -> None:
        self._folder = folder
        self._schema = schema

    def start_bundle(self) -> None:
        self._shard: _Shard | None = None

    def process(self, table: pa.Table) -> Iterator[str]:
        with _writing(self._folder):
            if self._shard is None:
                self._shard = _Shard(self._folder, self._schema)
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
        with _writing(self._folder):
            shard.close()
        return shard.name


class _Shard:
    """A file that is being written.

    Attributes:
      name: its name, which is its own for ever.
      rows: how many it has.
    """

    def __init__(self, folder: str, schema: pa.Schema) -> None:
        self.name = f"part-{uuid.uuid4().hex}.parquet"
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
    places = {name: folder for folder in (final, staged) for name in _names(folder)}
    missing = [name for name in shards if name not in places]
    if missing:
        raise JobError(
            f"the count does not close: {len(missing)} of {len(shards)} shards of segment "
            f"scores are not where they were written, among them {missing[0]}",
            "all workers must see the same --output",
        )
    written = sum(_each(_rows_of, [FileSystems.join(places[name], name) for name in shards]))
    if written != rows:
        raise JobError(
            f"the count does not close: {rows} segment scores are due, {written} were written",
            "the runner lost or repeated data: do not trust it with this job",
        )


@contextlib.contextmanager
def in_place(output: str, run: str, shards: Sequence[str]) -> Iterator[None]:
    """Puts a run's shards in the place of any former ones; takes that back if the body fails.

    It can be done again, whatever an attempt before has left.

    Other files in the folder stay where they are.

    Args:
      output: the job's folder.
      run: the run's name.
      shards: the names of its shards; none if it has no segment scores.
    """
    final, staged = final_folder(output), staging_folder(output, run)
    former = FileSystems.join(output, _ASIDE, run, _FORMER)
    own = set(shards)
    try:
        with _writing(final):
            _move(lambda name: _is_shard(name) and name not in own, final, former)
            _move(lambda name: name in own, staged, final)
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            _move(lambda name: name in own, final, staged)
            _move(lambda name: True, former, final)
        raise
    # The result is there: what cannot be removed now does no harm, and the next run tries again.
    with contextlib.suppress(Exception):
        _remove(FileSystems.join(output, _ASIDE))
        if not shards:
            _remove_if_empty(final)


def discard(output: str, run: str) -> None:
    """Removes what a run that failed has staged, as far as that is possible."""
    with contextlib.suppress(Exception):
        _remove(staging_folder(output, run))
        _remove_if_empty(FileSystems.join(output, _ASIDE, run, _FORMER))
        _remove_if_empty(FileSystems.join(output, _ASIDE, run))
        _remove_if_empty(FileSystems.join(output, _ASIDE))


@contextlib.contextmanager
def _writing(folder: str) -> Iterator[None]:
    try:
        yield
    except JobError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise JobError(f"{folder} cannot be written: {error}", "check the folder") from error


def _rows_of(path: str) -> int:
    try:
        with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
            return int(read_metadata(file).num_rows)
    except Exception as error:
        raise JobError(f"{path} cannot be read: {error}", "check the folder") from error


def _is_shard(name: str) -> bool:
    """Whether a file in the folder of shards is one, and not somebody's own."""
    return name.startswith("part-") and name.endswith(".parquet")


def _names(folder: str) -> list[str]:
    """The files in a folder; none if there is no such folder."""
    filesystem = FileSystems.get_filesystem(folder)
    if isinstance(filesystem, LocalFileSystem):
        # Beam can only match patterns, and has no way to quote what is none.
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    if isinstance(filesystem, RENAMING) and not FileSystems.exists(folder):
        return []
    found = FileSystems.match([FileSystems.join(folder, "*")])[0].metadata_list
    return sorted(FileSystems.split(file.path)[1] for file in found)


def _move(chosen: Callable[[str], bool], source: str, to: str) -> None:
    names = [name for name in _names(source) if chosen(name)]
    if not names:
        return
    filesystem = FileSystems.get_filesystem(to)
    if isinstance(filesystem, LocalFileSystem):
        os.makedirs(to, exist_ok=True)
    elif isinstance(filesystem, RENAMING) and not FileSystems.exists(to):
        FileSystems.mkdirs(to)
    step = FileSystems.get_chunk_size(to)
    parts = [names[first : first + step] for first in range(0, len(names), step)]
    _each(
        lambda part: FileSystems.rename(
            [FileSystems.join(source, name) for name in part],
            [FileSystems.join(to, name) for name in part],
        ),
        parts,
    )


def _remove(folder: str) -> None:
    """Removes a folder with all that is in it, if it is there."""
    filesystem = FileSystems.get_filesystem(folder)
    if isinstance(filesystem, LocalFileSystem):
        if os.path.isdir(folder):
            shutil.rmtree(folder)
    elif isinstance(filesystem, RENAMING):
        if FileSystems.exists(folder):
            FileSystems.delete([folder])
    else:
        found = FileSystems.match([FileSystems.join(folder, "**")])[0].metadata_list
        if found:
            FileSystems.delete([file.path for file in found])


def _remove_if_empty(folder: str) -> None:
    if isinstance(FileSystems.get_filesystem(folder), LocalFileSystem):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _each(work: Callable[[Any], Any], elements: Sequence[Any]) -> list[Any]:
    if len(elements) < 2:
        return [work(element) for element in elements]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(work, elements))
