"""A job that was sent to an engine: the launcher follows it, and says why it has failed.

The launcher tells the job's id, state and counters. The counters are Beam's, so they may count
repeated work twice. They only show that the job goes on. If an engine does not tell something, it
is left out: watching a job never fails it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import grpc
from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    GoogleCloudOptions,
    PipelineOptions,
    PortableOptions,
)
from apache_beam.portability.api import beam_job_api_pb2
from apache_beam.runners.portability.portable_metrics import from_monitoring_infos
from apache_beam.runners.portability.portable_runner import PipelineResult

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.terminal import say
from beam_bleu.pipeline.engines.flink_master import flink_master
from beam_bleu.pipeline.engines.worker_pool import pool_address, pool_that_may_be_missing
from beam_bleu.pipeline.errors.error_marks import find_error
from beam_bleu.transforms.errors import BleuError, JobError, causes
from beam_bleu.transforms.progress import PROGRESS, Progress

_FIRST_PAUSE, _PAUSE = 1.0, 5.0
"""Seconds before each of the first looks at a job, and before each later look."""

_FIRST_LOOKS = 10
"""So many looks are close together: a small job is soon over, and its page is wanted at once."""

_SECONDS = 5.0
"""How long to wait for an answer of the job server."""

_LOGGER = logging.getLogger("beam_bleu.engines")

_CALL_OF_POOL = "BeamFnExternalWorkerPoolGrpc"
"""In Java's traceback: the engine could not call the pool."""

_START_OF_WORKER = "ExternalEnvironmentFactory.createEnvironment"
"""In Java's traceback: the engine asked the pool for a worker."""

_ASKS_FLINK = "org.apache.flink.runtime.rest.RestClient"
"""In Java's traceback: the job server asked Flink's JobManager."""

_JAVA_CLASSES = re.compile(r"^(?:(?:\w+\.)+[\w$]+: )+")
"""The types of exceptions before the message of a Java exception."""


@dataclasses.dataclass(frozen=True)
class Seen:
    """What an engine tells of a job at one moment.

    Attributes:
      state: its state in the engine's words, and how much is finished; "" if it is not known.
      page: its page in the engine's console; "" if it is not known.
      counters: the counters of ours, by name.
    """

    state: str
    page: str
    counters: Mapping[str, int]


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


class Submitted:
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
        self._flink = flink_master(options.view_as(FlinkRunnerOptions).flink_master)
        self._is_portable = isinstance(result, PipelineResult)
        self.id = job_id(result)

    def seen(self) -> Seen:
        """What the engine tells now."""
        if not self._is_portable:
            return self._by_dataflow()
        job = self._flink.job(str(self._cloud.job_name)) if self._flink else None
        if self._flink is not None and job is not None:
            state = f"{job.state}, {job.finished_tasks} of {job.tasks} tasks finished"
            return Seen(state, self._flink.page(job), self._flink.counters(job))
        counters: dict[str, int] = {}
        with contextlib.suppress(Exception):  # not every job server has counters
            counters = self._counters()
        return Seen(self._state(), "", counters)

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
    """Tells what is known of a job, again and again.

    Args:
      job: the job.
      progress: gets the state and the counters.
    """

    def __init__(self, job: Submitted, progress: Progress = PROGRESS) -> None:
        self._job = job
        self._progress = progress
        self._over = threading.Event()
        self._lock = threading.Lock()  # who holds it tells something, or ends the telling
        self._state = self._page = ""

    def look(self) -> None:
        """Asks once, and tells what is new."""
        try:
            seen = self._job.seen()
        except Exception:  # an engine can be too busy to answer, or not know what it is asked
            _LOGGER.debug("the state of the job cannot be read", exc_info=True)
            return
        with self._lock:
            if self._over.is_set():
                return
            if seen.page and seen.page != self._page:
                self._page = seen.page
                if _LOGGER.isEnabledFor(logging.WARNING):  # not with --quiet
                    say(f"beam-bleu: the page of the job: {printable(seen.page)}")
            if seen.state and seen.state != self._state:
                self._state = seen.state
                _LOGGER.info("the state of the job: %s", seen.state)
            segments = seen.counters.get("segments")
            told = [self._state, "" if segments is None else f"{segments:,} segments"]
            self._progress.tell(printable(", ".join(part for part in told if part)))

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """While the body runs, another thread looks at the job.

        A job can be over, or fail, before that thread has seen its page. Then it is looked at here,
        once.
        """
        thread = threading.Thread(target=self._look_on, name="watch the job", daemon=True)
        thread.start()
        try:
            yield
            self._look_for_page()
        except Exception:
            self._look_for_page()
            raise
        finally:
            with self._lock:
                self._over.set()

    def _look_for_page(self) -> None:
        if not self._page:
            self.look()

    def _look_on(self) -> None:
        pauses = itertools.chain(
            itertools.repeat(_FIRST_PAUSE, _FIRST_LOOKS), itertools.repeat(_PAUSE)
        )
        while not self._over.wait(next(pauses)):
            self.look()


