"""Finding the files of a pattern, on this machine's filesystem.

Beam's own listing leaves out what it cannot look at (a broken link, a folder
without permission), and a corpus that lacks the same shards of every stream
would get a plausible score. Here everything that matches is either a file or
an error.
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
    too_many_open_files,
)
from beam_bleu.transforms.pairing.line_parallel.streams import FoundFile, is_pattern

_NO_WAITING = getattr(os, "O_NONBLOCK", 0)


def local_files(label: str, pattern: str) -> list[FoundFile]:
    """The files that a path or pattern of this machine's filesystem means, in any order.

    `*`, `?` and `[...]` match within a name, `**` any number of folders. A
    file that is called like the pattern is meant literally.

    Args:
      label: what messages call the stream.
      pattern: the path or pattern.

    Raises:
      InputError: something that matches cannot be read.
      UsageError: something that matches is neither file nor folder (a pipe), a
        path without wildcards is a folder, or a pattern is also a file's name.
    """
    matched = []
    if is_pattern(pattern):
        base = "/" if pattern.startswith("/") else ""
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        matched = sorted(set(_matching(label, base, parts)))
    if _exists(label, pattern):
        if matched not in ([], [pattern]):
            raise UsageError(
                f"{label}: {pattern} is a file and also a pattern that matches {matched[0]}",
                "rename the file: its name has wildcards",
            )
        matched = [pattern]
    found = []
    files: dict[tuple[int, int], str] = {}
    for path in matched:
        status = _looked_at(label, path)
        if stat.S_ISREG(status.st_mode):
            first = files.setdefault((status.st_dev, status.st_ino), path)
            # Hard links are files of their own, and big corpora are made of them to try things.
            if first != path and os.path.realpath(first) == os.path.realpath(path):
                raise InputError(
                    f"{label}: {first} and {path} are the same file, through a symbolic link, so "
                    "its lines would be scored twice",
                    "use a pattern that matches only one of the two",
                )
            found.append(FoundFile(path, status.st_size))
        elif not stat.S_ISDIR(status.st_mode):
            raise UsageError(
                f"{label}: {path} is not a file but a pipe or a device, "
                "which can be read only once",
                "save it to a file",
            )
        elif path == pattern:
            raise UsageError(
                f"{label}: {path} is a folder", f"name its files: {path.rstrip('/')}/*"
            )
    return found


def open_file(path: str) -> BinaryIO:
    """Opens a file of this machine's filesystem for reading its bytes.

    Raises:
      OSError: it cannot be opened, or is not a file: a pipe could block for ever.
    """
    file = open(path, "rb", opener=_opened)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is not a file any more")
    return file


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_WAITING)


def _matching(label: str, base: str, parts: list[str]) -> Iterator[str]:
    """The paths below `base` whose names match the parts of a pattern."""
    part, rest = parts[0], parts[1:]
    if not is_pattern(part):
        path = os.path.join(base, part)
        if rest:
            yield from _matching(label, path, rest)
        elif _exists(label, path):
            yield path
        return
    if part == "**" and rest:
        yield from _matching(label, base, rest)
    for name in _names(label, base):
        path = os.path.join(base, name)
        if part == "**":
            if os.path.isdir(path) and not os.path.islink(path):  # a link may lead to a ring
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


def _exists(label: str, path: str) -> bool:
    """Whether there is something of this name, be it a broken link."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        raise _unreadable(label, path, error) from error
    return True


def _looked_at(label: str, path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        link = "the link " if os.path.islink(path) else ""
        raise _unreadable(label, link + path, error) from error


def _unreadable(label: str, what: str, error: OSError) -> BleuError:
    if lacks_open_files(error):
        return too_many_open_files(f"{label}: {what}")
    return InputError(
        f"{label}: {what} cannot be read: {error.strerror}",
        "fix it or its permissions, or remove it",
    )
