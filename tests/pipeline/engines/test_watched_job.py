"""The launcher follows the job that it has sent to an engine, and names the part that failed."""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from apache_beam.metrics import monitoring_infos
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_job_api_pb2
from apache_beam.runners.portability.portable_runner import PipelineResult
from test_handshake import FULL, LAUNCHER, worker

from beam_bleu.pipeline.engines import sent_jobs
from beam_bleu.pipeline.engines.handshake import Handshake, Worker
from beam_bleu.pipeline.engines.runners import WORKER_TIMEOUT
from beam_bleu.pipeline.engines.sent_jobs import (
    DataflowJob,
    Seen,
    SentJob,
    Watch,
    engine_failure,
    follow,
    sent_job,
)
from beam_bleu.pipeline.errors.told_errors import Failure, MarkedError, known_failure
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.progress import PROGRESS

NAME = "beam-bleu-atlas-20261119-020003-5f0c"


@contextlib.contextmanager
def fake_flink(answers: Mapping[str, Any]) -> Iterator[str]:
    """The URL of a server like Flink's, with answers by path. Other paths are not found."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path)
            self.send_response(200 if found is not None else 404)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, *words: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class JobServer:
    """A job server that has counters of two steps."""

    def GetJobMetrics(self, request: Any, timeout: float) -> Any:  # noqa: N802
        assert request.job_id == "job-1"
        counted = [("Count", "segments", 70), ("Again", "segments", 2), ("Count", "bytes", 9)]
        infos = [
            monitoring_infos.int64_user_counter("beam_bleu", name, value, ptransform=step)
            for step, name, value in counted
        ]
        infos.append(monitoring_infos.int64_user_counter("else", "segments", 5, ptransform="x"))
        return beam_job_api_pb2.GetJobMetricsResponse(
            metrics=beam_job_api_pb2.MetricResults(attempted=infos)
        )


def portable(*states: int) -> PipelineResult:
    """Beam's result of a job that has been in these states."""
    result = PipelineResult(JobServer(), "job-1", iter(()), iter(()))
    for state in states:
        event = beam_job_api_pb2.JobStateEvent(state=state)
        result._messages.append(beam_job_api_pb2.JobMessagesResponse(state_response=event))
    return result


def test_a_job_of_a_job_server():
    states = beam_job_api_pb2.JobState
    job = sent_job(portable(states.STARTING, states.RUNNING), PipelineOptions([]))
    assert job.id == "job-1"
    assert job.seen() == Seen("RUNNING", "", 72, is_working=None)


def accumulators(**counters: int) -> dict[str, Any]:
    def payload(value: int) -> str:
        encoded = monitoring_infos.int64_user_counter("", "", value).payload
        return base64.b64encode(encoded).decode()

    attempted = [
        {"labels": {"NAMESPACE": "beam_bleu", "NAME": name}, "payload": payload(value)}
        for name, value in counters.items()
    ]
    others = [{"labels": {"NAME": "x"}, "payload": "AA=="}, {"urn": "y"}]
    beams = {"metrics": {"attempted": [*others, *attempted]}}
    found = [{"name": "own", "value": "5"}, {"name": "beam", "value": json.dumps(beams)}]
    return {"user-task-accumulators": found}


def flink_job(number: int, name: str, state: str) -> dict[str, Any]:
    tasks = {"finished": 6, "running": 30 if state == "RUNNING" else 0, "total": 36}
    return {"jid": f"f{number}", "name": name, "state": state, "start-time": number, "tasks": tasks}


def test_flink_tells_more_than_the_job_server():
    jobs = [flink_job(3, "another", "RUNNING"), flink_job(1, NAME, "FAILED")]
    jobs.append(flink_job(2, NAME, "RUNNING"))
    answers = {
        "/jobs/overview": {"jobs": jobs},
        "/jobs/f2/accumulators": accumulators(segments=300_000, bytes=1),
    }
    with fake_flink(answers) as url:
        options = PipelineOptions([f"--flink_master={url}", f"--job_name={NAME}"])
        seen = sent_job(portable(), options).seen()
    told = "RUNNING, 6 of 36 tasks finished"
    assert seen == Seen(told, f"{url}/#/job/f2", 300_000, is_working=True)


