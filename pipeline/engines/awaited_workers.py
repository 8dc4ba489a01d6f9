"""The launcher waits for what the workers of its job say, and not longer than they may take.

If a worker's Python cannot start, for example because the pool starts one that has no Beam, the
engine says nothing and waits forever. So the launcher has to notice that no worker answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from beam_bleu.pipeline.engines.address import WORKER_TIMEOUT
from beam_bleu.pipeline.engines.flink_master import FlinkFailure
from beam_bleu.pipeline.engines.handshake import Handshake
from beam_bleu.pipeline.engines.worker_facts import Worker, differences_to_know, require_able
from beam_bleu.pipeline.errors.error_marks import find_error
from beam_bleu.pipeline.errors.reporting import (
    PYTHON,
    error_about_start,
    error_about_worker,
    warn,
)
from beam_bleu.transforms.errors import BleuError, JobError

__all__ = ["AwaitedWorkers"]

_WARNS_AFTER = 60
"""Seconds after which there is a warning. A busy machine may need longer to start a worker."""


_MOST_LATE_STARTS = 2
"""After one, a worker can be quicker the next time: it has installed its packages by then."""


class AwaitedWorkers:
    """Waits for what the workers of a job say.

    Args:
      handshake: what they are asked.
      timeout: the seconds that they may take to answer; None if the user has given no number. Then
        the job ends only if it is certain that the engine works on it.
      pool: the address of the pool that starts the workers; None if they come from elsewhere.
      answered: is called once with what they say.
      clock: gives the time in seconds.

    Attributes:
      workers: what they say; None if they have not answered.
    """

    def __init__(
        self,
        handshake: Handshake,
        timeout: int | None,
        pool: str | None,
        answered: Callable[[Sequence[Worker]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.workers: Sequence[Worker] | None = None
        self._handshake = handshake
        self._timeout = timeout
        self._pool = pool
        self._answered = answered
        self._clock = clock
        self._begin: float | None = None
        self._failures = 0
        self._has_warned = False

    def error(
        self, is_working: bool | None, failures: Callable[[], Sequence[FlinkFailure]]
    ) -> BleuError | None:
        """Asks whether the workers have answered; returns the error that must end the job now.

        Args:
          is_working: whether the engine works on the job, and does not only keep it in a queue;
            None if it may be in a queue.
          failures: asks the engine for the failures after which it starts the job again.
        """
        if self.workers is not None:
            return None
        answers = self._handshake.answers()
        if answers is not None:
            return self._judge(answers)
        known = failures()
        for failure in known:
            error = find_error(failure.text) or error_about_worker(failure.text, failure.host)
            if error is not None:
                return error
        starts = [error_about_start(failure.text, failure.host) for failure in known]
        late = [error for error in starts if error is not None]
        if len(late) >= _MOST_LATE_STARTS:
            return late[-1]
        if is_working is False or len(known) != self._failures:
            # It is in the queue, or the engine has started it again after a fault.
            self._begin, self._failures = None, len(known)
        if is_working is False:
            return None
        now = self._clock()
        self._begin = now if self._begin is None else self._begin
        return self._timed_out(is_working is True, now - self._begin)

    def _judge(self, answers: Sequence[Worker]) -> BleuError | None:
        self.workers = answers
        self._answered(answers)
        try:
            require_able(self._handshake.software, answers)
        except BleuError as error:
            return error
        for sentence in differences_to_know(self._handshake.software, answers):
            warn(sentence)
        return None

    def _timed_out(self, is_working: bool, waited: float) -> JobError | None:
        timeout = WORKER_TIMEOUT if self._timeout is None else self._timeout
        look = (
            f"look at the log of the pool at {self._pool}: is its `python` {PYTHON}, as here, and "
            "does it have apache-beam and beam-bleu?"
            if self._pool
            else "look at the logs of the engine's workers: have they started?"
        )
        ends = is_working or self._timeout is not None
        if ends and waited >= timeout:
            return JobError(
                f"no Python worker has answered for {timeout} s",
                f"{look} Do they and this process see the same folder at "
                f"{self._handshake.asked.output}? --worker_timeout SECONDS gives workers more time",
            )
        if waited >= _WARNS_AFTER and not self._has_warned:
            self._has_warned = True
            then = (
                f"the job is cancelled after {timeout} s"
                if ends
                else "the engine may not have started them yet"
            )
            warn(f"no Python worker has answered for {_WARNS_AFTER} s; {then}; {look}")
        return None
