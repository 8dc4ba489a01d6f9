"""Reads, writes and lists files on this machine (without Beam), in object stores and on HDFS."""

from __future__ import annotations

import contextlib
import mimetypes
import os
import re
import stat
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from beam_bleu.transforms.errors import JobError, lacks_open_files, open_file_limit, said
from beam_bleu.transforms.wiring.filesystems import filesystem_of, is_local, join

_UNCOMPRESSED = "uncompressed"  # the value of Beam's CompressionTypes.UNCOMPRESSED


def exists(path: str) -> bool:
    with reading(path):
        if not is_local(path):
            return bool(filesystem_of(path).exists(path))
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.stat(path)
            return True
    return False


def visible_files(folder: str, *, below: bool = True) -> list[str]:
    """The paths of files in a folder and its subfolders, relative to it; none if it is missing.

    Names that begin with `.` or `_` are ignored, as Parquet readers do. Links are not followed.
    """
    with reading(folder):
        list_files = _walked if is_local(folder) else _matched
        names = list_files(folder, below)
        return sorted(name for name in names if not re.search("(?:^|/)[._]", name))


def _walked(folder: str, below: bool) -> Iterator[str]:
    def fail(error: OSError) -> None:  # os.walk would ignore it, as if the folder were empty
        raise error

    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for parent, folders, files in os.walk(folder, onerror=fail):
            folders[:] = [name for name in folders if below and not name.startswith((".", "_"))]
            for name in files:
                yield os.path.relpath(os.path.join(parent, name), folder)


def _matched(folder: str, below: bool) -> list[str]:
    filesystem = filesystem_of(folder)
    if _has_rename(folder) and not filesystem.exists(folder):
        return []
    # Beam can only match patterns, and cannot quote wildcards in a name.
    prefix = join(folder, "")
    (result,) = filesystem.match([prefix + ("**" if below else "*")])
    names = [file.path[len(prefix) :] for file in result.metadata_list]
    return [name for name in names if name and name[-1] != "/"]


def paths_matching(pattern: str) -> list[str]:
    from apache_beam.io.filesystem import FileSystem

    pattern = pattern.rstrip("/")
    folder = re.split(r"[*?[]", pattern)[0].rpartition("/")[0]
    # A folder of an object store is only a prefix of its objects' names.
    parts = [f"{folder}/{name}".split("/") for name in visible_files(folder)]
    paths = {"/".join(names[:end]) for names in parts for end in range(len(names) + 1)}
    return [*filter(re.compile(FileSystem.translate_pattern(pattern)).fullmatch, paths)]


def read(path: str, most: int = -1) -> bytes:
    with reading(path):
        if not is_local(path):
            with filesystem_of(path).open(path, compression_type=_UNCOMPRESSED) as file:
                data: bytes = file.read(most)
            return data
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe could block
            raise OSError(None, "it is not a regular file")
        with open(path, "rb") as file:
            return file.read(most)


def created(path: str) -> Any:
    if is_local(path):
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
        return open(path, "wb")
    mime_type = mimetypes.guess_type(path)[0] or "application/octet-stream"  # for browsers
    return filesystem_of(path).create(path, mime_type, _UNCOMPRESSED)


def _has_rename(path: str) -> bool:
    """Whether a filesystem of Beam renames atomically; object stores have an atomic put instead."""
    from apache_beam.io.hadoopfilesystem import HadoopFileSystem

    return isinstance(filesystem_of(path), HadoopFileSystem)


def write_atomically(path: str, data: bytes) -> None:
    """Writes a file so that readers see either the old one or the whole new one."""
    with writing(path):
        if not is_local(path) and not _has_rename(path):
            with created(path) as file:
                file.write(data)
            return
        with _temporary(path, data) as temporary:
            if is_local(path):
                os.replace(temporary, path)
            else:
                filesystem_of(path).rename([temporary], [path])


def check_writable(path: str) -> None:
    with writing(path), _temporary(path, b"") as temporary:
        remove([temporary])


@contextlib.contextmanager
def _temporary(path: str, data: bytes) -> Iterator[str]:
    folder, name = os.path.split(path)
    temporary = join(folder, f".{name}.{uuid.uuid4().hex}")
    try:
        with created(temporary) as file:
            file.write(data)
        yield temporary
    except BaseException:
        with contextlib.suppress(Exception):
            remove([temporary])
        raise


@contextlib.contextmanager
def writing(path: str, doing: str = "written", remedy: str = "check the folder") -> Iterator[None]:
    try:
        yield
    except JobError:
        raise
    except Exception as error:  # each filesystem has its own exceptions
        cause = f"{path} cannot be {doing}: {said(error, whole=doing != 'read')}"
        if lacks_open_files(error):
            raise open_file_limit(cause) from error
        raise JobError(cause, remedy) from error


def reading(path: str) -> contextlib.AbstractContextManager[None]:
    return writing(path, "read", "check the path, its permissions and the access to its filesystem")


def remove(paths: Sequence[str]) -> None:
    if not paths:
        return
    with writing(paths[0], "removed"):
        if not is_local(paths[0]):
            filesystem_of(paths[0]).delete(paths)
            return
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