def test_a_job_of_dataflow_has_a_page():
    state = SimpleNamespace(name="JOB_STATE_RUNNING")
    client = SimpleNamespace(get_job=lambda job: SimpleNamespace(current_state=state))
    result = SimpleNamespace(
        job_id=lambda: "2026-11-19_1", _runner=SimpleNamespace(dataflow_client=client)
    )
    options = PipelineOptions(["--project=ours", "--region=europe-west1"])
    job = sent_job(result, options)
    assert job.id == "2026-11-19_1"
    page = "https://console.cloud.google.com/dataflow/jobs/europe-west1/2026-11-19_1?project=ours"
    assert job.seen() == Seen("RUNNING", page, is_working=None)


def failed(*texts: str, flags: Sequence[str] = ()) -> SentJob:
    """A job about which a job server has sent these texts."""
    messages = [beam_job_api_pb2.JobMessage(message_text=text) for text in texts]
    state = beam_job_api_pb2.JobStateEvent(state=beam_job_api_pb2.JobState.FAILED)
    result = portable()
    result._messages += [
        *(beam_job_api_pb2.JobMessagesResponse(message_response=each) for each in messages),
        beam_job_api_pb2.JobMessagesResponse(state_response=state),
    ]
    return sent_job(result, PipelineOptions(list(flags)))


class Lost(grpc.RpcError):
    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "Socket closed"


def test_a_lost_connection_names_the_job_server():
    options = PipelineOptions(["--job_endpoint=engine:8099"])
    for job in (None, failed()):
        error = engine_failure(Lost(grpc.StatusCode.UNAVAILABLE), job, options)
        assert error is not None
        said = "the connection to the job server at engine:8099 was lost: Socket closed"
        assert error.cause == said


class Sent:
    """Beam's result of a job that ends when it is cancelled, or never."""

    job_id = "job-1"

    def __init__(self, ends: bool) -> None:
        self._ends = ends
        self.is_cancelled = threading.Event()

    def cancel(self) -> None:
        self.is_cancelled.set()

    def wait_until_finish(self) -> str:
        self.is_cancelled.wait(60)
        if not self._ends:
            threading.Event().wait(60)
        raise RuntimeError("the job is CANCELLED")


def test_a_job_whose_workers_cannot_do_it_is_cancelled(monkeypatch):
    monkeypatch.setattr(sent_jobs, "_PAUSE", 0.0)
    monkeypatch.setattr(sent_jobs, "_PATIENCE_FOR_THE_END", 0.1)
    monkeypatch.setattr(DataflowJob, "seen", lambda self: Seen("RUNNING", is_working=True))
    handshake = SimpleNamespace(answers=lambda: [worker("a", BAD)], software=LAUNCHER)
    for sent in (Sent(ends=True), Sent(ends=False)):
        with pytest.raises(InputError, match="a line is bad"):
            follow(sent_job(sent, PipelineOptions([])), handshake, None, list)
        assert sent.is_cancelled.is_set()


def test_a_job_that_is_done_is_done():
    sent = SimpleNamespace(job_id="job-1", wait_until_finish=lambda: "DONE")
    handshake = SimpleNamespace(answers=lambda: None)
    assert follow(sent_job(sent, PipelineOptions([])), handshake, None, list) == "DONE"


BAD = InputError("a line is bad", "repair it")


def test_other_failures_keep_their_own_message():
    for error, texts in [
        # What is wrong with the input is more important than the fault that came with it.
        (RuntimeError(str(MarkedError("a line is bad", BAD))), ["NoResourceAvailable"]),
        (BAD, ["NoResourceAvailable"]),
        (RuntimeError("disk full"), ["\n\tat Somewhere.else(File.java:1)", "disk full"]),
        (Lost(grpc.StatusCode.NOT_FOUND), []),
    ]:
        assert engine_failure(error, failed(*texts), PipelineOptions([])) is None


# Workers that do not answer, or say that they cannot do the job


