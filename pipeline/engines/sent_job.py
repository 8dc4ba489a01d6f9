"""A job that was sent to an engine: the launcher follows it, and waits for its end.

The launcher tells the job's id, state and counters. The counters are Beam's, so they may count
repeated work twice. They only show that the job goes on. If an engine does not tell something, it
is left out: watching a job never fails it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    GoogleCloudOptions,
    PipelineOptions,
)
from apache_beam.portability.api import beam_job_api_pb2
from apache_beam.runners.portability.portable_metrics import from_monitoring_infos
from apache_beam.runners.portability.portable_runner import PipelineResult
from apache_beam.runners.runner import PipelineState

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.terminal import tell
from beam_bleu.pipeline.engines.awaited_workers import AwaitedWorkers
from beam_bleu.pipeline.engines.flink_master import FlinkFailure, FlinkJob, flink_master
from beam_bleu.transforms.errors import BleuError
from beam_bleu.transforms.progress import PROGRESS, Progress

_FIRST_PAUSE, _PAUSE = 1.0, 5.0
"""Seconds before each of the first looks at a job, and before each later look."""

_FIRST_LOOKS = 10
"""So many looks are close together: a small job is soon over, and its page is wanted at once."""

_SECONDS = 5.0
"""How long to wait for an answer of the job server."""

_PATIENCE_FOR_THE_END = 10.0
"""Seconds after which the launcher no longer waits for the end of a job that it has cancelled."""

_LOGGER = logging.getLogger("beam_bleu.engines")


@dataclasses.dataclass(frozen=True)
class Seen:
    """What an engine tells of a job at one moment.

    Attributes:
      state: its state in the engine's words, and how much is finished; "" if it is not known.
      page: its page in the engine's console; "" if it is not known.
      counters: the counters of ours, by name.
      is_working: whether the engine works on it, and has not only put it in a queue; None if that
        is not known.
    """

    state: str
    page: str
    counters: Mapping[str, int]
    is_working: bool | None = None


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
        # With --job_name, Flink can show a job of an earlier run until it has got this one.
        newest = self._newest_on_flink()
        self._former = newest.id if newest is not None and newest.has_ended else None

    def seen(self) -> Seen:
        """What the engine tells now."""
        if not self._is_portable:
            return self._by_dataflow()
        job = self._job_on_flink()
        if self._flink is not None and job is not None:
            state = f"{job.state}, {job.finished_tasks} of {job.tasks} tasks finished"
            known = self._flink.counters(job)
            return Seen(state, self._flink.page(job), known, job.running_tasks > 0)
        counters: dict[str, int] = {}
        with contextlib.suppress(Exception):  # not every job server has counters
            counters = self._counters()
        return Seen(self._state(), "", counters)

    def failures(self) -> Sequence[FlinkFailure]:
        """The failures after which the engine may start the job again, as far as they are known."""
        job = self._job_on_flink()
        return [] if self._flink is None or job is None else self._flink.failures(job)

    def cancel(self) -> None:
        """Ends the job on the engine, as far as that is possible."""
        job = self._job_on_flink()
        # Beam's job server for Flink would only forget a job that it is told to cancel.
        if self._flink is not None and job is not None and self._flink.cancel(job):
            return
        if not self._is_portable:
            self._result.cancel()
            return
        self._result._job_service.Cancel(
            beam_job_api_pb2.CancelJobRequest(job_id=self._result._job_id), timeout=_SECONDS
        )

    def _newest_on_flink(self) -> FlinkJob | None:
        return self._flink.job(str(self._cloud.job_name)) if self._flink else None

    def _job_on_flink(self) -> FlinkJob | None:
        """This job as Flink knows it; None if Flink does not know it, or cannot be asked."""
        job = self._newest_on_flink()
        return None if job is None or job.id == self._former else job

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
    """Tells what is known of a job, again and again, and ends it if its workers cannot do it.

    Args:
      job: the job.
      progress: gets the state and the counters.
      workers: waits for the workers; None if nobody does.

    Attributes:
      ends: gets the state or the error with which the wait for the job ends.
      error: why the launcher has ended the job; None if it has not.
    """

    def __init__(
        self, job: Submitted, progress: Progress = PROGRESS, workers: AwaitedWorkers | None = None
    ) -> None:
        self.ends: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.error: BleuError | None = None
        self._job = job
        self._progress = progress
        self._workers = workers
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
                    tell(f"the page of the job: {seen.page}")
            if seen.state and seen.state != self._state:
                self._state = seen.state
                _LOGGER.info("the state of the job: %s", seen.state)
            segments = seen.counters.get("segments")
            told = [self._state, "" if segments is None else f"{segments:,} segments"]
            self._progress.tell(printable(", ".join(part for part in told if part)))
        if self._workers is not None and self.error is None:
            is_working = seen.is_working
            if is_working is None and seen.state != "RUNNING":
                is_working = False
            try:
                self.error = self._workers.error(is_working, self._job.failures)
            except Exception:  # a filesystem can fail for a moment
                _LOGGER.debug("the answers of the workers cannot be read", exc_info=True)

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
        if not self._page or (self._workers is not None and self._workers.workers is None):
            self.look()

    def _look_on(self) -> None:
        pauses = itertools.chain(
            itertools.repeat(_FIRST_PAUSE, _FIRST_LOOKS), itertools.repeat(_PAUSE)
        )
        while not self._over.wait(next(pauses)):
            self.look()
            if self.error is not None:
                self._end()
                return

    def _end(self) -> None:
        """Ends the job, and also the wait for it if the engine does not."""
        try:
            self._job.cancel()
        except Exception:  # each engine has exceptions of its own
            _LOGGER.debug("the job cannot be cancelled", exc_info=True)
        if not self._over.wait(_PATIENCE_FOR_THE_END):
            self.ends.put((None, None))


def wait(result: Any, options: PipelineOptions, workers: AwaitedWorkers) -> Any:
    """Prints the id of a job on stderr, follows the job, and returns its state at the end.

    Raises:
      BleuError: the workers cannot do the job, or do not answer. Then the job was cancelled.
      Exception: what Beam raises if the job fails.
    """
    job = Submitted(result, options)
    if job.id:
        # In the words of Beam's client of Dataflow, because Airflow looks for them in the log.
        # It is also printed with --quiet: without it nobody finds the job if this process ends.
        tell(f"Created job with id: [{job.id}]")
    PROGRESS.begin("running")
    watch = Watch(job, workers=workers)

    def wait_for_beam() -> None:
        try:
            watch.ends.put((result.wait_until_finish(), None))
        except BaseException as error:
            watch.ends.put((None, error))

    with watch.looking():
        # On another thread, because no engine promises that a cancelled job ends soon.
        threading.Thread(target=wait_for_beam, name="wait for the job", daemon=True).start()
        state, error = watch.ends.get()
        if watch.error is not None and state != PipelineState.DONE:
            raise watch.error from error
        if error is not None:
            raise error
    return state
