"""A lock on an output folder, for the moment in which a run puts its result there.

The operating system holds the lock, and gives it up when the process ends, however it
ends. The file of a killed run stays until the next run takes and removes it: it is empty
and stops nobody.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator

from pipeline.storage import is_local
from transforms.errors import JobError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK = ".beam-bleu.lock"

_PATIENCE = 600.0
"""Seconds. A run holds the lock while it renames files, so this is never a queue."""

_PAUSE = 0.02


@contextlib.contextmanager
def locked(folder: str) -> Iterator[bool]:
    """Keeps other runs from publishing to a folder while the body runs.

    Gives whether it does: object stores have no locks, and some shared folders neither.

    Raises:
      JobError: another run has held the lock for ten minutes.
    """
    path = os.path.join(folder, LOCK)
    descriptor = _acquired(path) if is_local(folder) else None
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            _release(path, descriptor)


def _acquired(path: str) -> int | None:
    """A descriptor that holds the lock; None where there are no locks."""
    deadline = time.monotonic() + _PATIENCE
    while fcntl is not None:
        descriptor = _opened(path)
        if descriptor is None:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, descriptor):
                return descriptor
            os.close(descriptor)  # whoever held it has removed the file: there is a new one
            continue
        except OSError as error:
            os.close(descriptor)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
                _remove(path)
                return None
        except BaseException:  # a signal
            os.close(descriptor)
            raise
        if time.monotonic() > deadline:
            raise JobError(
                f"another run has been writing its result to {os.path.dirname(path)} for "
                f"{_PATIENCE / 60:.0f} minutes",
                "see whether a stopped process of beam-bleu is there, and end it",
            )
        time.sleep(_PAUSE)
    return None


def _opened(path: str) -> int | None:
    flags = os.O_CLOEXEC | os.O_NOFOLLOW
    # Another user's file can be read only, which is enough for a lock on most filesystems.
    for access in (os.O_RDWR | os.O_CREAT, os.O_RDONLY):
        with contextlib.suppress(OSError):
            return os.open(path, flags | access, 0o666)
    return None  # the folder is not there, or cannot be written: whoever writes to it will tell


def _is_at(path: str, descriptor: int) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    return False


def _release(path: str, descriptor: int) -> None:
    # Removed before it is given up: who takes the lock next looks whether its file is there.
    with contextlib.suppress(OSError):
        if os.fstat(descriptor).st_size == 0:
            _remove(path)
    os.close(descriptor)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