OTHER_CODE = (
    "AttributeError: Can't get attribute '_Answer' on <module "
    "'beam_bleu.pipeline.engines.handshake' from '/x/handshake.py'>"
)
FAULT = Failure("org.apache.flink.util.FlinkException: a TaskManager was lost", "w1:6122")
LATE = Failure("java.lang.RuntimeException: No client connected within timeout\n\tat X", "w1:6122")


class Waiting:
    """A launcher that waits for workers, with a clock, and its job, which tells what it is told."""

    def __init__(self, folder: Path, timeout: int | None = None) -> None:
        self.heard: list[Worker] = []
        self.now = 1000.0
        self.path = folder / "w"
        self.tells: Seen | Exception = Seen("RUNNING")
        self.failed: Sequence[Failure] = ()
        source: Any = None  # nobody asks the workers of these tests
        job: Any = self
        handshake = Handshake(source, (), str(folder), LAUNCHER, str(self.path), 16)
        self._watch = Watch(job, handshake, timeout, self.heard.extend, lambda: self.now)

    def seen(self) -> Seen:
        if isinstance(self.tells, Exception):
            raise self.tells
        return self.tells

    def failures(self) -> Sequence[Failure]:
        return self.failed

    def cause(self, is_working: bool | None = True, *failures: Failure) -> str | None:
        """The cause for which the job must end."""
        self.tells, self.failed = Seen("RUNNING", is_working=is_working), failures
        error = self._watch.look()
        return None if error is None else error.cause


def test_workers_that_answer_are_heard_once_and_one_that_cannot_do_the_job_ends_it(tmp_path):
    waiting = Waiting(tmp_path)
    assert waiting.cause() is None
    waiting.path.write_text(json.dumps([worker("a").to_json()]))
    for _ in range(2):
        assert waiting.cause() is None
        waiting.now += 10_000
    assert [each.host for each in waiting.heard] == ["a"]
    waiting = Waiting(tmp_path)
    waiting.path.write_text(json.dumps([worker("a").to_json(), worker("b", FULL).to_json()]))
    assert waiting.cause() == f"on b: {FULL.cause}"
    assert len(waiting.heard) == 2


def test_a_job_without_workers_ends_after_its_time(tmp_path):
    waiting, causes = Waiting(tmp_path), []
    for seconds, is_working in ((0, False), (10_000, True), (WORKER_TIMEOUT - 1, True), (1, True)):
        waiting.now += seconds  # the first ones are in the engine's queue
        causes.append(waiting.cause(is_working))
    assert causes == [None] * 3 + [f"no Python worker has answered for {WORKER_TIMEOUT} s"]


def test_a_job_that_may_be_in_a_queue_ends_only_if_the_user_says_when(tmp_path):
    for timeout, expected in ((None, None), (90, "no Python worker has answered for 90 s")):
        waiting = Waiting(tmp_path, timeout)
        assert waiting.cause(None) is None
        waiting.now += 89
        assert waiting.cause(None) is None
        waiting.now += 10_000
        assert waiting.cause(None) == expected


def test_the_progress_gets_what_is_known(tmp_path):
    waiting, told = Waiting(tmp_path), []
    running = Seen("RUNNING", segments=1234)
    for waiting.tells in (Seen(""), running, Seen("DONE"), RuntimeError("the engine is busy")):
        waiting._watch.look()
        told.append(PROGRESS.state.detail)
    assert told == ["", "RUNNING, 1,234 segments", "DONE", "DONE"]


def test_an_error_of_a_worker_ends_the_job_before_it_starts_again(tmp_path):
    told = f"\tat X.java\n{MarkedError('x has beam-bleu 9', FULL)}"
    for failures, cause in [
        ([Failure(told, "w1:6122")], FULL.cause),
        ([Failure(OTHER_CODE, "w1:6122")], "on w1:6122: the workers have a different version of "),
        (
            [Failure("No module named 'beam_bleu'", "w1:6122")],
            "on w1:6122: the workers do not have ",
        ),
        ([LATE, FAULT], None),
        # Beam's worker for another version of Python refuses to begin, each time.
        ([LATE, FAULT, LATE], "on w1:6122: the workers have started, but have not begun "),
    ]:
        found = Waiting(tmp_path).cause(True, *failures)
        assert (found or "").startswith(cause or "")
        assert (found is None) == (cause is None)


