"""The rows of a join: made of the records of a stream, and sent through the shuffle as messages.

This is the only shuffle of text. All rows of a part of the input that go to the same bucket
are one compressed Arrow message, so that the cost for each row is only its text. Compression pays,
because an engine holds or sends what it shuffles, several times.

Beam's in-process runner holds what it shuffles in memory, several times. If the whole job runs on
one machine, messages can wait in a folder, and only their places go through the shuffle. So the
memory of a join does not depend on its size.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.pairing.bad_records import BadRecord
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.canonical import named_text
from beam_bleu.transforms.pairing.missing_labels import without_blanks
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    ColumnPath,
    Fault,
    ReadRecords,
)
from beam_bleu.transforms.pairing.records.joins.findings import StreamReport, systems_in
from beam_bleu.transforms.pairing.records.joins.ids import (
    buckets_of,
    hashes_of,
    id_texts,
    joined_ids,
)
from beam_bleu.transforms.pairing.records.record_segments import to_segments
from beam_bleu.transforms.pairing.tally import REJECTED
from beam_bleu.transforms.shown_names import can_be_shown

ID, STREAM, NUMBER, STATE = "id", "stream", "number", "state"
PLACE, PATH, PLACE_KIND = "place", "path", "place kind"
CANDIDATE, SYSTEM = "candidate", "system"
REFERENCE, LABEL, VALUE, KEPT, WITNESS = "reference ", "label ", "value ", "kept ", "witness "
"""The columns of a table of rows. Those of references, labels, values and kept columns end with a
number, from 0. Those of witnesses end with the name of the column, and have hashes of its texts.