@contextlib.contextmanager
def watched(result: Any, options: PipelineOptions) -> Iterator[None]:
    """Prints the id of a job on stderr, and follows the job while the body runs."""
    job = Submitted(result, options)
    if job.id:
        # In the words of Beam's client of Dataflow, because Airflow looks for them in the log.
        # It is also printed with --quiet: without it nobody finds the job if this process ends.
        say(f"beam-bleu: Created job with id: [{printable(job.id)}]")
    PROGRESS.begin("running")
    with Watch(job).looking():
        yield


def engine_failure(error: BaseException, result: Any, options: PipelineOptions) -> JobError | None:
    """The error of a job on an engine with its cause by name; None if it is not known.

    Args:
      error: the exception of Beam.
      result: Beam's result of sending the job; None if the job was not sent.
      options: Beam's options.
    """
    if any(
        isinstance(exception, BleuError) or find_error(str(exception))
        for exception in causes(error)
    ):
        return None
    missing = pool_that_may_be_missing(options)
    start_pool = (
        f"no pool of Python workers answers at {missing} on this machine: start one if the "
        "engine runs here"
    )
    if isinstance(error, grpc.RpcError) and error.code() is grpc.StatusCode.UNAVAILABLE:
        endpoint = options.view_as(PortableOptions).job_endpoint
        where = f" at {endpoint}" if endpoint else ""
        remedy = (
            "look at the engine's console: the job may still be running there"
            if result is not None
            else "look at the log of the job server"
        )
        return JobError(
            f"the connection to the job server{where} was lost: {error.details()}",
            start_pool if missing else remedy,
        )
    texts = _texts(result)
    traceback = next((text for text in reversed(texts) if "\n\tat " in text), "")
    cause = _JAVA_CLASSES.sub("", _last_line(texts[-1])) if texts else ""
    pool = pool_address(options)
    if pool is not None and _CALL_OF_POOL in traceback:
        return JobError(
            f"the engine finds no pool of Python workers at {pool}: {cause}",
            "start one there on each machine of the engine, or correct --environment_config: "
            "see docs/engines.md",
        )
    if pool is not None and _START_OF_WORKER in traceback:
        return JobError(
            f"the pool at {pool} could not start a Python worker: {cause}",
            "look at the log of the pool",
        )
    if "Connection refused" in cause and _ASKS_FLINK in traceback:
        return JobError(
            f"Flink's JobManager does not answer the job server any more: {cause}",
            "look at Flink's log, and start the job again when Flink runs",
        )
    if missing and texts:
        return JobError(f"the job failed: {_last_line(texts[-1])}", start_pool)
    return None


def _texts(result: Any) -> Sequence[str]:
    """The texts of a job server about a job, from the first to the last."""
    messages = [*getattr(result, "_messages", ())]
    return [
        message.message_response.message_text
        for message in messages
        if message.HasField("message_response")
    ]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
