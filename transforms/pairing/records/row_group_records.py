"""`RowGroupRecords`: record files of formats with groups of rows, such as Parquet's row groups."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import (
    BleuError,
    InputError,
    lacks_open_files,
    lost_data,
    open_file_limit,
)
from beam_bleu.transforms.native.text_columns import offsets_of
from beam_bleu.transforms.pairing.batch import usual_rows
from beam_bleu.transforms.pairing.canonical import (
    as_texts,
    canonical,
    canonical_schema,
    is_text,
    is_texts,
)
from beam_bleu.transforms.pairing.files.found_files import (
    open_for_arrow,
    refuse_files_of_delta_tables,
    require_unchanged,
    version_of,
)
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, changed
from beam_bleu.transforms.pairing.lines.line_counting import longest_first, range_bytes_for
from beam_bleu.transforms.pairing.lines.text_digest import OF_RECORDS, sum_of_columns
from beam_bleu.transforms.pairing.records.choosing import require_same_columns
from beam_bleu.transforms.pairing.records.column_paths import (
    faulty_texts,
    rows_of,
    type_at,
    value_of,
)
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMATS, RecordFormatName
from beam_bleu.transforms.pairing.records.group_files import (
    ArrowFile,
    AvroFile,
    CsvFile,
    GroupFile,
    GroupPiece,
    ParquetFile,
)
from beam_bleu.transforms.pairing.records.number_columns import numbers_as_texts
from beam_bleu.transforms.pairing.records.record_files import Portion, RecordFiles, RecordPlan
from beam_bleu.transforms.pairing.records.wanted import (
    Chosen,
    ColumnPath,
    Columns,
    Fault,
    RawRecords,
    ReadRecords,
    null_in,
)
from beam_bleu.transforms.pairing.records.whole_files.whole_file import WholeFile
from beam_bleu.transforms.progress import PROGRESS

__all__ = ["RowGroupRecords"]

GROUP_FORMATS: dict[RecordFormatName, type[GroupFile]] = {
    "parquet": ParquetFile,
    "arrow": ArrowFile,
    "avro": AvroFile,
    "csv": CsvFile,
    "quoted-tsv": CsvFile,
}

_BATCH_BYTES = 1 << 22  # about the most bytes of a batch

# What opening a file costs, as bytes to read: so no portion has tens of thousands of small files.
_FILE_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class Footer:
    shard: Shard
    chosen: Chosen
    version: str | None
    groups: Sequence[tuple[int, int]]


@dataclasses.dataclass(frozen=True)
class RowGroupRecords(RecordFiles):
    digest_method = OF_RECORDS

    def cut(self, shards: Sequence[Shard]) -> Sequence[Shard]:
        """The files, whose footers are looked at."""
        refuse_files_of_delta_tables(self.stream, [shard.file for shard in shards])
        return shards

    def look_at(self, part: Shard) -> list[Footer]:
        version = version_of(self.stream, part.file.path)
        with self._opened(part.file) as file:
            groups, schema = file.groups(), file.schema
        if self.has_fields:
            chosen = self.chosen_of_fields(schema.names, part)
        else:
            chosen = self.chosen(canonical_schema(schema), part)
            self._check_types(chosen, canonical_schema(schema), part.file.path)
        return [Footer(part, chosen, version, groups)]

    def _check_types(self, chosen: Chosen, schema: pa.Schema, file: str) -> None:
        kept = (path for _, path in chosen.kept)
        where = (condition.column for condition in chosen.where)
        for path in (*chosen.names, *chosen.labels, *kept, *where):
            try:
                if path.steps:  # otherwise a label from the paths of the files
                    as_texts(canonical(pa.nulls(0, type_at(schema, path))), path)
            except InputError as error:
                raise InputError(self.stream.told(error.cause, file), error.remedy) from error

    def planned(self, found: Sequence[Footer]) -> RecordPlan:
        footers = sorted(found, key=lambda footer: footer.shard.number)
        numbers = [footer.shard.number for footer in footers]
        if numbers != list(range(len(footers))) or not footers or not footers[-1].shard.is_last:
            raise lost_data(f"{self.stream}: not every footer was read exactly once")
        shards = [footer.shard for footer in footers]
        chosen = {footer.shard.file.path: footer.chosen for footer in footers}
        require_same_columns(self.stream, chosen)
        rows = [sum(count for count, _ in footer.groups) for footer in footers]
        all_bytes = sum(size for footer in footers for _, size in footer.groups)
        if not any(rows):
            what = f"{self.stream.label}: there are no rows: {self.stream.pattern}"
            raise InputError(what, "check that the files were written")
        portion_bytes = self.range_bytes or range_bytes_for(all_bytes)
        portions = list(_portions(footers, chosen, portion_bytes))
        sizes = np.array([portion.bytes for portion in portions], np.int64)
        return RecordPlan(
            chosen[shards[0].file.path],
            [portions[number] for number in longest_first(sizes, portion_bytes)],
            self.input_files(shards, rows, [footer.version for footer in footers]),
            shards[0].file.snapshot,
        )

    def parts(self, portion: Portion) -> Iterator[RawRecords]:
        first = portion.first
        for piece in portion.pieces:
            path = piece.file.path
            try:
                yield from self._piece_rows(piece, portion.chosen[path], first)
            finally:  # also after an error, because a file that was replaced seems to be damaged
                require_unchanged(self.stream, path, piece.version)
            first += piece.rows

    def _piece_rows(self, piece: GroupPiece, chosen: Chosen, first: int) -> Iterator[RawRecords]:
        stream, path = self.stream, piece.file.path
        row_bytes = piece.bytes // max(piece.rows, 1) + 1
        most = max(min(usual_rows(len(chosen.columns)), _BATCH_BYTES // row_bytes), 1)
        read = 0
        with self._opened(piece.file, piece) as file:
            for rows in file.batches(piece, chosen.columns, most):
                place = piece.first_row + read + 1 + self.has_header
                shown = stream.shown(path)
                yield RawRecords(rows, stream.label, shown, "row", first + read, place, chosen)
                read += len(rows)
                PROGRESS.add(piece.bytes * len(rows) // piece.rows)
        if read != piece.rows:
            raise self._damaged(path, f"{read} of {piece.rows} rows could be read")

    def columns_of(self, part: RawRecords) -> tuple[Columns, dict[int, Fault]]:
        columns: Columns = {}
        faults: dict[int, Fault] = {}
        for path in part.chosen.columns:
            column = value_of(part.values, path)
            wrong = self._faults(path, column)
            columns[path] = null_in(column, wrong)
            faults = {**wrong, **faults}
        return columns, faults

    def _faults(self, path: ColumnPath, column: pa.Array) -> dict[int, Fault]:
        if not is_text(column.type) and not is_texts(column.type):
            return {}
        faults = {
            row: Fault(path, "invalid-utf8", f"column {path}: {what}", "convert the texts to UTF-8")
            for row, what in faulty_texts(column).items()
        }
        most = self.expected.max_line_bytes
        values = column.values if is_texts(column.type) else column
        too_long = rows_of(column, np.flatnonzero(np.diff(offsets_of(values)) > most))
        for row in np.unique(too_long).tolist():
            what = f"column {path}: the text has more than {most} bytes"
            remedy = "name the right column, or raise --max_line_bytes"
            faults.setdefault(row, Fault(path, "line-too-long", what, remedy))
        return faults

    @contextlib.contextmanager
    def _opened(self, listed: FoundFile, piece: GroupPiece | None = None) -> Iterator[GroupFile]:
        path = listed.path
        try:
            with open_for_arrow(path) as source:
                if source.size() != listed.size:
                    was = f"has {source.size()} bytes, and had {listed.size} when listed"
                    raise changed(self.stream, path, was)
                reader = self._reader
                if source.read_at(len(reader.mark), 0) != reader.mark:
                    raise pa.ArrowInvalid(f"this is not a {self.format} file")
                source.seek(0)
                yield reader(source, piece, self, path)
        except pa.ArrowMemoryError as error:
            what = f"{error}: it is damaged, or too large for the memory"
            raise self._damaged(path, what) from error
        except (BleuError, MemoryError):
            raise
        except Exception as error:  # Arrow and each filesystem have their own exceptions
            if lacks_open_files(error):
                raise open_file_limit(self.stream.told("cannot be read", path)) from error
            said = str(error).strip().partition("\n")[0].rstrip(".")
            raise self._damaged(path, said) from error

    @property
    def _reader(self) -> type[GroupFile]:
        return WholeFile if RECORD_FORMATS[self.format].parser else GROUP_FORMATS[self.format]

    def _damaged(self, path: str, what: str) -> InputError:
        said = f"the file cannot be read as {RECORD_FORMATS[self.format].label}: {what}"
        return InputError(self.stream.told(said, path), self._reader.remedy)

    def digest_of(self, read: ReadRecords) -> int:
        """The sum of the hashes of all texts, and of ids, labels, values of conditions and numbers,
        each as text. Seeds are made of a value's place in the whole input, not in a row group.
        """
        chosen = read.raw.chosen
        of_segments = {*(path for _, path in chosen.candidates), *chosen.references}
        others = {*chosen.labels, *chosen.names, *(condition.column for condition in chosen.where)}

        def hashed(path: ColumnPath) -> pa.Array:
            column = read.columns[path]
            if path in of_segments:
                return column
            return as_texts(column, path) if path in others else numbers_as_texts(column)

        return sum_of_columns(map(hashed, chosen.scored_columns), read.raw.first)


def _portions(
    footers: Sequence[Footer], chosen: Mapping[str, Chosen], portion_bytes: int
) -> Iterator[Portion]:
    """Cuts files into portions, which begin at the first group after each multiple of the bytes."""
    pieces: dict[int, list[GroupPiece]] = {}
    cost = 0
    for footer in footers:
        cost += _FILE_BYTES
        of_portions = []
        for _, size in footer.groups:
            of_portions.append(cost // portion_bytes)
            cost += size
        start = rows_before = bytes_before = 0
        for portion, run in itertools.groupby(of_portions):
            stop = start + len(list(run))
            rows, size = map(sum, zip(*footer.groups[start:stop], strict=True))
            groups = range(start, stop)
            piece = GroupPiece(
                footer.shard.file, footer.version, groups, rows_before, rows, size, bytes_before
            )
            pieces.setdefault(portion, []).append(piece)
            start, rows_before, bytes_before = stop, rows_before + rows, bytes_before + size
    first = 0
    for of_portion in pieces.values():
        rows = sum(piece.rows for piece in of_portion)
        size = sum(piece.bytes for piece in of_portion)
        of_files = {piece.file.path: chosen[piece.file.path] for piece in of_portion}
        yield Portion(first, rows, size, tuple(of_portion), of_files)
        first += rows
