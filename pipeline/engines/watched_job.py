"""A job on an engine: the launcher follows it to its end, and says why it failed.

Watching a job never fails it. But if a worker's Python cannot start, the engine says nothing and
waits forever, so the launcher has to notice that no worker answers.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import grpc
from apache_beam.options.pipeline_options import PipelineOptions, PortableOptions
from apache_beam.runners.runner import PipelineState

from beam_bleu.pipeline.engines.handshake import Handshake, Worker, require_able
from beam_bleu.pipeline.engines.runners import WORKER_TIMEOUT
from beam_bleu.pipeline.engines.sent_jobs import Seen, SentJob
from beam_bleu.pipeline.errors.printable import printable
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.errors.terminal import tell
from beam_bleu.pipeline.errors.told_errors import Failure, find_error, hopeless, known_failure
from beam_bleu.transforms.errors import BleuError, JobError, causes
from beam_bleu.transforms.progress import PROGRESS

_WARNS_AFTER = 60  # seconds without an answer after which there is a warning
# Seconds before each look at a job: a small job is soon over, and its page is wanted at once.
_PAUSE = 2.0
# Seconds for which the launcher waits for the end of a job that it has cancelled.
_PATIENCE_FOR_THE_END = 10.0
_LOGGER = logging.getLogger("beam_bleu.engines")


@dataclasses.dataclass
class Watch:
    """Looks at a job again and again: tells what is new, and whether its workers can do it.

    Without a timeout, the job ends only if it is certain that the engine works on it.
    """

    job: SentJob
    handshake: Handshake
    timeout: int | None
    answered: Callable[[Sequence[Worker]], None]
    clock: Callable[[], float] = time.monotonic
    page: str = ""
    have_answered: bool = False
    _state: str = ""
    _begin: float | None = None
    _has_warned: bool = False

    def look(self) -> BleuError | None:
        """Asks once, and tells what is new; returns the error that must end the job."""
        try:
            seen = self.job.seen()
            self._tell(seen)
            return None if self.have_answered else self._error(seen)
        except Exception:  # an engine can be too busy to answer, a filesystem fail for a moment
            _LOGGER.debug("the state of the job cannot be read", exc_info=True)
            return None

    def _tell(self, seen: Seen) -> None:
        if seen.page and seen.page != self.page:
            self.page = seen.page
            if _LOGGER.isEnabledFor(logging.WARNING):  # not with --quiet
                tell(f"the page of the job: {seen.page}")
        if seen.state and seen.state != self._state:
            self._state = seen.state
            _LOGGER.info("the state of the job: %s", seen.state)
        told = [self._state, "" if seen.segments is None else f"{seen.segments:,} segments"]
        PROGRESS.tell(printable(", ".join(filter(None, told))))

    def _error(self, seen: Seen) -> BleuError | None:
        answers = self.handshake.answers()
        if answers is not None:
            self.have_answered = True
            self.answered(answers)
            try:
                require_able(self.handshake.software, answers)
            except BleuError as error:
                return error
            return None
        if hopelessness := hopeless(self.job.failures()):
            return hopelessness
        if seen.is_working is False:
            self._begin = None
            return None
        if self._begin is None:
            self._begin = self.clock()
        waited = self.clock() - self._begin
        timeout = WORKER_TIMEOUT if self.timeout is None else self.timeout
        if waited >= timeout and (seen.is_working or self.timeout is not None):
            return JobError(
                f"no Python worker has answered for {timeout} s",
                "look at the logs of the engine's workers and of their pool: have they started, "
                "with the same Python, apache-beam and beam-bleu as here? Do they and this process "
                f"see the same folder at {self.handshake.output}? --worker_timeout SECONDS "
                "gives workers more time",
            )
        if waited >= _WARNS_AFTER and not self._has_warned:
            self._has_warned = True
            warn(
                f"no Python worker has answered for {_WARNS_AFTER} s; look at the logs of the "
                "engine's workers and of their pool"
            )
        return None


def follow(
    job: SentJob,
    handshake: Handshake,
    timeout: int | None,
    answered: Callable[[Sequence[Worker]], None],
) -> Any:
    """Follows a job to its end; returns its state. It is cancelled if its workers cannot do it."""
    if job.id:
        # In the words of Beam's client of Dataflow, because Airflow looks for them in the log.
        # It is also printed with --quiet: without it nobody finds the job if this process ends.
        tell(f"Created job with id: [{job.id}]")
    PROGRESS.begin("running")
    watch = Watch(job, handshake, timeout, answered)
    ends: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def wait_for_beam() -> None:
        try:
            ends.put((job.result.wait_until_finish(), None))
        except BaseException as error:
            ends.put((None, error))

    # On another thread, because no engine promises that a cancelled job ends soon.
    threading.Thread(target=wait_for_beam, name="wait for the job", daemon=True).start()
    unable: BleuError | None = None
    while unable is None:
        with contextlib.suppress(queue.Empty):
            state, error = ends.get(timeout=_PAUSE)
            break
        unable = watch.look()
    else:
        try:
            job.cancel()
        except Exception:  # each engine has exceptions of its own
            _LOGGER.debug("the job cannot be cancelled", exc_info=True)
        state = error = None
        with contextlib.suppress(queue.Empty):
            state, error = ends.get(timeout=_PATIENCE_FOR_THE_END)
    if not watch.page or not watch.have_answered:
        watch.look()  # a job can be over, or fail, before it was looked at
    if unable is not None and state != PipelineState.DONE:
        raise unable from error
    if error is not None:
        raise error
    return state


def engine_failure(
    error: BaseException, job: SentJob | None, options: PipelineOptions
) -> JobError | None:
    """The error of a job, which may not have been sent; None if its cause is not known."""
    if any(isinstance(each, BleuError) or find_error(str(each)) for each in causes(error)):
        return None
    if isinstance(error, grpc.RpcError) and error.code() is grpc.StatusCode.UNAVAILABLE:
        endpoint = options.view_as(PortableOptions).job_endpoint
        return JobError(
            f"the connection to the job server{f' at {endpoint}' if endpoint else ''} was lost: "
            f"{error.details()}",
            "look at the log of the job server; a job that was sent may still be running",
        )
    messages = [] if job is None else job.messages()
    failures = [Failure(text) for text in (str(error), *messages)]
    with contextlib.suppress(Exception):  # what an engine tells can have another form
        failures += [] if job is None else job.failures()
    return known_failure(failures, messages[-1] if messages else str(error))
