"""Files whose rows lie in groups as a source of segments: wires their reading to Beam.

Only footers and plans go through a shuffle. Text goes directly from the file into the batch that is
scored.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.text_columns import offsets_of
from beam_bleu.transforms.pairing.batch import usual_rows
from beam_bleu.transforms.pairing.canonical import (
    canonical_schema,
    is_text,
    is_texts,
)
from beam_bleu.transforms.pairing.files.found_files import (
    open_for_arrow,
    refuse_files_of_delta_tables,
    version_of,
)
from beam_bleu.transforms.pairing.files.streams import FoundFile, Shard, Stream, changed
from beam_bleu.transforms.pairing.files.tables import require_table_columns
from beam_bleu.transforms.pairing.paired import InputFile
from beam_bleu.transforms.pairing.records.columns.choosing import choose_of_file
from beam_bleu.transforms.pairing.records.columns.column_paths import (
    faulty_texts,
    raw_value,
    rows_of,
    value_of,
)
from beam_bleu.transforms.pairing.records.columns.wanted import (
    Chosen,
    ColumnPath,
    ReadRecords,
    with_path_columns,
)
from beam_bleu.transforms.pairing.records.plan_records import RecordPlan
from beam_bleu.transforms.pairing.records.record_files import RecordFiles
from beam_bleu.transforms.pairing.records.record_segments import (
    Fault,
    null_in,
    without_faulty,
)
from beam_bleu.transforms.pairing.records.row_groups.arrow_files import ArrowFile
from beam_bleu.transforms.pairing.records.row_groups.avro_files import AvroFile
from beam_bleu.transforms.pairing.records.row_groups.group_file import (
    GroupFile,
    damaged,
    errors_named,
)
from beam_bleu.transforms.pairing.records.row_groups.group_plan import (
    Footer,
    GroupPiece,
    GroupPortion,
    make_group_plan,
)
from beam_bleu.transforms.pairing.records.row_groups.parquet_files import ParquetFile
from beam_bleu.transforms.pairing.records.row_groups.record_digest import (
    METHOD,
    sum_of_record_hashes,
)
from beam_bleu.transforms.progress import PROGRESS

__all__ = ["RowGroupRecords"]

GroupFormatName = Literal["parquet", "arrow", "avro"]

GROUP_FORMATS: dict[GroupFormatName, type[GroupFile]] = {
    "parquet": ParquetFile,
    "arrow": ArrowFile,
    "avro": AvroFile,
}

_BATCH_BYTES = 1 << 22
"""About the largest number of bytes of a batch."""

_LOG = logging.getLogger("beam_bleu_workers")
_DETAILS = logging.getLogger("beam_bleu")


@dataclasses.dataclass(frozen=True)
class _Rows:
    """Neighbouring rows of a file.

    Attributes:
      rows: the rows, with the columns that are read, and perhaps others.
      chosen: the columns that are read.
      path: the file.
      first: the number of the first row in the input, from 0.
      first_row: the same in the file.
    """

    rows: pa.RecordBatch
    chosen: Chosen
    path: str
    first: int
    first_row: int

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes)


@dataclasses.dataclass(frozen=True)
class RowGroupRecords(RecordFiles):
    """Files of a format whose rows lie in groups: each row is a record.

    Attributes:
      format: the format of the files.
    """

    format: GroupFormatName

    @property
    def form(self) -> type[GroupFile]:
        """What the format says about itself."""
        return GROUP_FORMATS[self.format]

    @property
    def digest_method(self) -> str:
        """The name of the method of `ReadRecords.digest`."""
        return METHOD

    def cut(self, shards: Sequence[Shard]) -> Sequence[Shard]:
        """The files: their footers are read."""
        refuse_files_of_delta_tables(self.stream, [shard.file for shard in shards])
        return shards

    def look_at(self, part: Shard) -> list[Footer]:
        """See `footer`."""
        return [self.footer(part)]

    def planned(self, found: Sequence[Footer]) -> RecordPlan:
        """See `make_group_plan`."""
        stream = self.stream
        plan = make_group_plan(stream, found, self.range_bytes)
        require_table_columns(
            stream.label,
            [footer.shard.file for footer in plan.footers],
            [str(path.steps[0]) for path in plan.chosen.columns],
        )
        files = tuple(
            InputFile(
                stream.shown(footer.shard.file.path),
                footer.shard.file.size,
                int(footer.rows.sum()),
                stream.version(footer.version),
            )
            for footer in plan.footers
        )
        listed_by = plan.footers[0].shard.file.listed_by
        snapshot = None if listed_by is None else listed_by.snapshot
        portions = plan.portions_to_read()
        return RecordPlan(plan.rows, plan.bytes, plan.chosen, portions, files, snapshot)

    def footer(self, shard: Shard) -> Footer:
        """Reads the footer of a file: its groups and columns.

        Raises:
          InputError: the file does not have the format, or cannot be read.
        """
        stream, path = self.stream, shard.file.path
        version = version_of(stream, path)
        with _opened(self.form, stream, shard.file) as file:
            try:
                schema = canonical_schema(file.schema)
            except UnicodeDecodeError as failed:  # pyarrow decodes a name when it is asked for it
                what = f"the name of a column: {failed}"
                raise damaged(self.form, stream, path, what) from failed
            with errors_named(self.form, stream, path):
                rows, sizes = (np.array(counts, np.int64) for counts in file.groups())
        of_file = choose_of_file(self.wanted, schema, stream, shard, self.roles)
        return Footer(shard, of_file.chosen, of_file.error, version, rows, sizes)

    def parts(self, portion: GroupPortion) -> Iterator[_Rows]:
        """The rows of a portion, in order.

        Raises:
          InputError: a file cannot be read, is damaged, or has changed since the plan was made.
        """
        first = portion.first_record
        for piece in portion.pieces:
            path = piece.file.path
            try:
                if piece.rows:
                    yield from self._piece_rows(piece, portion.chosen, first)
            except InputError:
                # A file that was replaced looks as if it were damaged.
                self._require_version(path, piece.version)
                raise
            self._require_version(path, piece.version)
            first += piece.rows

    def _require_version(self, path: str, version: str | None) -> None:
        if version_of(self.stream, path) != version:
            raise changed(self.stream, path, "was changed after its footer was read") from None

    def _piece_rows(self, piece: GroupPiece, chosen: Chosen, first: int) -> Iterator[_Rows]:
        form, stream, path = self.form, self.stream, piece.file.path
        row_bytes = piece.bytes // piece.rows + 1
        most = max(min(usual_rows(len(chosen.columns)), _BATCH_BYTES // row_bytes), 1)
        read = 0
        with _opened(form, stream, piece.file, piece) as file:
            batches = file.batches(piece, chosen.columns, most)
            while True:
                with errors_named(form, stream, path, piece.groups):
                    rows = next(batches, None)
                if rows is None:
                    break
                yield _Rows(rows, chosen, path, first + read, piece.first_row + read)
                read += len(rows)
                PROGRESS.add(piece.bytes * len(rows) // piece.rows)
        if read != piece.rows:
            raise damaged(form, stream, path, f"{read} of {piece.rows} rows could be read")

    def parsed(self, part: _Rows, digest: bool) -> ReadRecords:
        """Rows as records, with texts that are UTF-8, and not too long."""
        chosen = part.chosen
        columns: dict[ColumnPath, pa.Array] = {}
        of_paths: dict[ColumnPath, dict[int, Fault]] = {}
        faults: dict[int, Fault] = {}
        conditions = (condition.column for condition in chosen.where)
        for path in dict.fromkeys([*conditions, *chosen.columns]):
            columns[path] = value_of(part.rows, path)
            of_paths[path] = self._faults(path, columns[path])
            faults = {**of_paths[path], **faults}
        place = (part.first, part.path, part.first_row + 1, "row")
        unread = ReadRecords(
            columns, *place, raw=lambda row: _raw(columns, row, chosen), label=self.stream.label
        )
        good = {path: null_in(columns[path], list(of_paths[path])) for path in chosen.columns}
        good, faults = without_faulty(good, faults, chosen)
        bad = tuple(
            unread.bad_record(row, fault.reason, fault.what, fault.remedy)
            for row, fault in sorted(faults.items())
        )
        read = ReadRecords(good, *place, bad, label=self.stream.label)
        if digest:
            read = dataclasses.replace(read, digest=sum_of_record_hashes(read, chosen))
        return with_path_columns(read, chosen)

    def _faults(self, path: ColumnPath, column: pa.Array) -> dict[int, Fault]:
        """The rows of a column with texts that are not UTF-8 or too long."""
        if not is_text(column.type) and not is_texts(column.type):
            return {}
        faults = {
            row: Fault(path, "invalid-utf8", f"column {path}: {what}", "convert the texts to UTF-8")
            for row, what in faulty_texts(column).items()
        }
        most = self.expected.max_line_bytes
        texts = column.values if is_texts(column.type) else column
        too_long = rows_of(column, np.flatnonzero(np.diff(offsets_of(texts)) > most))
        for row in np.unique(too_long).tolist():
            what = f"column {path}: the text has more than {most} bytes"
            remedy = (
                "check that this column is the right one; if its texts are that long, raise "
                "--max_line_bytes"
            )
            faults.setdefault(row, Fault(path, "line-too-long", what, remedy))
        return faults


def _raw(columns: Mapping[ColumnPath, pa.Array], row: int, chosen: Chosen) -> bytes:
    """The values of a row as JSON. Bytes that are not UTF-8 stay as they are."""
    values = {path.text: raw_value(columns[path], row) for path in chosen.columns}
    text = json.dumps(values, ensure_ascii=False, default=str)
    return text.encode("utf-8", "surrogateescape")


@contextlib.contextmanager
def _opened(
    form: type[GroupFile], stream: Stream, listed: FoundFile, piece: GroupPiece | None = None
) -> Iterator[GroupFile]:
    """A file that is closed at the end.

    Args:
      form: its format.
      stream: its stream.
      listed: the file, as it was listed.
      piece: the groups that are read; None to read only the footer.

    Raises:
      InputError: it does not have the format, or cannot be read.
    """
    path = listed.path
    with contextlib.ExitStack() as stack:
        with errors_named(form, stream, path):
            source = stack.enter_context(open_for_arrow(path))
            size = source.size()
        if size != listed.size:
            raise changed(stream, path, f"has {size} bytes, and had {listed.size} when listed")
        if not size:
            raise InputError(
                stream.told(f"the file is empty, so it is not {form.a_file}", path),
                f"check that it was written; {form.a_file} without rows has some bytes",
            )
        with errors_named(form, stream, path):
            try:
                file = form(source, piece)
            except (pa.ArrowException, OSError):
                if told := form.why_not(source, size):
                    raise InputError(stream.told(told[0], path), told[1]) from None
                raise
        yield file
