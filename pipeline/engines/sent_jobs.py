"""Watches jobs that were sent to an engine: their state, how they end, and why they failed.

The counters are Beam's, which may count repeated work twice: they only show that a job is making
progress. An error while watching never fails a job. But if a worker's Python cannot start, the
engine says nothing and waits forever, so the launcher must notice that no worker answers.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import itertools
import json
import logging
import queue
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http.client import HTTPException
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
from apache_beam.runners.runner import PipelineState

from beam_bleu.pipeline.engines.handshake import Handshake, Worker, require_able
from beam_bleu.pipeline.engines.runners import WORKER_TIMEOUT
from beam_bleu.pipeline.errors.printable import printable
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.errors.terminal import tell
from beam_bleu.pipeline.errors.told_errors import Failure, find_error, hopeless, known_failure
from beam_bleu.transforms.errors import BleuError, JobError, causes
from beam_bleu.transforms.progress import PROGRESS

_SECONDS = 5.0  # to wait for an answer of the engine
# For requests to Flink without a proxy, as Beam's job server makes them.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_SEGMENTS = ("beam_bleu", "segments")  # the namespace and the name of the counter of segments


@dataclasses.dataclass(frozen=True)
class Seen:
    """What an engine says about a job; "" and None: unknown. A queued job is not working."""

    state: str
    page: str = ""
    segments: int | None = None
    is_working: bool | None = False


class SentJob:
    """A job on one of Beam's job servers; `result` is what Beam returned for sending it."""

    def __init__(self, result: Any) -> None:
        self.result = result
        # `job_id` is a method of Dataflow's results; others have a field, or nothing.
        job_id = getattr(result, "job_id", getattr(result, "_job_id", ""))
        self.id = str(job_id() if callable(job_id) else job_id)

    def seen(self) -> Seen:
        """What the engine says now. Any exception means that nothing is known."""
        # Not the result's own `state`, which would write to a field that Beam's thread needs.
        states = [
            beam_job_api_pb2.JobState.Enum.Name(message.state_response.state)
            for message in [*self.result._messages]
            if message.HasField("state_response")
        ]
        state = states[-1] if states else ""
        segments = None
        with contextlib.suppress(Exception):  # not every job server has counters
            answer = self.result._job_service.GetJobMetrics(
                beam_job_api_pb2.GetJobMetricsRequest(job_id=self.id), timeout=_SECONDS
            )
            infos = from_monitoring_infos(answer.metrics.attempted)[0]
            segments = _sum_of(
                value
                for key, value in infos.items()
                if (key.metric.namespace, key.metric.name) == _SEGMENTS
            )
        return Seen(state, "", segments, None if state == "RUNNING" else False)

    def messages(self) -> list[str]:
        return [
            message.message_response.message_text
            for message in [*getattr(self.result, "_messages", ())]
            if message.HasField("message_response")
        ]

    def failures(self) -> Sequence[Failure]:
        """Failures so far, after which the engine may start the job again."""
        return []

    def cancel(self) -> None:
        """Ends the job on the engine. Any exception means that it could not be ended."""
        self.result._job_service.Cancel(
            beam_job_api_pb2.CancelJobRequest(job_id=self.id), timeout=_SECONDS
        )


class FlinkJob(SentJob):
    """A job on a Flink cluster, whose REST interface says more than a job server does."""

    def __init__(self, result: Any, url: str, name: str) -> None:
        super().__init__(result)
        self._url = url
        self._name = name
        # With --job_name, earlier runs can have the same name, so these jobs are not ours.
        ended = ("FINISHED", "FAILED", "CANCELED")
        self._former = [job["jid"] for job in self._jobs() if job["state"] in ended]

    def seen(self) -> Seen:
        if (job := self._newest()) is None:
            return super().seen()
        tasks = job["tasks"]
        found = ask_flink(self._url, f"/jobs/{job['jid']}/accumulators")
        values = [accumulator["value"] for accumulator in found.get("user-task-accumulators", ())]
        return Seen(
            f"{job['state']}, {tasks['finished']} of {tasks['total']} tasks finished",
            f"{self._url}/#/job/{job['jid']}",
            _sum_of(itertools.chain.from_iterable(map(_counts, values))),
            tasks.get("running", 0) > 0,
        )

    def failures(self) -> Sequence[Failure]:
        job = self._newest()
        answer = ask_flink(self._url, f"/jobs/{job['jid']}/exceptions") if job else {}
        history = answer.get("exceptionHistory", {}).get("entries", [])
        return [
            Failure(entry["stacktrace"], entry.get("endpoint") or entry.get("location") or "")
            for entry in sorted(history, key=lambda entry: int(entry["timestamp"]))
        ]

    def cancel(self) -> None:
        # Beam's job server for Flink would only forget the job, not cancel it.
        if (job := self._newest()) is None:
            super().cancel()
            return
        url = f"{self._url}/jobs/{job['jid']}?mode=cancel"
        _OPENER.open(urllib.request.Request(url, method="PATCH"), timeout=_SECONDS).close()

    def _jobs(self) -> list[Mapping[str, Any]]:
        jobs = ask_flink(self._url, "/jobs/overview").get("jobs", ())
        return [job for job in jobs if job["name"] == self._name]

    def _newest(self) -> Mapping[str, Any] | None:
        jobs = [job for job in self._jobs() if job["jid"] not in self._former]
        return max(jobs, key=lambda job: int(job["start-time"]), default=None)


