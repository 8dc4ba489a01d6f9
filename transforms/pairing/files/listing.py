"""Finds the files of a pattern on this machine's filesystem: all that matches, or an error.

Beam's own listing leaves out entries that it cannot read. If the same shards of every stream were
left out, the score would look plausible.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from beam_bleu.transforms.errors import (
    BleuError,
    InputError,
    UsageError,
    lacks_open_files,
    open_file_limit,
)
from beam_bleu.transforms.pairing.files.streams import FoundFile, is_pattern

NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # opening a pipe does not wait for its writer


def local_files(label: str, pattern: str) -> list[FoundFile]:
    """The files of a path or pattern, in any order: `*`, `?` and `[...]` match within a name, `**`
    any number of folders. A file whose name is the pattern comes first.
    """
    matched = []
    if _entry(label, pattern) is not None:
        matched = [pattern]
    elif is_pattern(pattern):
        base = "/" if pattern.startswith("/") else ""
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        matched = sorted(set(_matching(label, base, parts)))
    listed = []
    files: dict[tuple[int, int], str] = {}
    for path in matched:
        status = _looked_at(label, path)
        if stat.S_ISREG(status.st_mode):
            first = files.setdefault((status.st_dev, status.st_ino), path)
            # Hard links count as separate files: tests make large corpora of them.
            if first != path and os.path.realpath(first) == os.path.realpath(path):
                what = f"{label}: two names are links to the same file: {first}, {path}"
                raise InputError(what, "use a pattern that matches only one of the two")
            listed.append(FoundFile(path, status.st_size))
        elif not stat.S_ISDIR(status.st_mode):
            raise UsageError(
                f"{label}: this is not a file but a pipe or a device: {path}",
                "save its text in a file; only a job in this process reads pipes, by their names",
            )
        elif path == pattern:
            raise UsageError(
                f"{label}: this is a folder: {path}", f"name its files: {path.rstrip('/')}/*"
            )
    return listed


def open_file(path: str) -> BinaryIO:
    file = open(path, "rb", opener=_opened)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is not a file any more")
    return file


def local_version(path: str) -> str:
    """The inode, the size, and the times of the last change of the file and of its inode, which a
    program cannot set. Two changes within one tick of the clock that keep the size are one version.
    """
    status = os.stat(path)
    told = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return ".".join(f"{number:x}" for number in told)


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | NO_WAITING)


def _matching(label: str, base: str, parts: list[str]) -> Iterator[str]:
    part, rest = parts[0], parts[1:]
    if not is_pattern(part):
        path = os.path.join(base, part)
        if rest:
            yield from _matching(label, path, rest)
        elif _entry(label, path) is not None:
            yield path
        return
    if part == "**" and rest:
        yield from _matching(label, base, rest)
    for name in _names(label, base):
        path = os.path.join(base, name)
        if part == "**":
            status = _entry(label, path)  # of a link, not of its target: links can form a ring
            if status is not None and stat.S_ISDIR(status.st_mode):
                yield from _matching(label, path, parts)
            elif not rest:
                yield path
        elif fnmatch.fnmatchcase(name, part):
            if not rest:
                yield path
            elif stat.S_ISDIR(_looked_at(label, path).st_mode):
                yield from _matching(label, path, rest)


def _names(label: str, folder: str) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _unreadable(label, folder, error) from error


def _entry(label: str, path: str) -> os.stat_result | None:
    """The entry with this name, which can be a broken link; None if there is none."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise _unreadable(label, path, error) from error


def _looked_at(label: str, path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        link = "the link " if os.path.islink(path) else ""
        raise _unreadable(label, link + path, error) from error


def _unreadable(label: str, what: str, error: OSError) -> BleuError:
    if lacks_open_files(error):
        return open_file_limit(f"{label}: {what}")
    return InputError(
        f"{label}: cannot be read: {error.strerror}: {what}",
        "fix it or its permissions, or remove it",
    )
