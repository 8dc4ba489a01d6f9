"""Listing, reading, writing and removing files on this machine, in object stores and on HDFS.

Loading Beam takes half a second, and files of this machine need none of it.
"""

from __future__ import annotations

import contextlib
import mimetypes
import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import Any

from beam_bleu.pipeline.output.file_names import temporary_name
from beam_bleu.transforms.errors import JobError, lacks_open_files, open_file_limit, said
from beam_bleu.transforms.wiring.filesystems import filesystem_of, is_local, join


def exists(path: str) -> bool:
    """Whether there is a file or a folder at a path.

    Raises:
      JobError: the filesystem raises an error. Beam and `os.path` would return False then.
    """
    with reading(path):
        if not is_local(path):
            return bool(filesystem_of(path).exists(path))
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.stat(path)
            return True
    return False


def names(folder: str) -> list[str]:
    """The names of the files in a folder, without those in its subfolders; none if it is missing.

    Raises:
      JobError: the folder cannot be listed.
    """
    with reading(folder):
        if not is_local(folder):
            return _matched(folder, "*")
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(folder) as found,
        ):
            return sorted(entry.name for entry in found if not entry.is_dir(follow_symlinks=False))
    return []


def visible_files(folder: str) -> list[str]:
    """The files in a folder and below it, as readers of Parquet find them.

    They ignore names that begin with `.` or `_`. Links to folders are not followed.

    Returns:
      their paths relative to the folder; none if it is missing.

    Raises:
      JobError: the folder or a folder in it cannot be listed.
    """
    with reading(folder):
        found = _walked(folder) if is_local(folder) else _matched(folder, "**")
        return sorted(name for name in found if not re.search("(?:^|/)[._]", name))


def _matched(folder: str, pattern: str) -> list[str]:
    filesystem = filesystem_of(folder)
    if _has_rename(folder) and not filesystem.exists(folder):
        return []
    # Beam can only match patterns, and cannot quote wildcards in a name.
    prefix = join(folder, "")
    (result,) = filesystem.match([prefix + pattern])
    paths = [file.path for file in result.metadata_list]
    return [path[len(prefix) :] for path in paths if path[len(prefix) :] and path[-1] != "/"]


def _walked(folder: str) -> Iterator[str]:
    def fail(error: OSError) -> None:  # os.walk would treat it like an empty folder
        raise error

    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for parent, folders, files in os.walk(folder, onerror=fail):
            folders[:] = [name for name in folders if not name.startswith((".", "_"))]
            for name in files:
                yield os.path.relpath(os.path.join(parent, name), folder)


def paths_matching(pattern: str) -> list[str]:
    """The files and folders of an object store that match a pattern, without hidden ones.

    Raises:
      JobError: they cannot be listed.
    """
    from apache_beam.io.filesystem import FileSystem

    pattern = pattern.rstrip("/")
    folder = re.split(r"[*?[]", pattern)[0].rpartition("/")[0]
    # A folder is the beginning of the names of its objects.
    parts = [f"{folder}/{name}".split("/") for name in visible_files(folder)]
    paths = {"/".join(names[:end]) for names in parts for end in range(len(names) + 1)}
    return [*filter(re.compile(FileSystem.translate_pattern(pattern)).fullmatch, paths)]


def read(path: str, most: int = -1) -> bytes:
    """The bytes of a file, or so many of its first ones.

    Raises:
      OSError: it is not a regular file, such as a pipe.
    """
    if is_local(path):
        if not stat.S_ISREG(os.stat(path).st_mode):  # to open a pipe could block
            raise OSError(None, "it is not a regular file")
        with open(path, "rb") as file:
            return file.read(most)
    with filesystem_of(path).open(path, compression_type=_uncompressed()) as file:
        data: bytes = file.read(most)
    return data


def created(path: str) -> Any:
    """A new file, to write. Its folder is made if it is missing."""
    if is_local(path):
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
        return open(path, "wb")
    mime_type = mimetypes.guess_type(path)[0] or "application/octet-stream"  # for browsers
    return filesystem_of(path).create(path, mime_type, _uncompressed())


def _uncompressed() -> str:
    from apache_beam.io.filesystem import CompressionTypes

    return str(CompressionTypes.UNCOMPRESSED)


def _has_rename(path: str) -> bool:
    """Whether a filesystem of Beam has folders and an atomic rename. A put is atomic, too."""
    from apache_beam.io.hadoopfilesystem import HadoopFileSystem

    return isinstance(filesystem_of(path), HadoopFileSystem)


def write_atomically(path: str, data: bytes) -> None:
    """Writes a file so that a reader sees either the whole new file or the old one.

    Raises:
      JobError: it cannot be written.
    """
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
    """Checks that `write_atomically` can write a file: writes a part of it, and removes that.

    Raises:
      JobError: it cannot be written.
    """
    with writing(path), _temporary(path, b"") as temporary:
        remove([temporary])


@contextlib.contextmanager
def _temporary(path: str, data: bytes) -> Iterator[str]:
    """A file beside another one, which the body moves or removes."""
    folder, name = os.path.split(path)
    temporary = join(folder, temporary_name(name))
    try:
        with created(temporary) as file:
            file.write(data)
        yield temporary
    except BaseException:
        with contextlib.suppress(Exception):
            remove([temporary])
        raise


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """Makes a `JobError` of any exception that a filesystem raises while the body writes."""
    try:
        yield
    except JobError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        cause = f"{path} cannot be written: {said(error, whole=True)}"
        raise _failed(cause, error, "check the folder") from error


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Makes a `JobError` of any exception that a filesystem raises while the body reads."""
    try:
        yield
    except JobError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        remedy = "check the path, its permissions and the access to its filesystem"
        raise _failed(f"{path} cannot be read: {said(error)}", error, remedy) from error


def _failed(cause: str, error: Exception, remedy: str) -> JobError:
    """The error of a filesystem, or the special error for too many open files."""
    return open_file_limit(cause) if lacks_open_files(error) else JobError(cause, remedy)


def remove(paths: Sequence[str]) -> None:
    """Removes files of one filesystem, if they are there."""
    if paths and not is_local(paths[0]):
        filesystem_of(paths[0]).delete(paths)
        return
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
