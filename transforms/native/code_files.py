"""The files of compiled code. A damaged or renamed one is never used.

A file begins with the SHA-256 of its name and its content.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import pathlib
import stat
import uuid

from beam_bleu.transforms.native.cache_folder import reason, require_trusted

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
