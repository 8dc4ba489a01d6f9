"""Makes the rows of a join from the records of a stream, and sends them to buckets as messages.

All rows of a part of the input that go to the same bucket are one compressed Arrow message, because
engines store or send what they shuffle several times. Beam's in-process runner would keep all of it
in memory. So if the whole job runs on one machine, messages can wait in a folder, and only their
places are shuffled: the memory of a join then does not depend on its size.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.definition.choices import can_be_shown
from beam_bleu.transforms.errors import InputError, JobError, joined
from beam_bleu.transforms.pairing.batch import Places
from beam_bleu.transforms.pairing.canonical import (
    label_column,
    named_text,
    nulls,
    spread,
    without_blanks,
)
from beam_bleu.transforms.pairing.lines.text_digest import reduced_hashes, sum_of_columns
from beam_bleu.transforms.pairing.paired import REJECTED, BadRecord
from beam_bleu.transforms.pairing.records.joins.findings import Report
from beam_bleu.transforms.pairing.records.record_segments import Judged, judge
from beam_bleu.transforms.pairing.records.wanted import (
    INTEGER_ID,
    ColumnPath,
    Fault,
    RawRecords,
    ReadRecords,
    null_in,
)

CANDIDATE, REFERENCE, LABEL = "candidate ", "reference ", "label "
# How names of columns in a table of rows begin. A number from 0 follows; for witnesses, which are
# hashes, the name of the column. The other columns are: the record's "id" as text (never null), the
# number of its "stream", its "number" there, its "place" in the file at "path", the "place kind"
# ("line" or "row"), its "state", and, in long records, the name of the "system".
VALUE, KEPT, WITNESS = "value ", "kept ", "witness "

# The states of rows. Only scored rows have texts. The others are sent so that other records with
# their ids do not seem to be unknown.
SCORED_STATE, FILTERED_STATE, REJECTED_STATE = 0, 1, 2

# A column with more names is probably not that of the systems. Each name costs a row in the result,
# and memory in each step.
MOST_SYSTEMS = 1000

_NUMBER_BITS = 48  # a stream has fewer records than 2^48

_OPTIONS = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1))


def join_rows(read: ReadRecords) -> tuple[pa.Table, Sequence[BadRecord], Report]:
    """The rows of records, without "stream"; the bad records; and what became of all records. Bad
    records, and those that the conditions leave out, have rows without texts.
    """
    judged, raw, chosen = judge(read), read.raw, read.raw.chosen
    ids = joined_ids([id_texts(read, path) for path in chosen.ids])
    count = len(ids)
    known = identified = ~nulls(ids)
    state = np.full(count, FILTERED_STATE)
    state[[record.number - raw.first for record in judged.bad]] = REJECTED_STATE
    state[judged.scored] = SCORED_STATE
    systems = None
    if chosen.system is not None:
        names = _names(read.columns[chosen.system], chosen.system)
        known = identified & ~nulls(names)
        # A system all of whose records are left out is not in the result.
        systems = pc.if_else(pa.array(state == FILTERED_STATE), None, names)
        _check_names(systems, raw)
    unnamed = np.flatnonzero((state == SCORED_STATE) & ~known).tolist()
    bad = [*judged.bad, *(_without_id(read, row) for row in unnamed)]
    state[unnamed] = REJECTED_STATE
    one_file, numbers = np.zeros(count, np.int64), np.arange(count)
    places = Places.in_files([raw.path], raw.kind, one_file, raw.first_place + numbers)
    columns = {
        "id": ids,
        "number": pa.array(raw.first + numbers),
        "place": places.numbers,
        "path": places.paths,
        "place kind": places.kinds,
        "state": pa.array(state, pa.int8()),
    }
    if systems is not None:
        columns["system"] = pc.dictionary_encode(systems.cast(pa.string()))
    without = np.flatnonzero(state != SCORED_STATE).tolist()
    columns |= {name: null_in(text, without) for name, text in _texts(read, judged)}
    sent = np.where(state == FILTERED_STATE, identified, known)
    rows = pa.table(columns)
    if not sent.all():
        rows = rows.filter(pa.array(sent))
    rejected = int(((state == REJECTED_STATE) & ~known).sum())
    lost = dataclasses.replace(
        judged.tally, read=rejected, scored={}, left_out={REJECTED: rejected}, bad_records=len(bad)
    )
    named = () if systems is None else tuple(pc.unique(systems).drop_null().to_pylist())
    report = Report(count, len(rows), tally=lost, digest=read.digest, systems=named)
    return rows, sorted(bad, key=lambda record: record.number), report


def _texts(read: ReadRecords, judged: Judged) -> Iterator[tuple[str, pa.Array]]:
    columns, chosen = read.columns, read.raw.chosen
    of_prefixes: dict[str, Iterable[pa.Array]] = {
        CANDIDATE: (columns[path] for _, path in chosen.candidates),  # there is at most one
        REFERENCE: (text for path in chosen.references for text in spread(columns[path])),
        LABEL: (label_column(named_text(columns[path], path)) for path in chosen.labels),
        VALUE: (pa.array(of_systems[0].values) for of_systems in judged.numbers.values()),
        KEPT: (named_text(columns[path], path) for _, path in chosen.kept),
    }
    for prefix, of_prefix in of_prefixes.items():
        yield from ((f"{prefix}{number}", each) for number, each in enumerate(of_prefix))
    for path in chosen.witnesses:
        texts = columns[path]
        if pa.types.is_large_string(texts.type):
            hashes = reduced_hashes(texts, np.iinfo(np.int64).max)
            yield f"{WITNESS}{path}", pa.array(hashes, mask=nulls(texts))


def id_texts(read: ReadRecords, path: ColumnPath) -> pa.LargeStringArray:
    """The values of a column of ids. An integer is its decimal digits, in all formats."""
    ids = read.columns[path]
    kind = ids.type
    is_integer = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and not kind.scale)
    if not is_integer and not pa.types.is_large_string(kind):
        raise InputError(
            f"{read.raw.label}: the column {path} has values of the type {kind}, which cannot be "
            f"ids: {read.raw.path}",
            "name a column of strings or integers: each segment must have an id of its own",
        )
    return ids.cast(pa.large_string())


def digest_of_references(read: ReadRecords) -> int:
    """That of ids, references and witnesses, without the candidates that can be beside them."""
    chosen = read.raw.chosen
    columns = {path: read.columns[path] for path in (*chosen.references, *chosen.witnesses)}
    columns |= {path: id_texts(read, path) for path in chosen.ids}
    return sum_of_columns(columns.values(), read.raw.first)


def joined_ids(columns: Sequence[pa.LargeStringArray]) -> pa.LargeStringArray:
    """The ids that these texts form: several form a JSON list; null if any of them is null."""
    if len(columns) == 1:
        return columns[0]
    begin, end, comma, nothing = (
        pa.scalar(text, pa.large_string()) for text in ("[", "]", ",", "")
    )
    parts = pc.binary_join_element_wise(*map(_json, columns), comma, null_handling="emit_null")
    return pc.binary_join_element_wise(begin, parts, end, nothing, null_handling="emit_null")


def _json(parts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Parts of ids as JSON. Only parts that are not integers go through Python objects."""
    if pc.all(pc.match_substring_regex(parts, INTEGER_ID)).as_py():
        return parts
    encoded = parts.dictionary_encode()
    shown = [shown_id(part) for part in encoded.dictionary.to_pylist()]
    return pa.array(shown, parts.type).take(encoded.indices)


