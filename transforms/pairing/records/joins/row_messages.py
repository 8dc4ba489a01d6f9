"""Rows of records on their way through the shuffle of a join, as compressed Arrow messages.

This is the only shuffle of text. All rows of a part of the input that go to the same bucket
are one message, so that the cost for each row is only its text. Compression pays, because an
engine holds or sends what it shuffles, several times.

Beam's in-process runner holds what it shuffles in memory, several times. If the whole job runs on
one machine, messages can wait in a folder, and only their places go through the shuffle. So the
memory of a join does not depend on its size.
"""

from __future__ import annotations

import dataclasses
import json
import os
import uuid
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.records.joins.record_ids import IdKind, buckets_of

ID, NUMBER, PLACE, PATH, PLACE_KIND = "id", "number", "place", "path", "place kind"
STATE = "state"
CANDIDATE, SYSTEM = "candidate", "system"
REFERENCE, LABEL, VALUE, KEPT = "reference ", "label ", "value ", "kept "
WITNESS = "witness "
"""The columns of a table of rows. Those of references, labels, values and kept columns end with a
number, from 0. Those of witnesses end with the name of the column, and have hashes of its texts.

The others are: the record's id as text (without nulls), its number in its stream, its place in its
file, the file, what it is there ("line" or "row"), its state, the text of the candidate, and the
name of the system, where there are such. A value is a number of a `ValueColumn`.
"""

SCORED_STATE, FILTERED_STATE, REJECTED_STATE = 0, 1, 2
"""The states of a record: it has texts; the conditions leave it out; it is bad. Only the first ones
have texts. The others are sent so that no other record with their id seems to be unknown."""

_STREAM, _KIND = b"stream", b"ids"
_OPTIONS = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1))

_REMEDY = "make room there, or set TMPDIR to a folder on a larger disk"


def messages_of(
    rows: pa.Table, stream: int, kind: IdKind, buckets: int
) -> Iterator[tuple[int, bytes]]:
    """Cuts rows into messages: yields (number of the bucket, message).

    Args:
      rows: the rows of a part of a stream.
      stream: the number of the stream.
      kind: the kind of their ids.
      buckets: the number of buckets, less than 2^15.
    """
    if not len(rows):
        return
    rows = rows.combine_chunks().replace_schema_metadata({_STREAM: json.dumps(stream), _KIND: kind})
    places = buckets_of(rows[ID].chunk(0), buckets)
    # numpy sorts integers of 16 bits in linear time.
    order = np.argsort(places.astype(np.int16), kind="stable")
    rows = rows.take(pa.array(order))
    bounds = np.searchsorted(places[order], np.arange(buckets + 1))
    for bucket in np.flatnonzero(np.diff(bounds)).tolist():
        begin, end = int(bounds[bucket]), int(bounds[bucket + 1])
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as writer:
            writer.write_table(rows.slice(begin, end - begin))
        yield bucket, sink.getvalue().to_pybytes()


def rows_of(messages: Iterable[bytes]) -> dict[tuple[int, IdKind], pa.Table]:
    """The rows of all messages of a bucket, in the order of their numbers.

    They are divided by stream and by the kind of their ids. All chunks are combined.
    """
    gathered: dict[tuple[int, IdKind], list[pa.Table]] = {}
    for message in messages:
        table = pa.ipc.open_stream(message).read_all()
        metadata = table.schema.metadata
        kind = metadata[_KIND].decode()
        key = json.loads(metadata[_STREAM]), kind
        gathered.setdefault(key, []).append(table.replace_schema_metadata())
    return {key: _in_order(tables) for key, tables in sorted(gathered.items())}


def _in_order(tables: list[pa.Table]) -> pa.Table:
    tables.sort(key=lambda table: table[NUMBER][0].as_py())
    # A part of the input can have fewer references than others: its columns are filled with nulls.
    rows = pa.concat_tables(tables, promote_options="default").unify_dictionaries()
    numbers = rows[NUMBER].to_numpy()
    if np.all(numbers[:-1] < numbers[1:]):
        return rows.combine_chunks()
    return rows.take(pa.array(np.argsort(numbers, kind="stable"))).combine_chunks()


def columns_of(table: pa.Table | None, prefix: str) -> list[pa.Array]:
    """The columns with this prefix of a table of rows, such as `REFERENCE`, by their numbers."""
    if table is None:
        return []
    names = [name for name in table.column_names if name.startswith(prefix)]
    return [
        table[name].chunk(0) for name in sorted(names, key=lambda name: int(name[len(prefix) :]))
    ]


@dataclasses.dataclass(frozen=True)
class RowFolder:
    """Where the messages of a join wait until their bucket is joined.

    Attributes:
      path: a folder on this machine; "" if the messages themselves go through the shuffle.
    """

    path: str = ""

    def keep(self, messages: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """(bucket, message) -> (bucket, what goes through the shuffle).

        Raises:
          JobError: the folder cannot be written.
        """
        if not self.path:
            yield from messages
            return
        name = uuid.uuid4().hex
        begin = 0
        try:
            with open(os.path.join(self.path, name), "xb") as file:
                places = []
                for bucket, message in messages:
                    file.write(message)
                    places.append((bucket, begin, len(message)))
                    begin += len(message)
        except OSError as error:
            raise JobError(
                f"the rows of the join cannot be kept: {error.strerror}: {self.path}", _REMEDY
            ) from error
        for bucket, start, size in places:
            yield bucket, f"{name} {start} {size}".encode()

    def messages(self, kept: Iterable[bytes]) -> Iterator[bytes]:
        """The messages, from what came through the shuffle.

        Raises:
          JobError: the folder cannot be read.
        """
        if not self.path:
            yield from kept
            return
        for place in kept:
            name, start, size = place.decode().split()
            try:
                with open(os.path.join(self.path, name), "rb") as file:
                    file.seek(int(start))
                    message = file.read(int(size))
            except OSError as error:
                raise JobError(
                    f"the rows of the join cannot be read again: {error.strerror}: {self.path}",
                    "do not remove temporary files while the job runs",
                ) from error
            if len(message) != int(size):
                raise JobError(
                    f"the rows of the join were cut off: {self.path}",
                    "do not change temporary files while the job runs",
                )
            yield message