The others are: the record's id as text (without nulls), the number of its stream and its number
there, its place in its file, the file, what it is there ("line" or "row"), its state, the text of
the candidate, and the name of the system, where there are such.
"""

SCORED_STATE, FILTERED_STATE, REJECTED_STATE = 0, 1, 2
"""The states of a record: it has texts; the conditions leave it out; it is bad. Only the first ones
have texts. The others are sent so that no other record with their id seems to be unknown."""

_NUMBER_BITS = 48
"""A stream has fewer records than 2^48."""

_OPTIONS = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1))

_REMEDY = "make room there, or set TMPDIR to a folder on a larger disk"


def join_rows(
    read: ReadRecords, chosen: Chosen
) -> tuple[pa.Table, Sequence[BadRecord], StreamReport]:
    """The rows of records that have an id, and candidates, references or numbers, or several.

    A record that the conditions leave out, or that is bad, has a row without texts.

    Args:
      read: the records.
      chosen: the columns. There is at most one column of candidates.

    Returns:
      a table with the columns above but `STREAM`, in any order; the bad records, in order; and what
      became of the records.

    Raises:
      InputError: the ids are neither strings nor integers, or a column of labels, conditions or
        names of systems has values that have no text.
    """
    assert chosen.ids
    segments = to_segments(read, chosen)
    there = read.range
    ids = joined_ids([_ids(read, path) for path in chosen.ids])
    known = identified = _there(ids)
    state = np.full(len(ids), FILTERED_STATE)
    state[[record.number - there.first for record in segments.bad]] = REJECTED_STATE
    rows_of_batches = [_rows(batch, read) for batch in segments.batches]
    for rows in rows_of_batches:
        state[rows] = SCORED_STATE
    others = np.flatnonzero(state != SCORED_STATE)
    systems = None
    if chosen.system is not None:
        names = _names(read.columns[chosen.system], chosen.system)
        known = identified & _there(names)
        # A system whose records are all left out is not in the result.
        systems = pc.if_else(pa.array(state == FILTERED_STATE), None, names)
        _check_names(systems, read, chosen)
    unnamed = np.flatnonzero((state == SCORED_STATE) & ~known)
    bad = [*segments.bad, *(_without_id(read, chosen, row) for row in unnamed.tolist())]
    state[unnamed] = REJECTED_STATE
    same = pa.array(np.zeros(len(ids), np.int32))
    common = {
        ID: ids,
        NUMBER: pa.array(there.first + np.arange(len(ids))),
        PLACE: pa.array(there.first_place + np.arange(len(ids))),
        PATH: pa.DictionaryArray.from_arrays(same, pa.array([there.path])),
        PLACE_KIND: pa.DictionaryArray.from_arrays(same, pa.array([there.kind])),
        STATE: pa.array(state, pa.int8()),
    }
    if systems is not None:
        common[SYSTEM] = pc.dictionary_encode(systems.cast(pa.string()))
    witnesses = {
        f"{WITNESS}{path}": hashes_of(read.columns[path])
        for path in chosen.witnesses
        if pa.types.is_large_string(read.columns[path].type)
    }
    tables = [pa.table(common).take(pa.array(others))]
    for rows, batch in zip(rows_of_batches, segments.batches, strict=True):
        taken = pa.array(rows)
        texts = {
            **dict(zip([CANDIDATE], batch.candidates, strict=False)),
            **{f"{REFERENCE}{i}": column for i, column in enumerate(batch.references)},
            **{f"{LABEL}{i}": column for i, column in enumerate(batch.labels)},
            **{f"{VALUE}{i}": pa.array(of[0]) for i, of in enumerate(batch.values.values())},
            **{f"{KEPT}{i}": column for i, column in enumerate(batch.kept.values())},
            **{name: column.take(taken) for name, column in witnesses.items()},
        }
        columns = {**{name: column.take(taken) for name, column in common.items()}, **texts}
        tables.append(pa.table(columns))
    joined = pa.concat_tables(tables, promote_options="default")
    sent = np.where(state == FILTERED_STATE, identified, known)
    if not sent.all():
        joined = joined.filter(pa.array(sent[joined[NUMBER].to_numpy() - there.first]))
    rejected = int(((state == REJECTED_STATE) & ~known).sum())
    lost = dataclasses.replace(
        segments.tally,
        read=rejected,
        scored={},
        left_out={REJECTED: rejected} if rejected else {},
        bad_records=len(bad),
    )
    named = () if systems is None else pc.unique(systems).drop_null().to_pylist()
    report = StreamReport(len(ids), len(joined), lost, read.digest or 0, systems_in([named]))
    return joined, sorted(bad, key=lambda record: record.number), report


def _ids(read: ReadRecords, path: ColumnPath) -> pa.LargeStringArray:
    ids = id_texts(read.columns[path])
    if ids is None:
        raise InputError(
            f"{read.range.label}: the column {path} has values of the type "
            f"{read.columns[path].type}, which cannot be ids: {read.range.path}",
            "name a column of strings or integers: each segment must have an id of its own",
        )
    return ids


def _names(column: pa.Array, path: ColumnPath) -> pa.LargeStringArray:
    """The names of systems."""
    return without_blanks(named_text(column, path).cast(pa.large_string()))


def _check_names(names: pa.LargeStringArray, read: ReadRecords, chosen: Chosen) -> None:
    """Checks the names of systems.

    Raises:
      InputError: a name cannot be shown, or has white space around it.
    """
    for name in pc.unique(names).drop_null().to_pylist():
        if not can_be_shown(name) or name != name.strip():
            row = pc.index(names, pa.scalar(name, names.type)).as_py()
            raise InputError(
                f"{read.range.label}: {read.range.place(row)}: the column {chosen.system} has "
                f"the system name {name!a}, but a system's name has only printable characters, and "
                f"no white space around it: {read.range.path}",
                "give each system one name without such characters",
            )


def _there(column: pa.Array) -> np.ndarray:
    there: np.ndarray = column.is_valid().to_numpy(zero_copy_only=False).copy()
    return there


def _rows(batch: SegmentBatch, read: ReadRecords) -> Integers:
    assert batch.numbers is not None
    rows: Integers = batch.numbers - read.range.first
    return rows


def _without_id(read: ReadRecords, chosen: Chosen, row: int) -> BadRecord:
    lacking = [path.text for path in chosen.ids if not read.columns[path][row].is_valid]
    name = chosen.system
    if name is not None and not _names(read.columns[name].slice(row, 1), name)[0].is_valid:
        lacking.append(name.text)
    what = f"has no {' and no '.join(lacking)}"
    remedy = "write the id of the segment, and the name of the system if there are several"
    return read.bad_record(row, Fault(None, "missing-id", what, remedy))


def messages_of(rows: pa.Table, stream: int, buckets: int) -> Iterator[tuple[int, bytes]]:
    """Cuts rows into messages: yields (number of the bucket, message).

    Args:
      rows: the rows of a part of a stream.
      stream: the number of the stream.
      buckets: the number of buckets, less than 2^15.
    """
    if not len(rows):
        return
    rows = rows.append_column(STREAM, pa.array(np.full(len(rows), stream, np.int32)))
    rows = rows.combine_chunks()
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


def rows_of(messages: Iterable[bytes]) -> pa.Table | None:
    """The rows of all messages of a bucket, by stream and number; None without any.

    All chunks are combined. What a part of the input does not have is null.
    """
    tables = [pa.ipc.open_stream(message).read_all() for message in messages]
    if not tables:
        return None
    tables.sort(key=lambda table: (table[STREAM][0].as_py(), table[NUMBER][0].as_py()))
    rows = pa.concat_tables(tables, promote_options="default").unify_dictionaries()
    keys = (rows[STREAM].to_numpy().astype(np.int64) << _NUMBER_BITS) + rows[NUMBER].to_numpy()
    if not np.all(keys[:-1] < keys[1:]):
        rows = rows.take(pa.array(np.argsort(keys, kind="stable")))
    return rows.combine_chunks()


def columns_of(rows: pa.Table, prefix: str) -> list[pa.Array]:
    """The columns with this prefix, such as `REFERENCE`, by their numbers."""
    names = [name for name in rows.column_names if name.startswith(prefix)]
    return [
        rows[name].chunk(0) for name in sorted(names, key=lambda name: int(name[len(prefix) :]))
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
                if len(message) != int(size):
                    raise OSError(errno.EIO, "a file was cut off")
            except OSError as error:
                raise JobError(
                    f"the rows of the join cannot be read again: {error.strerror}: {self.path}",
                    "do not remove or change temporary files while the job runs",
                ) from error
            yield message
