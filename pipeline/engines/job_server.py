"""Beam's job servers: the launcher asks one whether it is there, before it sends a job."""

from __future__ import annotations

import shutil
import time

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    JobServerOptions,
    PipelineOptions,
    PortableOptions,
    SparkRunnerOptions,
)

from beam_bleu.pipeline.engines.address import PATIENCE, Address, parse_address
from beam_bleu.transforms.errors import JobError, UsageError

_OF_JAVA = ("FlinkRunner", "SparkRunner")

_REMEDY = (
    "give the port of Beam's job server, usually 8099; the ports of Flink and Spark belong to "
    "--flink_master and --spark_master_url"
)


def check_job_server(runner: str, options: PipelineOptions) -> None:
    """Checks that the job server of a runner answers, or that it can be started here.

    Raises:
      UsageError: no job server is named, or its address is invalid, or there is no Java.
      JobError: the job server does not answer, or is something else.
    """
    name = runner.rpartition(".")[2]
    endpoint = options.view_as(PortableOptions).job_endpoint
    if endpoint and endpoint != "embed":
        _ask(endpoint)
    elif name == "PortableRunner" and not endpoint:
        raise UsageError(
            "--runner PortableRunner needs --job_endpoint", "name the engine's job server"
        )
    elif name in _OF_JAVA and not _sends_a_jar(options):
        java = options.view_as(JobServerOptions).job_server_java_launcher
        if shutil.which(java) is None:
            raise UsageError(
                f"--runner {runner} starts a job server in Java, but `{java}` is not installed",
                "install Java, or name a job server that runs elsewhere: --job_endpoint HOST:PORT",
            )


def _ask(endpoint: str) -> None:
    begin = time.monotonic()
    address = parse_address(endpoint)
    if address is None:
        raise UsageError(f"--job_endpoint must be HOST:PORT, got {endpoint}", "give both")
    _connect(address, endpoint)
    left = max(PATIENCE - (time.monotonic() - begin), 1.0)
    if error := _error_of_job_server(endpoint, left):
        raise JobError(
            f"--job_endpoint {endpoint} accepts connections, but does not answer as a Beam job "
            f"server: {error}",
            _REMEDY,
        )


def _connect(address: Address, endpoint: str) -> None:
    try:
        address.connect(PATIENCE)
    except UnicodeError as error:
        raise UsageError(
            f"--job_endpoint {endpoint}: {address.host} cannot be the name of a host: {error}",
            "check the name",
        ) from error
    except (OSError, OverflowError) as error:
        raise JobError(
            f"no job server answers at --job_endpoint {endpoint}: {error}",
            "start it, or correct the address",
        ) from error


def _error_of_job_server(endpoint: str, seconds: float) -> str:
    """GRPC's error of a process that accepts connections; "" if it is a job server."""
    import grpc
    from apache_beam.portability.api import beam_job_api_pb2, beam_job_api_pb2_grpc

    with grpc.insecure_channel(endpoint) as channel:
        server = beam_job_api_pb2_grpc.JobServiceStub(channel)
        try:
            # Beam's own first call, when it submits a job.
            server.DescribePipelineOptions(
                beam_job_api_pb2.DescribePipelineOptionsRequest(), timeout=seconds
            )
        except grpc.RpcError as error:
            return f"{error.code().name}: {error.details()}"
    return ""


def _sends_a_jar(options: PipelineOptions) -> bool:
    """Whether the runner packs the job into a jar and sends it to the engine itself."""
    return bool(
        options.view_as(FlinkRunnerOptions).flink_submit_uber_jar
        or options.view_as(SparkRunnerOptions).spark_submit_uber_jar
    )
