"""Finds and opens files on any of Beam's filesystems, and gets their versions."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.hadoopfilesystem import HadoopFileSystem

from beam_bleu.transforms.errors import BleuError, InputError, unreadable
from beam_bleu.transforms.pairing.files.chunks import opened
from beam_bleu.transforms.pairing.files.listing import local_files, local_version, open_file
from beam_bleu.transforms.pairing.files.streams import (
    FoundFile,
    Shard,
    Stream,
    before_wildcard,
    changed,
    require_files,
    shards_in_order,
)
from beam_bleu.transforms.pairing.files.tables import table_files, table_kind
from beam_bleu.transforms.wiring.filesystems import filesystem_of, is_local, kind_of

_DETAILS = logging.getLogger("beam_bleu")  # for INFO records only, which --verbose shows

_DELTA_LOG = "_delta_log"  # the folder with the log of a Delta table, in the folder of the table


def find_files(stream: Stream, enough: int | None = None) -> list[FoundFile]:
    """Lists files, in any order, or only `enough` of them, because a store can list for minutes."""
    if table_kind(stream.pattern) is not None:
        return table_files(stream)
    try:
        if is_local(stream.pattern):
            return local_files(stream.label, stream.pattern)
        limits = None if enough is None else [enough]
        matched = filesystem_of(stream.pattern).match([stream.pattern], limits)[0].metadata_list
    except BleuError:
        raise
    except Exception as error:  # filesystems raise exceptions of their own types
        what, remedy = f"{stream.label}: cannot be listed", "check the path and the access to it"
        raise unreadable(what, error, remedy, stream.pattern) from error
    return [FoundFile(file.path, file.size_in_bytes) for file in matched]


def find_shards(number: int, stream: Stream) -> list[Shard]:
    shards = shards_in_order(number, stream, find_files(stream))
    size = sum(shard.file.size for shard in shards)
    first, last = shards[0].file.path, shards[-1].file.path
    _DETAILS.info(
        "%s: %s, %s bytes: %s",
        stream.label,
        "1 file" if len(shards) == 1 else f"{len(shards):,} files",
        f"{size:,}",
        first if len(shards) == 1 else f"{first} ... {last}",
    )
    return shards


def refuse_files_of_delta_tables(stream: Stream, files: Sequence[FoundFile]) -> None:
    """Refuses files of a Delta table, some of which have rows that were replaced or deleted."""
    kind = kind_of(stream.pattern)
    if table_kind(stream.pattern) is not None or (kind is not None and kind.is_web):
        return  # a web server lists nothing
    named = (before_wildcard(stream.pattern), *(file.path for file in files[:1]))
    for folder in dict.fromkeys(map(_folder_of_table, named)):
        log = f"{folder.rstrip('/')}/{_DELTA_LOG}"
        if (os.path.isdir(log) or not is_local(log)) and find_files(
            Stream(stream.label, f"{log}/*.json"), enough=1
        ):
            what = "these are files of a Delta table, also of its older versions"
            remedy = f"write delta:{folder} in place of {stream.pattern}"
            raise InputError(stream.told(what, folder), remedy)


def _folder_of_table(path: str) -> str:
    folder = path.rpartition("/")[0]
    while "=" in folder.rpartition("/")[2]:
        folder = folder.rpartition("/")[0]
    return folder or ("/" if path.startswith("/") else ".")


def open_anywhere(path: str) -> Any:
    if is_local(path):
        return open_file(path)
    # Only the suffix decides, and chunks.py decompresses. Beam's own decompression
    # treats a truncated file like a complete one.
    return filesystem_of(path).open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def open_for_arrow(path: str) -> pa.NativeFile:
    if is_local(path):
        with open_file(path):  # an error if it is not a file
            return pa.OSFile(path)  # without Python, so without the interpreter's lock
    return pa.PythonFile(open_anywhere(path), "r")


def version_of(stream: Stream, path: str) -> str | None:
    """The version of a file, different for each change; None if the filesystem has no versions."""
    try:
        if is_local(path):
            return local_version(path)
        filesystem = filesystem_of(path)
        if isinstance(filesystem, HadoopFileSystem):
            # HDFS would compute a checksum on the nodes of the blocks, again for each call.
            version = filesystem.last_updated(path)
        else:
            version = filesystem.checksum(path)
    except NotImplementedError:
        return None
    except FileNotFoundError as error:
        raise changed(stream, path, "was removed") from error
    except Exception as error:  # each filesystem has exceptions of its own
        what = f"{stream.label}: cannot be read"
        raise unreadable(what, error, "check the file", stream.shown(path)) from error
    return None if version is None else str(version)


def require_unchanged(stream: Stream, path: str, version: str | None) -> None:
    if version_of(stream, path) != version:
        raise changed(stream, path, "was changed after it was first read")


def check_visible(streams: Sequence[Stream]) -> None:
    # Names of shards are not compared, because that takes seconds if there are many.
    for stream in streams:
        files = _visible(stream)
        if files is None:
            continue
        require_files(stream, files)
        if not any(file.size for file in files):
            what = f"{stream.label} have 0 lines: {stream.pattern}"
            raise InputError(what, "check that the files were written")


def _visible(stream: Stream) -> list[FoundFile] | None:
    if table_kind(stream.pattern) is not None:
        return None  # the workers read its log once
    here = is_local(stream.pattern)
    if here and not os.path.isdir(os.path.dirname(before_wildcard(stream.pattern)) or "."):
        return None
    try:
        files = find_files(stream, enough=1)
    except BleuError as error:
        if here and not isinstance(error.__cause__, OSError):
            raise
        return None
    return files if here or not files else None


def check_readable(streams: Sequence[Stream]) -> None:
    for stream in streams:
        if table_kind(stream.pattern) is not None:
            continue  # a table's log is read once, by one worker
        files = find_files(stream, enough=1)
        require_files(stream, files)
        first = min(files, key=lambda file: file.path)
        with opened(stream, first, open_anywhere) as file:
            file.read(1)
