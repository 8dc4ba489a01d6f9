"""The message of a failed job names the part of the engine that failed."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import grpc
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_job_api_pb2

from beam_bleu.pipeline.engines.failures import engine_failure
from beam_bleu.pipeline.errors.error_marks import MarkedError
from beam_bleu.transforms.errors import InputError

POOL = ["--environment_type=EXTERNAL", "--environment_config=localhost:50000"]

# What Beam's job server 2.62 sent from Flink 1.19, cut short.
CALL = """org.apache.flink.client.program.ProgramInvocationException: Job failed (JobID: b1cf)
\tat org.apache.flink.client.deployment.ClusterClientJobClientAdapter.lambda$null$6(A.java:130)
Caused by: org.apache.beam.vendor.grpc.v1p60p1.io.grpc.StatusRuntimeException: UNAVAILABLE
\tat org.apache.beam.model.fnexecution.v1.BeamFnExternalWorkerPoolGrpc$BeamFnExternalWorker\
PoolBlockingStub.startWorker(BeamFnExternalWorkerPoolGrpc.java:221)
\tat org.apache.beam.runners.fnexecution.environment.ExternalEnvironmentFactory.createEnvironment\
(ExternalEnvironmentFactory.java:113)
"""
START = CALL.replace("BeamFnExternalWorkerPool", "Something")
ASKING_FLINK = """java.util.concurrent.ExecutionException: Could not complete the operation.
\tat org.apache.flink.runtime.rest.RestClient$ClientHandler.channelRead0(RestClient.java:628)
"""

REFUSED = (
    "java.net.ConnectException: java.net.ConnectException: finishConnect(..) failed: "
    "Connection refused"
)
UNKNOWN = "java.net.UnknownHostException: java.net.UnknownHostException: pool.invalid"
NO_POOL = (
    "org.apache.beam.vendor.grpc.v1p60p1.io.grpc.StatusRuntimeException: UNIMPLEMENTED: Method "
    "not found: org.apache.beam.model.fn_execution.v1.BeamFnExternalWorkerPool/StartWorker"
)
NO_BOOT = """java.lang.RuntimeException: Traceback (most recent call last):
  File "worker_pool_main.py", line 162, in StartWorker
FileNotFoundError: [Errno 2] No such file or directory: '/opt/apache/beam/boot'

"""


def failed(*texts: str) -> SimpleNamespace:
    """Beam's result of a job about which a job server has sent these texts."""
    messages = [beam_job_api_pb2.JobMessage(message_text=text) for text in texts]
    state = beam_job_api_pb2.JobStateEvent(state=beam_job_api_pb2.JobState.FAILED)
    return SimpleNamespace(
        _messages=[
            *(beam_job_api_pb2.JobMessagesResponse(message_response=each) for each in messages),
            beam_job_api_pb2.JobMessagesResponse(state_response=state),
        ]
    )


class Lost(grpc.RpcError):
    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "Socket closed"


@pytest.mark.parametrize(
    ("texts", "cause"),
    [
        (
            [CALL, REFUSED],
            "the engine finds no pool of Python workers at localhost:50000: "
            "finishConnect(..) failed: Connection refused",
        ),
        (
            [CALL, UNKNOWN],
            "the engine finds no pool of Python workers at localhost:50000: pool.invalid",
        ),
        (
            [CALL, NO_POOL],
            "the engine finds no pool of Python workers at localhost:50000: UNIMPLEMENTED: Method "
            "not found: org.apache.beam.model.fn_execution.v1.BeamFnExternalWorkerPool/StartWorker",
        ),
        (
            [START, NO_BOOT],
            "the pool at localhost:50000 could not start a Python worker: FileNotFoundError: "
            "[Errno 2] No such file or directory: '/opt/apache/beam/boot'",
        ),
        (
            [ASKING_FLINK, "java.net.ConnectException: Connection refused"],
            "Flink's JobManager does not answer the job server any more: Connection refused",
        ),
    ],
)
def test_the_failed_part_is_named(texts, cause) -> None:
    error = RuntimeError(f"Pipeline x failed in state FAILED: {texts[-1]}")
    found = engine_failure(error, failed(*texts), PipelineOptions(POOL))
    assert found is not None
    assert found.cause == cause


def test_a_lost_connection_names_the_job_server() -> None:
    options = PipelineOptions(["--job_endpoint=engine:8099"])
    lost = Lost(grpc.StatusCode.UNAVAILABLE)
    running = engine_failure(lost, failed(), options)
    assert running is not None
    assert (
        running.cause == "the connection to the job server at engine:8099 was lost: Socket closed"
    )
    assert "the job may still run" in running.remedy
    not_sent = engine_failure(lost, None, options)
    assert not_sent is not None
    assert "still run" not in not_sent.remedy


def test_a_pool_that_may_be_missing_is_in_the_remedy() -> None:
    """Spark's text tells nothing of the pool, and Prism ends without a text."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        pool = f"localhost:{deaf.getsockname()[1]}"
        flags = ["--environment_type=EXTERNAL", f"--environment_config={pool}"]
        here = PipelineOptions([*flags, "--job_endpoint=localhost:8099"])
        elsewhere = PipelineOptions([*flags, "--job_endpoint=engine:8099"])
        spark = RuntimeError("x"), failed("java.lang.NoSuchMethodError: 'void checkState'")
        prism = Lost(grpc.StatusCode.UNAVAILABLE), failed()
        for error, result in (spark, prism):
            found = engine_failure(error, result, here)
            assert found is not None
            assert "NoSuchMethodError: " in found.cause or "was lost" in found.cause
            assert f"no pool of Python workers answers at {pool} on this machine" in found.remedy
        assert engine_failure(*spark, elsewhere) is None
        lost = engine_failure(*prism, elsewhere)
        assert lost is not None
        assert "pool" not in lost.remedy


BAD = InputError("a line is bad", "repair it")


@pytest.mark.parametrize(
    ("error", "texts", "flags"),
    [
        # What is wrong with the input is more important than the fault that came with it.
        (RuntimeError(str(MarkedError("a line is bad", BAD))), [CALL, REFUSED], POOL),
        (BAD, [CALL, REFUSED], POOL),
        (RuntimeError(REFUSED), [CALL, REFUSED], []),  # there is no pool
        (RuntimeError("disk full"), ["\n\tat Somewhere.else(File.java:1)", "disk full"], POOL),
        (RuntimeError("disk full"), [], POOL),
        (Lost(grpc.StatusCode.NOT_FOUND), [], POOL),
    ],
)
def test_other_failures_keep_their_own_message(error, texts, flags) -> None:
    assert engine_failure(error, failed(*texts), PipelineOptions(flags)) is None