class DataflowJob(SentJob):
    """A job of Dataflow, or of another runner that has no job server."""

    def __init__(self, result: Any, cloud: GoogleCloudOptions) -> None:
        super().__init__(result)
        self._cloud = cloud

    def seen(self) -> Seen:
        job = self.result._runner.dataflow_client.get_job(self.id)
        state = str(job.current_state.name).removeprefix("JOB_STATE_")
        page = (
            f"https://console.cloud.google.com/dataflow/jobs/{self._cloud.region}/{self.id}"
            f"?project={self._cloud.project}"
        )
        return Seen(state, page, is_working=None if state == "RUNNING" else False)

    def cancel(self) -> None:
        self.result.cancel()


def sent_job(result: Any, options: PipelineOptions) -> SentJob:
    cloud = options.view_as(GoogleCloudOptions)
    if not isinstance(result, PipelineResult):
        return DataflowJob(result, cloud)
    url = flink_url(options)
    return SentJob(result) if url is None else FlinkJob(result, url, str(cloud.job_name))


def flink_url(options: PipelineOptions) -> str | None:
    value = str(options.view_as(FlinkRunnerOptions).flink_master or "").strip().rstrip("/")
    # These values mean the job server's own Flink, or the master that it knows.
    if value in ("", "[local]", "[auto]"):
        return None
    return value if "://" in value else f"http://{value}"


def ask_flink(url: str, path: str) -> Mapping[str, Any]:
    """The answer of Flink's REST interface to a GET; empty if there is none."""
    try:
        with _OPENER.open(url + path, timeout=_SECONDS) as answer:
            content = json.load(answer)
    except (OSError, ValueError, HTTPException):
        return {}
    return content if isinstance(content, dict) else {}


def _counts(accumulator: str) -> Iterator[int]:
    """The counts of segments in an accumulator of Flink.

    Beam stores its metrics there as JSON, with integers as bytes of seven bits, the lowest first.
    """
    with contextlib.suppress(ValueError, KeyError, TypeError):  # it is not Beam's
        for metric in json.loads(accumulator)["metrics"]["attempted"]:
            labels = metric.get("labels", {})
            if (labels.get("NAMESPACE"), labels.get("NAME")) == _SEGMENTS:
                data = base64.b64decode(metric["payload"])
                yield sum((byte & 0x7F) << 7 * place for place, byte in enumerate(data))


def _sum_of(counts: Iterable[int]) -> int | None:
    parts = [*counts]
    return sum(parts) if parts else None


_WARNS_AFTER = 60  # seconds without an answer before a warning
# Seconds between looks at a job: few, since small jobs end soon, and users want the job's page.
_PAUSE = 2.0
# Seconds that the launcher waits for a job to end that it has cancelled.
_PATIENCE_FOR_THE_END = 10.0
_LOGGER = logging.getLogger("beam_bleu.engines")


@dataclasses.dataclass
class Watch:
    """Polls a job: reports what is new, and finds out whether its workers can do the work.

    Without a `timeout`, silent workers end the job only if the engine is certainly working on it.
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
        """Asks once, and reports what is new; returns an error that must end the job, or None."""
        try:
            seen = self.job.seen()
            self._tell(seen)
            return None if self.have_answered else self._error(seen)
        except Exception:  # such as an engine too busy to answer, or a short fault of a filesystem
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
    """Follows a job to its end, and returns its state; cancels it if its workers are not able."""
    if job.id:
        # The words are those of Beam's Dataflow client: Airflow searches the log for them. They are
        # printed even with --quiet, or nobody could find the job after the end of this process.
        tell(f"Created job with id: [{job.id}]")
    PROGRESS.begin("running")
    watch = Watch(job, handshake, timeout, answered)
    ends: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def wait_for_beam() -> None:
        try:
            ends.put((job.result.wait_until_finish(), None))
        except BaseException as error:
            ends.put((None, error))

    # In another thread, because no engine promises that a cancelled job ends soon.
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
        except Exception:  # each engine has its own exceptions
            _LOGGER.debug("the job cannot be cancelled", exc_info=True)
        state = error = None
        with contextlib.suppress(queue.Empty):
            state, error = ends.get(timeout=_PATIENCE_FOR_THE_END)
    if not watch.page or not watch.have_answered:
        watch.look()  # a job can have ended before the first look
    if unable is not None and state != PipelineState.DONE:
        raise unable from error
    if error is not None:
        raise error
    return state


def engine_failure(
    error: BaseException, job: SentJob | None, options: PipelineOptions
) -> JobError | None:
    """Why the engine failed a job, or did not accept it (`job` is None); None if it is unknown."""
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
    with contextlib.suppress(Exception):  # answers of an engine can have unexpected forms
        failures += [] if job is None else job.failures()
    return known_failure(failures, messages[-1] if messages else str(error))