# What a job lacks, by the words of Flink and Spark


UNREACHABLE = (
    "org.apache.flink.runtime.jobmaster.JobMasterException: TaskManager with id "
    "127.0.0.1:34205-320c78 is no longer reachable.\n\tat x(J.java)"
)
HEARTBEAT = (
    "java.util.concurrent.TimeoutException: Heartbeat of TaskManager with id w1:6122-ab timed out."
)
CONNECTION = (
    "org.apache.flink.runtime.io.network.netty.exception.RemoteTransportException: Connection "
    "unexpectedly closed by remote task manager 'w1/10.0.0.5:40391'. This might indicate"
)
EXECUTOR = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: (10.0.0.5 executor 3): "
    "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: Remote"
)
BUFFERS = "java.io.IOException: Insufficient number of network buffers: required 512, but only 475"
SLOTS = (
    "org.apache.flink.runtime.jobmanager.scheduler.NoResourceAvailableException: Could not acquire "
    "the minimum required resources."
)


def test_the_last_line_of_the_engine_is_named():
    places = {
        "BeamFnExternalWorkerPoolGrpc$X.startWorker": (
            "java.net.ConnectException: finishConnect(..) failed: Connection refused",
            "the engine finds no pool of Python workers: finishConnect(..) failed: ",
        ),
        "ExternalEnvironmentFactory.createEnvironment": (
            "java.lang.RuntimeException: Traceback:\n  File X\nFileNotFoundError: no boot\n\n",
            "the pool could not start a Python worker: FileNotFoundError: no boot",
        ),
    }
    for place, (said, cause) in places.items():
        error = known_failure([Failure(f"\tat org.apache.beam.{place}(X.java:1)")], said)
        assert error is not None
        assert error.cause.startswith(cause)


def test_the_cause_is_named():
    for text, cause, remedy in [
        *(
            (text, f"a worker of the engine was lost: {lost}", "start the job again")
            for text, lost in (
                (UNREACHABLE, "TaskManager with id 127.0.0.1:34205-320c78 is no longer reachable"),
                (HEARTBEAT, "TaskManager with id w1:6122-ab timed out"),
                (CONNECTION, "Connection unexpectedly closed by remote task manager 'w1/10.0."),
                (EXECUTOR, "ExecutorLostFailure (executor 3 exited caused by one of the running"),
            )
        ),
        (
            "java.io.IOException: No space left on device\n\tat java.base/sun.nio.ch.X(X.java)",
            "a disk is full where the job runs: java.io.IOException: No space left on device",
            "free space there",
        ),
        (BUFFERS, "a TaskManager of Flink has too few network buffers: ", ".network.min and .max"),
        (SLOTS, "Flink has too few free slots for the job", "--parallelism"),
    ]:
        error = known_failure([Failure("java.lang.RuntimeException: another"), Failure(text)])
        assert error is not None
        assert error.cause.startswith(cause)
        assert remedy in error.remedy


def test_flink_tells_the_failures_before_the_last_one_and_the_worker():
    entries = [
        {"timestamp": 2, "stacktrace": BUFFERS, "endpoint": "w2:6122"},
        {"timestamp": 1, "stacktrace": UNREACHABLE, "endpoint": "w1:6122"},
    ]
    answers = {
        "/jobs/overview": {"jobs": [flink_job(2, NAME, "RUNNING")]},
        "/jobs/f2/exceptions": {"exceptionHistory": {"entries": entries}},
    }
    with fake_flink(answers) as url:
        flags = [f"--flink_master={url}", f"--job_name={NAME}"]
        job = failed(BUFFERS, flags=flags)
        error = engine_failure(RuntimeError("x"), job, PipelineOptions([]))
    assert error is not None
    assert error.cause.startswith("on w1:6122: a worker of the engine was lost: ")
