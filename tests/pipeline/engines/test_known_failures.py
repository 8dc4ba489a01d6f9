"""A lost worker of an engine, and what a job lacks, are named by the words of Flink and Spark."""

from __future__ import annotations

import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from fake_flink import fake_flink
from test_watched_job import NAME, failed, flink_job

from beam_bleu.pipeline.engines.watched_job import engine_failure
from beam_bleu.pipeline.errors.told_errors import Failure, known_failure

OPTIONS = PipelineOptions([])

UNREACHABLE = (
    "org.apache.flink.runtime.jobmaster.JobMasterException: TaskManager with id "
    "127.0.0.1:34205-320c78 is no longer reachable.\n"
    "\tat org.apache.flink.runtime.jobmaster.JobMaster$TaskManagerHeartbeatListener.x(J.java)"
)
HEARTBEAT = (
    "java.util.concurrent.TimeoutException: Heartbeat of TaskManager with id w1:6122-ab timed out."
)
CONNECTION = (
    "org.apache.flink.runtime.io.network.netty.exception.RemoteTransportException: Connection "
    "unexpectedly closed by remote task manager 'w1/10.0.0.5:40391'. This might "
    "indicate that the remote task manager was lost."
)
EXECUTOR = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 5.0 failed "
    "4 times, most recent failure: Lost task 0.3 in stage 5.0 (TID 12) (10.0.0.5 executor 3): "
    "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: Remote RPC "
    "client disassociated.\nDriver stacktrace:"
)
BUFFERS = (
    "java.io.IOException: Insufficient number of network buffers: required 512, but only 475 "
    "available. The total number of network buffers is currently set to 1536 of 32768 bytes each. "
    "You can increase this number by setting the configuration keys 'taskmanager.memory.network."
)
SLOTS = (
    "org.apache.flink.runtime.jobmanager.scheduler.NoResourceAvailableException: Could not acquire "
    "the minimum required resources."
)


def test_the_last_line_of_the_engine_is_named() -> None:
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


@pytest.mark.parametrize(
    ("text", "cause", "remedy"),
    [
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
    ],
)
def test_the_cause_is_named(text: str, cause: str, remedy: str) -> None:
    error = known_failure([Failure("java.lang.RuntimeException: something else"), Failure(text)])
    assert error is not None
    assert error.cause.startswith(cause)
    assert remedy in error.remedy


def on_flink(entries: list[dict[str, object]], said: str) -> str:
    """The cause of a job's failure, by Flink's history and what the job server has said."""
    answers = {
        "/jobs/overview": {"jobs": [flink_job(2, NAME, "RUNNING")]},
        "/jobs/f2/exceptions": {"exceptionHistory": {"entries": entries}},
    }
    with fake_flink(answers) as url:
        flags = [f"--flink_master={url}", f"--job_name={NAME}"]
        error = engine_failure(RuntimeError("x"), failed(said, flags=flags), OPTIONS)
    assert error is not None
    return error.cause


def test_flink_tells_the_failures_before_the_last_one_and_the_worker() -> None:
    entries = [
        {"timestamp": 2, "stacktrace": BUFFERS, "endpoint": "w2:6122"},
        {"timestamp": 1, "stacktrace": UNREACHABLE, "endpoint": "w1:6122"},
    ]
    assert on_flink(entries, BUFFERS).startswith("on w1:6122: a worker of the engine was lost: ")
