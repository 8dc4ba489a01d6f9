"""Listing, reading, writing, moving and removing files on any of Beam's filesystems."""

from __future__ import annotations

import contextlib
import dataclasses
import fnmatch
import os
import re
import shutil
import stat
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from apache_beam.io.filesystem import CompressionTypes, FileSystem
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.hadoopfilesystem import HadoopFileSystem
from apache_beam.io.localfilesystem import LocalFileSystem

from beam_bleu.transforms.errors import JobError, lacks_open_files, open_file_limit, said
from beam_bleu.transforms.wiring.filesystems import filesystem_of, is_local, join, split

RENAMING = (LocalFileSystem, HadoopFileSystem)
"""Filesystems with folders and an atomic rename; on object stores a put is atomic."""

_AT_ONCE = 16
"""How many files are read or moved at a time: an object store is slow for each of them."""

_MIME_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
    ".prom": "text/plain; charset=utf-8",
}
"""What object stores tell browsers about a file, by the end of its name."""

_TRIES = 9
"""How often a file is tried again whose folder another run has removed."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A file in a folder.

    Attributes:
      name: its path relative to the folder, with "/" between the parts.
      modified: the time of the last change (seconds of its filesystem's clock), 0 if unknown.
      is_link: whether it is a link to a file or to a folder.
    """

    name: str
    modified: float
    is_link: bool = False


def exists(path: str) -> bool:
    """Whether there is a file or a folder at a path.

    Raises:
      JobError: the filesystem raises an error. Beam and `os.path` would return False then.
    """
    with reading(path):
        return (
            _state(path) is not None if is_local(path) else bool(filesystem_of(path).exists(path))
        )


def is_folder(path: str) -> bool:
    """Whether there is a folder at a path of this machine, or an object in it in an object store.

    Raises:
      JobError: the filesystem raises an error.
    """
    with reading(path):
        if not is_local(path):
            return bool(filesystem_of(path).has_folder(path))
        state = _state(path)
    return state is not None and stat.S_ISDIR(state.st_mode)


def is_regular(path: str) -> bool:
    """Whether a file is not a pipe, a device or a folder: opening one of these can block."""
    return not is_local(path) or stat.S_ISREG(os.stat(path).st_mode)


