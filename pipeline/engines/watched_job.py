"""A job that was sent to an engine: the launcher follows it to its end, and says why it failed.

The launcher tells the job's id, state and counters. The counters are Beam's, so they may count
repeated work twice. They only show that the job goes on. If an engine does not tell something, it
is left out: watching a job never fails it.

If a worker's Python cannot start, for example because the pool starts one that has no Beam, the
engine says nothing and waits forever. So the launcher has to notice that no worker answers.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import grpc
from apache_beam.options.pipeline_options import (
    GoogleCloudOptions,
    PipelineOptions,
    PortableOptions,
)
from apache_beam.portability.api import beam_job_api_pb2
from apache_beam.runners.portability.portable_metrics import from_monitoring_infos
from apache_beam.runners.portability.portable_runner import PipelineResult
from apache_beam.runners.runner import PipelineState

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.terminal import tell
from beam_bleu.pipeline.engines.flink import Seen, flink_job
from beam_bleu.pipeline.engines.handshake import Handshake
from beam_bleu.pipeline.engines.runners import WORKER_TIMEOUT
from beam_bleu.pipeline.engines.worker_facts import Worker, differences_to_know, require_able
from beam_bleu.pipeline.errors.error_marks import find_error
from beam_bleu.pipeline.errors.known_failures import Failure, hopeless, known_failure
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.transforms.errors import BleuError, JobError, causes
from beam_bleu.transforms.progress import PROGRESS, Progress

__all__ = ["AwaitedWorkers", "SentJob", "engine_failure", "follow", "job_id"]

_WARNS_AFTER = 60
"""Seconds after which there is a warning. A busy machine may need longer to start a worker."""

_FIRST_PAUSE, _PAUSE = 1.0, 5.0
"""Seconds before each of the first looks at a job, and before each later look."""

_FIRST_LOOKS = 10
"""So many looks are close together: a small job is soon over, and its page is wanted at once."""

_SECONDS = 5.0
"""How long to wait for an answer of the job server."""

_PATIENCE_FOR_THE_END = 10.0
"""Seconds after which the launcher no longer waits for the end of a job that it has cancelled."""

_LOGGER = logging.getLogger("beam_bleu.engines")


class AwaitedWorkers:
    """Waits for what the workers of a job say, and not longer than they may take.

    Args:
      handshake: what they are asked.
      timeout: the seconds that they may take to answer; None if the user has given no number. Then
        the job ends only if it is certain that the engine works on it.
      answered: is called once with what they say.
      clock: gives the time in seconds.

    Attributes:
      have_answered: whether they have answered.
    """

    def __init__(
        self,
        handshake: Handshake,
        timeout: int | None,
        answered: Callable[[Sequence[Worker]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.have_answered = False
        self._handshake = handshake
        self._timeout = timeout
        self._answered = answered
        self._clock = clock
        self._begin: float | None = None
        self._has_warned = False

    def error(
        self, is_working: bool | None, failures: Callable[[], Sequence[Failure]]
    ) -> BleuError | None:
        """Asks whether the workers have answered; returns the error that must end the job now.

        Args:
          is_working: whether the engine works on the job, and does not only keep it in a queue;
            None if it may be in a queue.
          failures: asks the engine for the failures after which it starts the job again.
        """
        if self.have_answered:
            return None
        answers = self._handshake.answers()
        if answers is not None:
            self.have_answered = True
            return self._judge(answers)
        if error := hopeless(failures()):
            return error
        if is_working is False:
            self._begin = None
            return None
        now = self._clock()
        self._begin = now if self._begin is None else self._begin
        return self._timed_out(is_working is True, now - self._begin)

    def _judge(self, answers: Sequence[Worker]) -> BleuError | None:
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
        if (is_working or self._timeout is not None) and waited >= timeout:
            return JobError(
                f"no Python worker has answered for {timeout} s",
                "look at the logs of the engine's workers and of their pool: have they started, "
                "with the same Python, apache-beam and beam-bleu as here? Do they and this process "
                f"see the same folder at {self._handshake.output}? --worker_timeout SECONDS "
                "gives workers more time",
            )
        if waited >= _WARNS_AFTER and not self._has_warned:
            self._has_warned = True
            warn(
                f"no Python worker has answered for {_WARNS_AFTER} s; look at the logs of the "
                "engine's workers and of their pool"
            )
        return None


def job_id(result: Any) -> str:
    """The name that a job server or an engine has given to a job; "" if it has none.

    Args:
      result: Beam's result of sending the job.
    """
    for name in ("job_id", "_job_id"):  # Dataflow's results have a method, portable ones a field
        value = getattr(result, name, None)
        if value is not None:
            return str(value() if callable(value) else value)
    return ""


class SentJob:
    """A job that was sent to an engine.

    Args:
      result: Beam's result of sending it.
      options: Beam's options.

    Attributes:
      id: the job server's or the engine's id of the job; "" if it has none.
    """

    def __init__(self, result: Any, options: PipelineOptions) -> None:
        self._result = result
        self._cloud = options.view_as(GoogleCloudOptions)
        self._flink = flink_job(options)
        if self._flink is not None:
            self._flink.forget_former()
        self._is_portable = isinstance(result, PipelineResult)
        self.id = job_id(result)

    def seen(self) -> Seen:
        """What the engine tells now."""
        if not self._is_portable:
            return self._by_dataflow()
        if self._flink is not None and (seen := self._flink.seen()):
            return seen
        counters: dict[str, int] = {}
        with contextlib.suppress(Exception):  # not every job server has counters
            counters = self._counters()
        return Seen(self._state(), "", counters)

    def failures(self) -> Sequence[Failure]:
        """The failures after which the engine may start the job again, as far as they are known."""
        return [] if self._flink is None else self._flink.failures()

    def cancel(self) -> None:
        """Ends the job on the engine, as far as that is possible."""
        # Beam's job server for Flink would only forget a job that it is told to cancel.
        if self._flink is not None and self._flink.cancel():
            return
        if not self._is_portable:
            self._result.cancel()
            return
        self._result._job_service.Cancel(
            beam_job_api_pb2.CancelJobRequest(job_id=self._result._job_id), timeout=_SECONDS
        )

    def _state(self) -> str:
        # Not the result's own `state`: it would write to a field that Beam's thread needs.
        for message in reversed([*self._result._messages]):
            if message.HasField("state_response"):
                return str(beam_job_api_pb2.JobState.Enum.Name(message.state_response.state))
        return ""

    def _counters(self) -> dict[str, int]:
        """Beam's counters of ours by name. The job server of Flink has none until the end."""
        answer = self._result._job_service.GetJobMetrics(
            beam_job_api_pb2.GetJobMetricsRequest(job_id=self._result._job_id), timeout=_SECONDS
        )
        sums: dict[str, int] = {}
        for key, value in from_monitoring_infos(answer.metrics.attempted)[0].items():
            if key.metric.namespace == "beam_bleu":
                sums[key.metric.name] = sums.get(key.metric.name, 0) + value
        return sums

    def _by_dataflow(self) -> Seen:
        job = self._result._runner.dataflow_client.get_job(self.id)
        page = (
            f"https://console.cloud.google.com/dataflow/jobs/{self._cloud.region}/{self.id}"
            f"?project={self._cloud.project}"
        )
        return Seen(str(job.current_state.name).removeprefix("JOB_STATE_"), page, {})