def shown_id(text: str) -> str:
    return text if re.fullmatch(INTEGER_ID, text) else json.dumps(text, ensure_ascii=False)


def _names(column: pa.Array, path: ColumnPath) -> pa.LargeStringArray:
    return without_blanks(named_text(column, path))


def _check_names(names: pa.LargeStringArray, raw: RawRecords) -> None:
    unique = pc.unique(names).drop_null().to_pylist()
    if len(unique) > MOST_SYSTEMS:
        raise InputError(
            f"{raw.label}: the column {raw.chosen.system} names more than {MOST_SYSTEMS:,} "
            f"systems: {joined(unique)}",
            "name the column of the systems' names: --system_column COLUMN",
        )
    for name in unique:
        if not can_be_shown(name) or name != name.strip():
            row = pc.index(names, pa.scalar(name, names.type)).as_py()
            raise InputError(
                f"{raw.label}: {raw.place(row)}: the system name {name!a} in the column "
                f"{raw.chosen.system} cannot be shown, or has white space at an end: {raw.path}",
                "give each system a name of printable characters",
            )


def _without_id(read: ReadRecords, row: int) -> BadRecord:
    chosen = read.raw.chosen
    lacking = [path.text for path in chosen.ids if not read.columns[path][row].is_valid]
    name = chosen.system
    if name is not None and not _names(read.columns[name].slice(row, 1), name)[0].is_valid:
        lacking.append(name.text)
    what = f"has no {' and no '.join(lacking)}"
    remedy = "write the id of the segment, and the name of the system if there are several"
    return read.bad_record(row, Fault(None, "missing-id", what, remedy))


def messages_of(rows: pa.Table, stream: int, buckets: int) -> Iterator[tuple[int, bytes]]:
    if not len(rows):
        return
    rows = rows.append_column("stream", pa.array(np.full(len(rows), stream, np.int32)))
    rows = rows.combine_chunks()
    places = reduced_hashes(rows["id"].chunk(0), buckets)
    # As 16-bit integers, which numpy sorts in linear time.
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
    """The rows of all messages, sorted by stream and number; null in columns that a part lacks."""
    tables = [pa.ipc.open_stream(message).read_all() for message in messages]
    if not tables:
        return None
    tables.sort(key=lambda table: (table["stream"][0].as_py(), table["number"][0].as_py()))
    rows = pa.concat_tables(tables, promote_options="default").unify_dictionaries()
    keys = (rows["stream"].to_numpy().astype(np.int64) << _NUMBER_BITS) + rows["number"].to_numpy()
    if not np.all(keys[:-1] < keys[1:]):
        rows = rows.take(pa.array(np.argsort(keys, kind="stable")))
    return rows.combine_chunks()


def columns_of(rows: pa.Table, prefix: str) -> list[pa.Array]:
    return [rows[name].chunk(0) for name in rows.column_names if name.startswith(prefix)]


def kept(folder: str, messages: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """(bucket, message) -> (bucket, its place in a file of the folder); unchanged without one."""
    if not folder:
        yield from messages
        return
    name, places = os.path.join(folder, uuid.uuid4().hex), []
    try:
        with open(name, "xb") as file:
            for bucket, message in messages:
                places.append((bucket, f"{file.tell()} {len(message)} {name}".encode()))
                file.write(message)
    except OSError as error:
        raise JobError(
            f"the rows of the join cannot be kept: {error.strerror}: {folder}",
            "make room there, or set TMPDIR to a folder on a larger disk",
        ) from error
    yield from places


def taken(folder: str, sent: Iterable[bytes]) -> Iterator[bytes]:
    if not folder:
        yield from sent
        return
    for place in sent:
        start, size, name = place.decode().split(" ", 2)
        with open(name, "rb") as file:
            file.seek(int(start))
            yield file.read(int(size))
