"""Finds and opens files on any of Beam's filesystems, and gets their versions."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.hadoopfilesystem import HadoopFileSystem

from beam_bleu.transforms.errors import BleuError, InputError, unreadable
from beam_bleu.transforms.pairing.files.listing import local_files, local_version, open_file
from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream
from beam_bleu.transforms.wiring.filesystems import filesystem_of, is_local

__all__ = ["find_files", "open_anywhere", "open_for_arrow", "version_of"]


def find_files(stream: Stream) -> list[FoundFile]:
    """The files that a stream's pattern matches, in any order.

    Raises:
      BleuError: they cannot be listed.
    """
    try:
        if is_local(stream.pattern):
            return local_files(stream.label, stream.pattern)
        matched = filesystem_of(stream.pattern).match([stream.pattern])[0].metadata_list
    except BleuError:
        raise
    except Exception as error:  # filesystems raise exceptions of their own types
        raise unreadable(
            f"{stream.label}: cannot be listed",
            error,
            "check the path and the access to its filesystem",
            stream.pattern,
        ) from error
    return [FoundFile(file.path, file.size_in_bytes) for file in matched]


def open_anywhere(path: str) -> Any:
    """Opens a file to read its raw bytes."""
    if is_local(path):
        return open_file(path)
    # Only the suffix decides, and decompression.py decompresses. Beam's own decompression
    # treats a truncated file like a complete one.
    return filesystem_of(path).open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def open_for_arrow(path: str) -> pa.NativeFile:
    """Opens a file for Arrow, which reads bytes at any places."""
    if is_local(path):
        with open_file(path):  # an error if it is not a file
            return pa.OSFile(path)  # without Python, so without the interpreter's lock
    return pa.PythonFile(open_anywhere(path), "r")


def version_of(stream: Stream, path: str) -> str | None:
    """The version of a file, different for each change; None if the filesystem has no versions.

    On this machine's filesystem it is that of `local_version`. On HDFS it is the time of the last
    change. On object stores it is the object's checksum or ETag.

    Raises:
      InputError: the file was removed or cannot be read.
    """
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
        raise InputError(
            stream.told("the file was removed while the job ran", path),
            "start again when the file is complete, and do not remove it",
        ) from error
    except Exception as error:  # each filesystem has exceptions of its own
        what = f"{stream.label}: cannot be read"
        raise unreadable(what, error, "check the file", stream.shown(path)) from error
    return None if version is None else str(version)