class Watch:
    """Tells what is known of a job, again and again, and asks its workers whether they can do it.

    Args:
      job: the job.
      workers: waits for its workers.
      progress: gets the state and the counters.

    Attributes:
      page: the page of the job; "" if it was not seen yet.
    """

    def __init__(
        self, job: SentJob, workers: AwaitedWorkers, progress: Progress = PROGRESS
    ) -> None:
        self.page = ""
        self._job = job
        self._progress = progress
        self._workers = workers
        self._state = ""

    def look(self) -> BleuError | None:
        """Asks once, and tells what is new; returns the error that must end the job."""
        try:
            seen = self._job.seen()
        except Exception:  # an engine can be too busy to answer, or not know what it is asked
            _LOGGER.debug("the state of the job cannot be read", exc_info=True)
            return None
        if seen.page and seen.page != self.page:
            self.page = seen.page
            if _LOGGER.isEnabledFor(logging.WARNING):  # not with --quiet
                tell(f"the page of the job: {seen.page}")
        if seen.state and seen.state != self._state:
            self._state = seen.state
            _LOGGER.info("the state of the job: %s", seen.state)
        segments = seen.counters.get("segments")
        told = [self._state, "" if segments is None else f"{segments:,} segments"]
        self._progress.tell(printable(", ".join(part for part in told if part)))
        is_working = seen.is_working
        if is_working is None and seen.state != "RUNNING":
            is_working = False
        try:
            return self._workers.error(is_working, self._job.failures)
        except Exception:  # a filesystem can fail for a moment
            _LOGGER.debug("the answers of the workers cannot be read", exc_info=True)
            return None


