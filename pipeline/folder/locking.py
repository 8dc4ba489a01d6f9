"""The lock on an output folder, which a run holds while it puts its result in place.

On this machine, it is a lock of the operating system, which ends with the process. An object store
has no locks, but can replace an object on condition that it still has a certain version. A waiting
run takes over a killed run's lock when it has seen the same version for the time of a lease, so the
clocks of two machines are never compared.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
import uuid
from collections.abc import Iterator
from typing import Any

from beam_bleu.pipeline.folder import storage
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.wiring.filesystems import filesystem_of, is_local, join, kind_of

LOCK = ".beam-bleu.lock"
# Seconds to wait. A run holds the lock only while it writes documents, so this is more than enough.
PATIENCE = 600.0
SHORT_PATIENCE = 2.0  # at the end of a failed run, when whoever stopped it is waiting
# Seconds. The holder begins a change at most a third of this time after it has renewed its lease,
# and obstore retries a request for 45 s, so the request has ended before another run can take the
# lock.
_LEASE = 180.0
_PAUSE = 1.0  # seconds between two looks at the lock of another run in an object store


class Lock:
    """The base class, and a lock that nobody waits for, for filesystems without locks (HDFS)."""

    is_held = False
    holder = ""
    pause = 0.02

    def try_once(self) -> bool:
        """Whether this run can go on: it holds the lock now, or the filesystem has no locks."""
        return True

    def check(self) -> None:
        """Raises if the lock was lost. Call this before each step that changes files."""

    def release(self) -> None:
        """Removes the lock, if this run holds it."""


@contextlib.contextmanager
def locked(folder: str, patience: float | None = None, run: str = "") -> Iterator[Lock]:
    """Stops other runs from putting a result in a folder while the body runs."""
    path = join(folder, LOCK)
    patience = PATIENCE if patience is None else patience
    if kind_of(folder) is not None:
        lock: Lock = _Lease(path, run)
    else:
        lock = _FileLock(path) if is_local(folder) else Lock()
    deadline = time.monotonic() + patience
    while not lock.try_once():
        if time.monotonic() > deadline:
            raise JobError(
                f"another run{lock.holder} has been writing its result to {folder} for "
                f"{patience / 60:.0f} minutes",
                "look for a suspended beam-bleu process, and end it",
            )
        time.sleep(lock.pause)
    try:
        yield lock
    finally:
        lock.release()


class _FileLock(Lock):
    def __init__(self, path: str) -> None:
        self._path = path

    def try_once(self) -> bool:
        with storage.writing(self._path):
            os.makedirs(os.path.dirname(self._path) or os.curdir, exist_ok=True)
            flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_RDWR | os.O_CREAT
            descriptor = os.open(self._path, flags, 0o666)
            try:
                with contextlib.suppress(OSError):  # so that other users can open it, too
                    os.fchmod(descriptor, 0o666)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The run that held the lock may have removed this file, and another made a new one.
                with contextlib.suppress(FileNotFoundError):
                    self.is_held = os.path.samestat(os.lstat(self._path), os.fstat(descriptor))
            except BlockingIOError:
                pass
            except OSError:  # the filesystem has no locks
                os.unlink(self._path)
                return True
            finally:
                if self.is_held:
                    self._descriptor = descriptor
                else:
                    os.close(descriptor)
        return self.is_held

    def release(self) -> None:
        if self.is_held:
            # Removed before it is unlocked: the next run to lock it checks that it still exists.
            with contextlib.suppress(OSError):
                os.unlink(self._path)
            os.close(self._descriptor)


class _Lease(Lock):
    """A lock in an object store: an object that its holder renews."""

    def __init__(self, path: str, run: str) -> None:
        self._path = path
        self._files = filesystem_of(path)
        self._owner = {
            "format": "beam-bleu lock",
            "run": run,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "token": uuid.uuid4().hex,
        }
        self._count = 0
        self._version: Any = None  # of this run's lock, or of the one that was seen last
        self._looks = 0  # how often that version was seen: not a time, which passes in suspension
        self._confirmed = 0.0
        self.pause = _PAUSE

    def try_once(self) -> bool:
        with storage.writing(self._path):
            if self._version is None or self._looks * _PAUSE >= _LEASE:
                try:
                    self.is_held = self._put(self._version)
                except NotImplementedError:
                    return True
                if self.is_held:
                    return True
            current = self._look()
            if current is None:  # its holder has just removed it
                self._version = None
                return self.try_once()
            owner, version = current
            self._looks = self._looks + 1 if version == self._version else 0
            self._version = version
            self.holder = " ({host}, process {process}, run {run})".format(**owner)
            return False

    def check(self) -> None:
        if self.is_held and time.monotonic() - self._confirmed > _LEASE / 3:
            with storage.writing(self._path):
                self.is_held = self._put(self._version)
            if not self.is_held:
                raise JobError(
                    f"another run has taken over {self._path}: this run was stopped, or did not "
                    f"reach the object store, for {_LEASE:.0f} seconds",
                    "run it again",
                )

    def release(self) -> None:
        if self.is_held:
            with contextlib.suppress(JobError, OSError):
                self.check()
                self._files.delete([self._path])

    def _put(self, version: Any) -> bool:
        """Puts this run's lock in place of a version; False if another run has replaced that."""
        self._count += 1
        before = time.monotonic()
        data = json.dumps(self._owner | {"renewed": self._count}).encode()
        try:
            self._version = self._files.put_if(self._path, data, version)
        except FileExistsError:
            # If an answer was lost, the retried put conflicts with this run's own lock.
            current = self._look()
            if current is None or current[0]["token"] != self._owner["token"]:
                return False
            self._version = current[1]
        self._confirmed = before
        return True

    def _look(self) -> tuple[dict[str, Any], Any] | None:
        try:
            data, version = self._files.read_version(self._path)
        except FileNotFoundError:
            return None
        return json.loads(data), version