def _state(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def listed(folder: str, hidden: bool = True) -> list[Entry]:
    """The files in a folder and below it, by name; none if there is no such folder.

    Links are listed, but not followed.

    Args:
      folder: the folder.
      hidden: whether to list files named `.*` or `_*`, and files in folders with such names.

    Raises:
      JobError: the folder or a folder in it cannot be listed.
    """
    with reading(folder):
        # Beam can only match patterns, and cannot quote wildcards in a name.
        all_entries = _walked(folder, hidden) if is_local(folder) else _matched(folder)
        entries = [entry for entry in all_entries if hidden or not _is_hidden(entry.name)]
    return sorted(entries, key=lambda entry: entry.name)


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/"))


def _matched(folder: str) -> list[Entry]:
    filesystem = filesystem_of(folder)
    if isinstance(filesystem, RENAMING) and not filesystem.exists(folder):
        return []
    pattern = join(folder, "**")
    prefix = pattern.removesuffix("**")
    matched = filesystem.match([pattern])[0].metadata_list
    return [
        Entry(file.path[len(prefix) :], file.last_updated_in_seconds or 0.0)
        for file in matched
        if file.path.startswith(prefix) and not file.path.endswith("/")
    ]


def _walked(folder: str, hidden: bool) -> Iterator[Entry]:
    for parent, folders, files in os.walk(folder, onerror=_fail_unless_missing):
        if not hidden:
            folders[:] = [name for name in folders if not _is_hidden(name)]
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in [*files, *links]:
            path = os.path.join(parent, name)
            with contextlib.suppress(FileNotFoundError):  # another run has just removed it
                modified = os.lstat(path).st_mtime
                yield Entry(os.path.relpath(path, folder), modified, os.path.islink(path))


def _fail_unless_missing(error: OSError) -> None:
    # Without this, os.walk would treat a folder that it cannot list like an empty one.
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        raise _not_read(str(error.filename), error) from error


def names(folder: str) -> list[str]:
    """The names of the files in a folder, without those in its subfolders.

    Raises:
      JobError: the folder cannot be listed.
    """
    if is_local(folder):
        return _names(folder, of_folders=False)
    return [entry.name for entry in listed(folder) if "/" not in entry.name]


def matching(folder: str, pattern: str) -> list[str]:
    """The names of the files in a folder that match a pattern, without links.

    Args:
      folder: the folder; without wildcards, if it is not on this machine.
      pattern: a name with `*` for any characters.

    Raises:
      JobError: the folder cannot be listed.
    """
    if is_local(folder):
        matched = fnmatch.filter(_names(folder, of_folders=False), pattern)
        return [name for name in matched if not os.path.islink(os.path.join(folder, name))]
    with reading(folder):
        # Not `listed`, which would list the segment scores below the folder, too.
        (result,) = filesystem_of(folder).match([join(folder, pattern)])
        return sorted(split(file.path)[1] for file in result.metadata_list)


def paths_matching(pattern: str) -> list[str]:
    """The files and folders of an object store that match a pattern, without hidden ones.

    Raises:
      JobError: they cannot be listed.
    """
    pattern = pattern.rstrip("/")
    folder = re.split(r"[*?[]", pattern)[0].rpartition("/")[0]
    # A folder is the beginning of the names of its objects.
    parts = [f"{folder}/{entry.name}".split("/") for entry in listed(folder, hidden=False)]
    paths = {"/".join(names[:end]) for names in parts for end in range(len(names) + 1)}
    return [*filter(re.compile(FileSystem.translate_pattern(pattern)).fullmatch, paths)]


def folders(folder: str) -> list[str]:
    """The names of the folders in a folder, without links to folders.

    Raises:
      JobError: the folder cannot be listed.
    """
    if is_local(folder):
        return _names(folder, of_folders=True)
    with reading(folder):
        return list(filesystem_of(folder).folders(folder))


def _names(folder: str, of_folders: bool) -> list[str]:
    with (
        reading(folder),
        contextlib.suppress(FileNotFoundError, NotADirectoryError),
        os.scandir(folder) as entries,
    ):
        return sorted(
            entry.name for entry in entries if entry.is_dir(follow_symlinks=False) == of_folders
        )
    return []


def read(path: str) -> bytes:
    """The bytes of a file."""
    with opened(path) as file:
        data: bytes = file.read()
    return data


def opened(path: str) -> Any:
    """A file, to read its raw bytes."""
    return filesystem_of(path).open(path, compression_type=CompressionTypes.UNCOMPRESSED)


def created(path: str) -> Any:
    """A new file, to write."""
    filesystem = filesystem_of(path)
    mime_type = _MIME_TYPES.get(os.path.splitext(path)[1], "application/octet-stream")
    for _ in range(_TRIES if isinstance(filesystem, LocalFileSystem) else 0):
        # This makes the folders above the file. A run that ends removes those that are empty, so
        # one that is there can be gone when the next one is made.
        with contextlib.suppress(FileNotFoundError):
            return filesystem.create(path, mime_type, CompressionTypes.UNCOMPRESSED)
    return filesystem.create(path, mime_type, CompressionTypes.UNCOMPRESSED)


def modified(path: str) -> float:
    """The time of a file's last change, in seconds of its filesystem's clock."""
    return float(filesystem_of(path).last_updated(path))


def is_temporary(name: str, of: Collection[str]) -> bool:
    """Whether a file has the name that `write_atomically` gives to a part of one of these files."""
    return any(re.fullmatch(rf"\.{re.escape(target)}\.[0-9a-f]{{32}}", name) for target in of)


def write_atomically(path: str, data: bytes) -> None:
    """Writes a file so that a reader sees either the whole new file or the old one.

    Raises:
      JobError: it cannot be written.
    """
    with writing(path):
        folder, name = split(path)
        filesystem = filesystem_of(path)
        if not isinstance(filesystem, RENAMING):
            _write(path, data)
            return
        if not FileSystems.exists(folder):
            with contextlib.suppress(OSError):  # another attempt has just made it
                FileSystems.mkdirs(folder)
        temporary = join(folder, f".{name}.{uuid.uuid4().hex}")  # see `is_temporary`
        try:
            _write(temporary, data)
            if isinstance(filesystem, LocalFileSystem):
                os.replace(temporary, path)
            else:
                FileSystems.rename([temporary], [path])
        except BaseException:
            with contextlib.suppress(Exception):
                remove_files(folder, [split(temporary)[1]])
            raise


def check_writable(path: str) -> None:
    """Checks that `write_atomically` can write a file: writes a part of it, and removes that.

    Raises:
      JobError: it cannot be written.
    """
    with writing(path):
        folder, name = split(path)
        probe = f".{name}.{uuid.uuid4().hex}"  # see `is_temporary`
        _write(join(folder, probe), b"")
        remove_files(folder, [probe])


def _write(path: str, data: bytes) -> None:
    with created(path) as file:
        file.write(data)


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """Makes a `JobError` of any exception that a filesystem raises while the body writes."""
    try:
        yield
    except JobError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise _failed(
            f"{path} cannot be written: {said(error, whole=True)}", error, "check the folder"
        ) from error


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Makes a `JobError` of any exception that a filesystem raises while the body reads."""
    try:
        yield
    except JobError:
        raise
    except Exception as error:  # each filesystem has exceptions of its own
        raise _not_read(path, error) from error


def _not_read(path: str, error: Exception) -> JobError:
    remedy = "fix it or its permissions, or remove it"
    if not is_local(path):
        remedy = "check the path and the access to its filesystem"
    return _failed(f"{path} cannot be read: {said(error)}", error, remedy)


def _failed(what: str, error: Exception, remedy: str) -> JobError:
    """The error of a filesystem, or the special error for too many open files."""
    return open_file_limit(what) if lacks_open_files(error) else JobError(what, remedy)


def make_folder(folder: str) -> None:
    """Makes a folder, if the filesystem has folders."""
    filesystem = filesystem_of(folder)
    if isinstance(filesystem, LocalFileSystem):
        os.makedirs(folder, exist_ok=True)
    elif isinstance(filesystem, RENAMING) and not FileSystems.exists(folder):
        FileSystems.mkdirs(folder)


def move(
    moved: Sequence[str], source: str, to: str, check: Callable[[], None] = lambda: None
) -> None:
    """Moves the files of these names from one folder to another, a few at a time.

    Args:
      moved: the names.
      source: the folder with the files.
      to: the other folder.
      check: called before each few files, in any thread; an exception ends it.
    """
    if not moved:
        return
    make_folder(to)
    filesystem = filesystem_of(to)
    step = filesystem.CHUNK_SIZE
    parts = [moved[first : first + step] for first in range(0, len(moved), step)]

    def move_part(part: Sequence[str]) -> None:
        check()
        filesystem.rename([join(source, name) for name in part], [join(to, name) for name in part])

    each(move_part, parts)


def remove_files(folder: str, removed: Sequence[str]) -> None:
    """Removes the files of these names from a folder."""
    paths = [join(folder, name) for name in removed]
    if is_local(folder):
        for path in paths:  # Beam would read wildcards in a folder's name as a pattern
            os.unlink(path)
    elif paths:
        filesystem_of(folder).delete(paths)


def remove(folder: str) -> None:
    """Removes a folder and everything in it, if it exists."""
    filesystem = filesystem_of(folder)
    if isinstance(filesystem, LocalFileSystem):
        if os.path.isdir(folder):
            shutil.rmtree(folder)
    elif isinstance(filesystem, RENAMING):
        if FileSystems.exists(folder):
            FileSystems.delete([folder])
    else:
        remove_files(folder, [entry.name for entry in listed(folder)])


def remove_if_empty(folder: str) -> None:
    """Removes a folder only if it is empty."""
    if is_local(folder):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def each(work: Callable[[Any], Any], elements: Sequence[Any]) -> list[Any]:
    """The results of a function for all elements, in their order, several at a time."""
    if len(elements) < 2:
        return [work(element) for element in elements]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(work, elements))