def follow(result: Any, options: PipelineOptions, workers: AwaitedWorkers) -> Any:
    """Prints the id of a job on stderr, follows the job, and returns its state at the end.

    Raises:
      BleuError: the workers cannot do the job, or do not answer. Then the job was cancelled.
      Exception: what Beam raises if the job fails.
    """
    job = SentJob(result, options)
    if job.id:
        # In the words of Beam's client of Dataflow, because Airflow looks for them in the log.
        # It is also printed with --quiet: without it nobody finds the job if this process ends.
        tell(f"Created job with id: [{job.id}]")
    PROGRESS.begin("running")
    watch = Watch(job, workers)
    ends: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def wait_for_beam() -> None:
        try:
            ends.put((result.wait_until_finish(), None))
        except BaseException as error:
            ends.put((None, error))

    # On another thread, because no engine promises that a cancelled job ends soon.
    threading.Thread(target=wait_for_beam, name="wait for the job", daemon=True).start()
    pauses = itertools.chain(itertools.repeat(_FIRST_PAUSE, _FIRST_LOOKS), itertools.repeat(_PAUSE))
    unable: BleuError | None = None
    while unable is None:
        with contextlib.suppress(queue.Empty):
            state, error = ends.get(timeout=next(pauses))
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
    if not watch.page or not workers.have_answered:
        watch.look()  # a job can be over, or fail, before it was looked at
    if unable is not None and state != PipelineState.DONE:
        raise unable from error
    if error is not None:
        raise error
    return state


def engine_failure(error: BaseException, result: Any, options: PipelineOptions) -> JobError | None:
    """The error of a job on an engine with its cause by name; None if it is not known.

    Args:
      error: the exception of Beam.
      result: Beam's result of sending the job; None if the job was not sent.
      options: Beam's options.
    """
    if any(isinstance(each, BleuError) or find_error(str(each)) for each in causes(error)):
        return None
    if isinstance(error, grpc.RpcError) and error.code() is grpc.StatusCode.UNAVAILABLE:
        endpoint = options.view_as(PortableOptions).job_endpoint
        return JobError(
            f"the connection to the job server{f' at {endpoint}' if endpoint else ''} was lost: "
            f"{error.details()}",
            "look at the log of the job server"
            if result is None
            else "look at the engine's console: the job may still be running there",
        )
    flink = flink_job(options)
    messages = [
        message.message_response.message_text
        for message in getattr(result, "_messages", ())
        if message.HasField("message_response")
    ]
    failures = [*map(Failure, [str(error), *messages]), *(flink.failures() if flink else ())]
    return known_failure(failures, messages[-1] if messages else str(error))
