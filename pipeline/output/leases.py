"""A lock on a folder in an object store: an object that its holder renews.

An object store has no locks, but it can put an object on the condition that there is none, or that
it still is a certain version. Of several runs that put at the same time, one gets the lock.

The holder puts a new version every few seconds. A run that is killed leaves its object. A waiting
run takes it over when it has seen the same version for the length of a lease, by its own clock,
which only measures times: clocks of two machines are never compared. The holder knows when it has
last renewed its lease, and stops before it changes a file without one.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
import uuid
from typing import Any

from beam_bleu.pipeline.output import storage
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.wiring.filesystems import filesystem_of

_LEASE = 90.0
"""Seconds. The holder begins a change at most a third of this time after it has renewed its lease,
and obstore tries a request again for 45 s. So the request is over before another run has the lock.
"""

_RENEWED_EVERY = 15.0

_PAUSE = 1.0
"""Seconds between two looks at the lock of another run."""

_MOST_BETWEEN_LOOKS = 5.0
"""Seconds that count between two looks. More could mean that this process was suspended, or that
the store did not answer: then the holder could not renew its lease, either."""

_FORMAT = "beam-bleu lock"


class Lease:
    """The lock on a folder in an object store. One object of this class takes it once.

    Args:
      path: the path of the lock.
      run: the name of the run, for people.
    """

    def __init__(self, path: str, run: str) -> None:
        self._path = path
        self._files = filesystem_of(path)
        self._owner = {
            "format": _FORMAT,
            "run": run,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "token": uuid.uuid4().hex,
        }
        self._count = 0
        self._version: Any = None
        self._confirmed = 0.0
        self._is_lost = False
        self._mutex = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="beam-bleu lease", daemon=True)

    def take(self, patience: float) -> bool:
        """Waits for the lock, and keeps it until `release`.

        Args:
          patience: for how many seconds to wait if another run holds it.

        Returns:
          whether the store has conditional puts. Otherwise there is no lock.

        Raises:
          JobError: another run held the lock for this time, or the store does not answer.
        """
        with storage.writing(self._path):
            if not self._wait(patience):
                return False
        self._thread.start()
        return True

    def check(self) -> None:
        """Checks that this run still holds the lock.

        Raises:
          JobError: another run has taken it over, or it is not certain that none has.
        """
        if time.monotonic() - self._confirmed > _LEASE / 3:
            with storage.writing(self._path):
                self._renew()
        if self._is_lost:
            raise JobError(
                f"another run has taken over {self._path}: this run was stopped, or did not reach "
                f"the object store, for {_LEASE:.0f} seconds",
                "run it again",
            )

    def release(self) -> None:
        """Removes the lock, if this run still holds it."""
        self._is_over.set()
        self._thread.join()
        with contextlib.suppress(JobError, OSError):
            self.check()
            self._files.delete([self._path])

    def _wait(self, patience: float) -> bool:
        deadline = time.monotonic() + patience
        seen: Any = None
        unchanged, last = 0.0, time.monotonic()
        while True:
            if seen is None:
                try:
                    if self._put(None):
                        return self._has_conditions()
                except NotImplementedError:
                    return False
            elif unchanged >= _LEASE and self._put(seen):
                return True
            now = time.monotonic()
            held = self._look()
            if held is None:  # its holder has just removed it
                seen = None
                continue
            owner, version = held
            unchanged = unchanged + min(now - last, _MOST_BETWEEN_LOOKS) if version == seen else 0.0
            seen, last = version, now
            if now > deadline:
                who = f"{owner.get('host')}, process {owner.get('process')}, run {owner.get('run')}"
                raise JobError(
                    f"another run ({who}) has been writing its result to "
                    f"{self._path.rpartition('/')[0]} for {patience / 60:.0f} minutes",
                    "look for a suspended beam-bleu process, and end it",
                )
            time.sleep(_PAUSE)

    def _put(self, version: Any) -> bool:
        """Whether this run could put the next version of the lock in the place of this one."""
        self._count += 1
        before = time.monotonic()
        data = json.dumps(self._owner | {"renewed": self._count}).encode()
        try:
            self._version = self._files.put_if(self._path, data, version)
        except FileExistsError:
            # If an answer was lost, the put that was tried again meets this run's own lock.
            held = self._look()
            if held is None or held[0].get("token") != self._owner["token"]:
                return False
            self._version = held[1]
        self._confirmed = before
        return True

    def _has_conditions(self) -> bool:
        """Whether the store heeds conditions. Some servers ignore those that they do not know."""
        with contextlib.suppress(FileExistsError):
            self._files.put_if(self._path, b"", None)
            self._files.delete([self._path])
            return False
        return True

    def _look(self) -> tuple[dict[str, Any], Any] | None:
        """The owner of the lock, and the version of its object; None if there is no lock."""
        try:
            data, version = self._files.read_version(self._path)
        except FileNotFoundError:
            return None
        try:
            owner = json.loads(data)
        except ValueError:
            owner = None
        if not isinstance(owner, dict) or owner.get("format") != _FORMAT:
            raise JobError(f"{self._path} is not a lock of beam-bleu's", "move it elsewhere")
        return owner, version

    def _keep(self) -> None:
        while not self._is_over.wait(_RENEWED_EVERY):
            with contextlib.suppress(Exception):  # the next `check` finds out
                self._renew()

    def _renew(self) -> None:
        with self._mutex:
            if not self._is_lost:
                self._is_lost = not self._put(self._version)
