"""The folder for compiled code, to which no other user can write, and the files in it.

Loading compiled code means running it. So a folder or a file is used only if it belongs to this
user or to root, and no other user can write to it. Files are checked when they are open, so it does
not matter who can write to the folders above them.

A file begins with the SHA-256 of its name and its content. A damaged or renamed one is never used.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pathlib
import stat
import uuid
from collections.abc import Iterator


@functools.cache
def cache_folder() -> pathlib.Path | None:
    """The first usable folder that can be written, or else read; None, with a warning, if none."""
    readable: list[pathlib.Path] = []
    refused: list[str] = []
    for parent in _parents():
        folder = parent / "beam-bleu-kernel"
        try:
            parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o755, exist_ok=True)
            _require_trusted(folder.stat(), folder)
        except OSError as error:
            refused.append(f"{parent}: {_reason(error)}")
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
        readable.append(folder)
    if not readable:
        _warn_once(
            "compiled code cannot be kept, so every start compiles, which takes a few seconds: "
            f"set NUMBA_CACHE_DIR to a folder that only you can write ({'; '.join(refused)})"
        )
    return readable[0] if readable else None


def _parents() -> Iterator[pathlib.Path]:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield pathlib.Path(chosen)
        return
    yield pathlib.Path(__file__).parent.parent / "__pycache__"
    with contextlib.suppress(RuntimeError):  # a user without a home, as in many containers
        yield pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()


def _reason(error: OSError) -> str:
    """The reason for an error, without the path."""
    return error.strerror or str(error)


def _require_trusted(state: os.stat_result, path: str | os.PathLike[str]) -> None:
    if os.name != "posix":
        return  # other systems have no such owners and bits
    if state.st_uid not in (os.geteuid(), 0):
        raise PermissionError(f"{path} belongs to another user")
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"other users can write {path}")


_warnings: list[str] = []


def _warn_once(message: str) -> None:
    # Otherwise every function would give the same warning.
    if not _warnings:
        _warnings.append(message)
        logging.getLogger("beam_bleu").warning(message)


_DIGEST_BYTES = 32


def _digest(path: pathlib.Path, code: bytes) -> bytes:
    # With the name. Otherwise the code of another function could be loaded, and fail later.
    return hashlib.sha256(path.name.encode() + b"\0" + code).digest()


def keep(path: pathlib.Path, code: bytes) -> None:
    """Keeps code in a file if possible. Readers see either the whole file or no file."""
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
    try:
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            with os.fdopen(descriptor, "wb") as file:
                file.write(_digest(path, code) + code)
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        _warn_once(
            f"compiled code cannot be kept: {path}: {_reason(error)}; "
            "the next start compiles again, which takes a few seconds"
        )


def kept_code(path: pathlib.Path) -> bytes | None:
    """The code in a file; None if it is missing, damaged or not to be trusted."""
    try:
        with path.open("rb") as file:
            _require_trusted(os.fstat(file.fileno()), "it")
            content = file.read()
        code = content[_DIGEST_BYTES:]
        if _digest(path, code) != content[:_DIGEST_BYTES]:
            raise OSError("it is damaged")
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_once(
            f"compiled code cannot be read: {path}: {_reason(error)}; "
            "it is compiled again, which takes a few seconds"
        )
        return None
    return code
