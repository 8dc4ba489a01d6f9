"""A lock on an output folder. A run holds it while it puts its result in place.

In an object store the lock is an object (`leases.py`). On this machine the operating system
releases the lock when the process ends, even if it is killed. The lock file of a killed run stays
until the next run locks and removes it. It is empty, and it does not stop another run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import os
import time
from collections.abc import Iterator

from beam_bleu.pipeline.output.leases import Lease
from beam_bleu.transforms.errors import JobError, lacks_open_files, open_file_limit
from beam_bleu.transforms.wiring.filesystems import is_local, join, kind_of

LOCK = ".beam-bleu.lock"

_PATIENCE = 600.0
"""Seconds. A run holds the lock only while it writes documents, so this is more than enough."""

_PAUSE = 0.02

_UNSUPPORTED = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
"""The errors of `flock` on a filesystem without locks."""


@dataclasses.dataclass(frozen=True)
class Lock:
    """The lock on an output folder.

    Attributes:
      is_held: whether there is a lock. HDFS, some shared folders and some object stores have none.
      lease: that of an object store, which can be lost.
    """

    is_held: bool
    lease: Lease | None = None

    def check(self) -> None:
        """Checks that the lock was not lost. Call it before each step that changes files.

        Raises:
          JobError: another run has taken it over, or may have.
        """
        if self.lease is not None:
            self.lease.check()


@contextlib.contextmanager
def locked(folder: str, patience: float | None = None, run: str = "") -> Iterator[Lock]:
    """Stops other runs from putting a result in a folder while the body runs.

    Args:
      folder: the output folder.
      patience: for how many seconds to wait if another run holds the lock.
      run: the name of the run, which other runs show while they wait.

    Raises:
      JobError: another run held the lock for this time, or the lock cannot be opened.
    """
    path = join(folder, LOCK)
    patience = _PATIENCE if patience is None else patience
    if kind_of(folder) is not None:
        lease = Lease(path, run)
        if not lease.take(patience):
            yield Lock(False)
            return
        try:
            yield Lock(True, lease)
        finally:
            lease.release()
        return
    descriptor = _acquired(path, patience) if is_local(folder) else None
    try:
        yield Lock(descriptor is not None)
    finally:
        if descriptor is not None:
            _release(path, descriptor)


def _acquired(path: str, patience: float) -> int | None:
    """A descriptor that holds the lock; None if the filesystem has no locks."""
    deadline = time.monotonic() + patience
    while True:
        descriptor = _opened(path)
        if descriptor is None:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, descriptor):
                return descriptor
            os.close(descriptor)  # the run that held it has removed the file: there is a new one
            continue
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                _release(path, descriptor)
                return None
            os.close(descriptor)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
                raise _not_locked(path, error) from error
        except BaseException:  # a signal
            os.close(descriptor)
            raise
        if time.monotonic() > deadline:
            raise JobError(
                f"another run has been writing its result to {os.path.dirname(path)} for "
                f"{patience / 60:.0f} minutes",
                "look for a suspended beam-bleu process, and end it",
            )
        time.sleep(_PAUSE)


def _opened(path: str) -> int | None:
    """The lock file, opened; None if the folder is missing or cannot be written."""
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_RDWR | os.O_CREAT
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        # Without a folder that can be written, the next write to it raises the error.
        missing = (errno.ENOENT, errno.ENOTDIR, errno.EROFS)
        forbidden = isinstance(error, PermissionError) and not os.path.lexists(path)
        if error.errno in missing or forbidden:
            return None
        raise _not_locked(path, error) from error
    _share(descriptor)
    return descriptor


def _share(descriptor: int) -> None:
    """Lets other users open a lock file, for any umask of this user."""
    with contextlib.suppress(OSError):
        if os.fstat(descriptor).st_size == 0:  # otherwise it is not a lock file of ours
            os.fchmod(descriptor, 0o666)


def _not_locked(path: str, error: OSError) -> JobError:
    what = f"{path} cannot be locked: {error.strerror}"
    if lacks_open_files(error):
        return open_file_limit(what)
    return JobError(what, "make it readable, or remove it if no other run is writing its result")


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _release(path: str, descriptor: int) -> None:
    # First remove, then unlock: the next run that gets the lock checks that its file is there.
    with contextlib.suppress(OSError):
        if os.fstat(descriptor).st_size == 0:
            _remove(path)
    os.close(descriptor)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
