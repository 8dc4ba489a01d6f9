"""The folder for compiled code, to which no other user can write, and the files in it.

Loading compiled code means running it. So a folder or a file is used only if it belongs to this
user or to root, and no other user can write to it. Files are checked when they are open, so it does
not matter who can write to the folders above them.

A file begins with the SHA-256 of its name and its content. A damaged or renamed one is never used.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import hashlib
import logging
import os
import pathlib
import stat
import uuid
from collections.abc import Iterator


@dataclasses.dataclass(frozen=True)
class CacheFolder:
    """The cache folder.

    Attributes:
      path: the folder; None if no folder can be used.
      warning: a message for the user, or None.
    """

    path: pathlib.Path | None
    warning: str | None = None


@functools.cache
def cache_folder() -> CacheFolder:
    """The first folder that can be written, or else the first one that can be read."""
    package = pathlib.Path(__file__).parent.parent
    name = "beam-bleu-kernel"
    path: pathlib.Path | None = None
    refused: list[str] = []
    for parent in _parents(package):
        try:
            folder = _made(parent / name)
        except OSError as error:
            refused.append(f"{parent}: {reason(error)}")
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            path = folder
            break
        path = path or folder
    if path is None:
        return CacheFolder(
            None,
            "compiled code cannot be kept, so every start compiles, which takes a few seconds: "
            f"set NUMBA_CACHE_DIR to a folder that only you can write ({'; '.join(refused)})",
        )
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen and refused and refused[0].startswith(f"{chosen}: "):
        return CacheFolder(
            path, f"NUMBA_CACHE_DIR is not used ({refused[0]}): compiled code is kept in {path}"
        )
    return CacheFolder(path)


def reason(error: BaseException) -> str:
    """The reason for an error, without the path."""
    text = error.strerror if isinstance(error, OSError) else None
    return text or str(error) or type(error).__name__


def require_trusted(state: os.stat_result, path: str | os.PathLike[str]) -> None:
    """Checks that only this user and root can write to a file or folder.

    Args:
      state: its owner and mode.
      path: its name for messages.

    Raises:
      PermissionError: another user can write to it.
    """
    if os.name != "posix":
        return  # other systems have no such owners and bits
    if state.st_uid not in (os.geteuid(), 0):
        raise PermissionError(f"{path} belongs to another user")
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"other users can write {path}")


def _made(folder: pathlib.Path) -> pathlib.Path:
    """The folder, made if it is missing, and checked by `require_trusted`.

    Raises:
      OSError: others can write to it, or it cannot be made.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o755, exist_ok=True)
    require_trusted(folder.stat(), folder)
    return folder


def _parents(package: pathlib.Path) -> Iterator[pathlib.Path]:
    """The places for the folder: the user's choice, beside the source, the user's cache."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield pathlib.Path(chosen)
    yield package / "__pycache__"
    with contextlib.suppress(RuntimeError):  # a user without a home, as in many containers
        yield pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()


_logger = logging.getLogger("beam_bleu")

_DIGEST_BYTES = 32

# Do not follow a link, and do not wait for a pipe.
_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class _Warnings:
    """What this process has warned about. Otherwise every function would give the same warning."""

    warned = False
    unwritable = False


def warn_once(message: str) -> None:
    """Warns, unless this process has already warned about its compiled code."""
    if not _Warnings.warned:
        _Warnings.warned = True
        _logger.warning(message)


def keep(path: pathlib.Path, code: bytes) -> None:
    """Keeps code in a file if that is possible, and warns if not."""
    if _Warnings.unwritable:
        return
    try:
        _write(path, code)
    except OSError as error:
        _Warnings.unwritable = True  # the other functions cannot be written, either
        warn_once(
            f"compiled code cannot be kept: {path}: {reason(error)}; "
            "the next start compiles again, which takes a few seconds"
        )


def kept_code(path: pathlib.Path) -> bytes | None:
    """The code in a file; None if the file is missing.

    Raises:
      OSError: it cannot be read, it is damaged, or others can write to it.
    """
    try:
        descriptor = os.open(path, _READING)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError("it is a link") from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError("it is not a file")
        require_trusted(state, "it")
        content = file.read()
    digest, kept = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if _digest(path, kept) != digest:
        raise OSError("it is damaged")
    return kept


def _digest(path: pathlib.Path, kept: bytes) -> bytes:
    # With the name. Otherwise the code of another function could be loaded, and fail later.
    return hashlib.sha256(path.name.encode() + b"\0" + kept).digest()


def _write(path: pathlib.Path, kept: bytes) -> None:
    """Writes a file. Readers see either the whole file or no file.

    Raises:
      OSError: it cannot be written.
    """
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_digest(path, kept))
            file.write(kept)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
