"""Finds the Parquet files of the current version of a table of Delta Lake or Iceberg.

A table is refused if its files alone would mislead: they have deleted rows, or other column names.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from beam_bleu.transforms.errors import BleuError, InputError, installing
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream

if TYPE_CHECKING:
    import types

# The features of Delta tables with which Parquet files have all columns under their own names, and
# all rows, unless a file has a deletion vector.
_READABLE = frozenset(
    ("deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "variantType")
)


@dataclasses.dataclass(frozen=True)
class TableKind:
    label: str
    library: str
    extra: str
    files: Callable[[types.ModuleType, Stream, str], list[FoundFile]]


def table_kind(pattern: str) -> TableKind | None:
    return TABLE_KINDS.get(pattern.partition(":")[0]) if ":" in pattern else None


def table_files(stream: Stream) -> list[FoundFile]:
    prefix, _, table = stream.pattern.partition(":")
    kind = TABLE_KINDS[prefix]
    try:
        library = importlib.import_module(kind.library)
    except ImportError as error:
        what = f"the library for {kind.label} tables is not installed here"
        raise InputError(stream.told(what, table), installing(kind.extra)) from error
    try:
        files = kind.files(library, stream, table)
    except BleuError:
        raise
    except Exception as error:  # the libraries have exceptions of their own
        what = f"the {kind.label} table cannot be read: {str(error).strip().splitlines()[0]}"
        remedy = "check the path and the access to it"
        raise InputError(stream.told(what, table), remedy) from error
    if not files:
        what = f"the {kind.label} table has no files"
        raise InputError(stream.told(what, table), "check that it has rows")
    return files


def _delta_files(library: types.ModuleType, stream: Stream, path: str) -> list[FoundFile]:
    table = library.DeltaTable(path)
    mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    protocol = table.protocol()
    features = set(protocol.reader_features or ())
    # Version 2 of the protocol has one feature, which is not named: the mapping of columns.
    unknown = sorted(features - _READABLE - {"columnMapping"})
    if mapping != "none":
        raise _refused(
            stream, path, f"maps its columns by {mapping}, so its files have other names for them"
        )
    if unknown or protocol.min_reader_version > 3:
        said = ", ".join(unknown) or f"version {protocol.min_reader_version} of the protocol"
        raise _refused(stream, path, f"has features that are not known here: {said}")
    if "deletionVectors" in features:
        deleted = [name for batch in table.deletion_vectors() for name in _column(batch, 0)]
        if deleted:
            what = f"has deletion vectors: {deleted[0]} has rows that were deleted"
            remedy = "remove them from the files: REORG TABLE ... APPLY (PURGE)"
            raise _refused(stream, path, what, remedy)
    actions = table.get_add_actions(flatten=True)
    names, sizes = (_column(actions, name) for name in ("path", "size_bytes"))
    files = []
    for uri, name, size in zip(table.file_uris(), names, sizes, strict=True):
        if not uri.endswith((name, unquote(name))):
            raise _refused(stream, path, f"has a file by two names: {uri}, {name}")
        files.append(FoundFile(uri.removeprefix("file://"), int(size), str(table.version())))
    return files


def _column(rows: Any, column: int | str) -> list[Any]:
    values: list[Any] = rows.column(column).to_pylist()
    return values


def _iceberg_files(library: types.ModuleType, stream: Stream, name: str) -> list[FoundFile]:
    table = _iceberg_table(name)
    snapshot = table.current_snapshot()
    if snapshot is None:
        return []
    current = _iceberg_names(table.schema())
    ids = {column: number for number, column in current.items()}
    for schema in table.metadata.schemas:
        for number, column in _iceberg_names(schema).items():
            if current.get(number, column) != column or ids.get(column, number) != number:
                what = f"has renamed the column {column}, or has had another one of this name"
                raise _refused(stream, name, what)
    files = []
    for task in table.scan().plan_files():
        file = task.file
        if task.delete_files:
            what = f"has delete files: {file.file_path} has rows that were deleted"
            remedy = "write the files without them: CALL system.rewrite_data_files"
            raise _refused(stream, name, what, remedy)
        if file.file_format.value.upper() != "PARQUET":
            what = f"has a file of the format {file.file_format.value}: {file.file_path}"
            raise _refused(stream, name, what)
        path = re.sub(r"^file:(//)?(?=/)", "", file.file_path)
        path = re.sub(r"^s3[an](?=://)", "s3", path)
        files.append(FoundFile(path, file.file_size_in_bytes, str(snapshot.snapshot_id)))
    return files


def _iceberg_table(name: str) -> Any:
    if "/" in name:
        from pyiceberg.table import StaticTable

        return StaticTable.from_metadata(name)
    from pyiceberg.catalog import load_catalog

    catalog, _, identifier = name.partition(".")
    return load_catalog(catalog).load_table(identifier)


def _iceberg_names(schema: Any) -> dict[int, str]:
    return {number: schema.find_column_name(number) for number in schema.field_ids}


_REWRITE = "write the table again, or score an export of it"


def _refused(stream: Stream, table: str, what: str, remedy: str = _REWRITE) -> InputError:
    return InputError(stream.told(f"the table {what}", table), remedy)


TABLE_KINDS = {
    "delta": TableKind("Delta", "deltalake", "delta", _delta_files),
    "iceberg": TableKind("Iceberg", "pyiceberg", "iceberg", _iceberg_files),
}
