"""Starts of Python workers that hang, as the threads of Flink's TaskManagers show.

Beam's runner asks a pool to start a worker. The worker connects, gets its first work, loads the
code for it, sets up its steps, and opens a connection for its data. The runner waits for each of
these and tells nobody: it waits for the pool without end, and three minutes for the connection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beam_bleu.pipeline.engines.flink_master import FlinkThread
from beam_bleu.pipeline.errors.reporting import late_start
from beam_bleu.transforms.errors import JobError, joined

__all__ = ["METHODS", "HangingStarts"]

_POOL = "WorkerPoolBlockingStub.startWorker("
"""In Java's stack: Beam's runner waits for the answer of a pool."""

_DATA = "GrpcDataService.createOutboundAggregator("
"""In Java's stack: Beam's runner waits until a worker opens the connection for data.

A worker with another version of Python or Beam never does: it refuses the work before that.
"""

_PATIENCE: Mapping[str, int] = {_POOL: 20, _DATA: 60}
"""Seconds after which a start counts as hanging.

A pool only starts a process, so it answers in milliseconds. A worker needs two seconds or so to
load the code and to set up its first step: more on a busy machine, or from a slow disk.
"""

METHODS = tuple(_PATIENCE)
"""The methods in which Beam's runner waits, as they are in Java's stacks."""

_BREAK = 30.0
"""Seconds without a look after which nobody knows whether a thread has waited all the time."""

_MORE_TIME = "--worker_timeout SECONDS gives workers more time"


class HangingStarts:
    """Notices that the workers of a job do not get started.

    Args:
      pool: the address of the pool that starts the workers; None if they come from elsewhere.
      timeout: the seconds that the user gives workers to answer; None if the user has given no
        number. A start gets at least this time.
    """

    def __init__(self, pool: str | None, timeout: int | None) -> None:
        self._pool = pool
        self._patience = {method: max(own, timeout or 0) for method, own in _PATIENCE.items()}
        self._since: dict[FlinkThread, float] = {}
        self._last_look = 0.0

    def error(self, threads: Sequence[FlinkThread], now: float) -> JobError | None:
        """The error that must end the job; None if no start has hung for too long.

        Args:
          threads: the threads of the job that wait in one of `METHODS`.
          now: the time in seconds.
        """
        if now - self._last_look > _BREAK:
            self._since = {}
        self._last_look = now
        self._since = {thread: self._since.get(thread, now) for thread in threads}
        for method, patience in self._patience.items():
            hosts = {
                thread.host
                for thread, since in self._since.items()
                if thread.waits_in == method and now - since >= patience
            }
            if hosts:
                return self._error(method, joined(sorted(hosts)), patience)
        return None

    def _error(self, method: str, hosts: str, seconds: int) -> JobError:
        if method == _DATA:
            return late_start(f"{seconds} s", hosts, f" {_MORE_TIME}")
        where = f"on {hosts}: " if hosts else ""
        pool = f"the pool at {self._pool}" if self._pool else "the pool of Python workers"
        return JobError(
            f"{where}{pool} has not answered for {seconds} s",
            f"look at the pool's log, and restart the pool. {_MORE_TIME}",
        )
