"""Whether an engine's parts answer: the launcher asks them before it sends a job."""

from __future__ import annotations

import json
import shutil
import socket
import urllib.parse

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    JobServerOptions,
    PipelineOptions,
    PortableOptions,
    SparkRunnerOptions,
)
from apache_beam.portability import common_urns
from apache_beam.transforms.environments import looks_like_json

from beam_bleu.pipeline.engines.flink import flink_url
from beam_bleu.transforms.errors import JobError, UsageError

_PATIENCE = 10.0
"""Seconds within which the launcher knows whether an address answers."""

_POOL_TYPES = ("EXTERNAL", common_urns.environments.EXTERNAL.urn)
"""The values of --environment_type that mean a pool of Python workers."""

_GIVE_ADDRESS = "give it with --environment_config HOST:PORT"


def check_reachable(runner: str, options: PipelineOptions) -> None:
    """Checks that the parts of an engine answer that the launcher will need.

    Args:
      runner: the name of the runner.
      options: Beam's options.

    Raises:
      UsageError: an address is missing or invalid, or there is no Java.
      JobError: a part does not answer, or is something else.
    """
    name = runner.rpartition(".")[2]
    endpoint = options.view_as(PortableOptions).job_endpoint
    if endpoint and endpoint != "embed":
        _ask_job_server(endpoint)
    elif name == "PortableRunner" and not endpoint:
        raise UsageError(
            "--runner PortableRunner needs --job_endpoint", "name the engine's job server"
        )
    elif name in ("FlinkRunner", "SparkRunner") and not _sends_a_jar(options):
        java = options.view_as(JobServerOptions).job_server_java_launcher
        if shutil.which(java) is None:
            raise UsageError(
                f"--runner {runner} starts a job server in Java, but `{java}` is not installed",
                "install Java, or name a job server that runs elsewhere: --job_endpoint HOST:PORT",
            )
    url = flink_url(options)
    if name == "FlinkRunner" and url is not None and not endpoint:
        parts = urllib.parse.urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        _connect(
            (parts.hostname or "", port),
            f"no Flink answers at --flink_master {url}",
            "start it, or correct the address: it is the REST port of the JobManager",
        )
    _require_pool_address(options)


def _require_pool_address(options: PipelineOptions) -> None:
    """Checks that there is an address of the pool if one starts the Python workers.

    With --environment_type EXTERNAL, each machine of an engine asks a pool to start its workers.
    """
    portable = options.view_as(PortableOptions)
    if portable.environment_type not in _POOL_TYPES:
        return
    config = portable.environment_config
    url = config or portable.lookup_environment_option("external_service_address")
    if config and looks_like_json(config):
        try:
            url = json.loads(config).get("url")
        except ValueError as error:
            raise UsageError(
                f"--environment_config is not valid JSON: {error}", _GIVE_ADDRESS
            ) from error
    if not isinstance(url, str) or not url:
        raise UsageError(
            "--environment_type EXTERNAL needs the address of the pool of Python workers",
            _GIVE_ADDRESS,
        )


def _ask_job_server(endpoint: str) -> None:
    import grpc
    from apache_beam.portability.api import beam_job_api_pb2, beam_job_api_pb2_grpc

    address = _address(endpoint)
    if address is None:
        raise UsageError(f"--job_endpoint must be HOST:PORT, got {endpoint}", "give both")
    _connect(
        address,
        f"no job server answers at --job_endpoint {endpoint}",
        "start it, or correct the address",
    )
    with grpc.insecure_channel(endpoint) as channel:
        try:
            # Beam's own first call, when it submits a job.
            beam_job_api_pb2_grpc.JobServiceStub(channel).DescribePipelineOptions(
                beam_job_api_pb2.DescribePipelineOptionsRequest(), timeout=_PATIENCE
            )
        except grpc.RpcError as error:
            raise JobError(
                f"--job_endpoint {endpoint} accepts connections, but does not answer as a Beam job "
                f"server: {error.code().name}: {error.details()}",
                "give the port of Beam's job server, usually 8099; the ports of Flink and Spark "
                "belong to --flink_master and --spark_master_url",
            ) from error


def _connect(address: tuple[str, int], cause: str, remedy: str) -> None:
    """Opens a connection, and closes it again.

    Raises:
      JobError: nothing accepts connections there, or there can be no such host or port.
    """
    try:
        socket.create_connection(address, _PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise JobError(f"{cause}: {error}", remedy) from error


def _address(text: str) -> tuple[str, int] | None:
    """The host and the port of a text HOST:PORT; None if the text is something else."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal():
        return None
    return host.removeprefix("[").removesuffix("]"), int(port)


def _sends_a_jar(options: PipelineOptions) -> bool:
    """Whether the runner packs the job into a jar and sends it to the engine itself."""
    return bool(
        options.view_as(FlinkRunnerOptions).flink_submit_uber_jar
        or options.view_as(SparkRunnerOptions).spark_submit_uber_jar
    )
