"""Whether an engine's parts answer: the launcher asks them before it sends a job."""

from __future__ import annotations

import shutil

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    JobServerOptions,
    PipelineOptions,
    PortableOptions,
    SparkRunnerOptions,
)
from apache_beam.portability import common_urns

from beam_bleu.pipeline.engines.sent_jobs import ask_flink, flink_url
from beam_bleu.transforms.errors import JobError, UsageError

_PATIENCE = 10.0
"""Seconds within which the launcher knows whether a job server answers."""


def check_reachable(runner: str, options: PipelineOptions) -> None:
    """Checks that the parts of an engine answer that the launcher will need."""
    name = runner.rpartition(".")[2]
    portable = options.view_as(PortableOptions)
    endpoint = portable.job_endpoint
    sends_a_jar = (
        options.view_as(FlinkRunnerOptions).flink_submit_uber_jar
        or options.view_as(SparkRunnerOptions).spark_submit_uber_jar
    )
    if endpoint and endpoint != "embed":
        _ask_job_server(endpoint)
    elif name == "PortableRunner" and not endpoint:
        raise UsageError(
            "--runner PortableRunner needs --job_endpoint", "name the engine's job server"
        )
    elif name in ("FlinkRunner", "SparkRunner") and not sends_a_jar:
        java = options.view_as(JobServerOptions).job_server_java_launcher
        if shutil.which(java) is None:
            raise UsageError(
                f"--runner {runner} starts a job server in Java, but `{java}` is not installed",
                "install Java, or name a job server that runs elsewhere: --job_endpoint HOST:PORT",
            )
    url = flink_url(options)
    if name == "FlinkRunner" and url and not endpoint and not ask_flink(url, "/jobs/overview"):
        raise JobError(
            f"no Flink answers at --flink_master {url}",
            "start it, or correct the address: it is the REST port of the JobManager",
        )
    if portable.environment_type in ("EXTERNAL", common_urns.environments.EXTERNAL.urn) and not (
        portable.environment_config
        or portable.lookup_environment_option("external_service_address")
    ):
        raise UsageError(
            "--environment_type EXTERNAL needs the address of the pool of Python workers",
            "give it with --environment_config HOST:PORT",
        )


def _ask_job_server(endpoint: str) -> None:
    import grpc
    from apache_beam.portability.api import beam_job_api_pb2, beam_job_api_pb2_grpc

    with grpc.insecure_channel(endpoint) as channel:
        try:
            # Beam's own first call, when it submits a job.
            beam_job_api_pb2_grpc.JobServiceStub(channel).DescribePipelineOptions(
                beam_job_api_pb2.DescribePipelineOptionsRequest(), timeout=_PATIENCE
            )
        except grpc.RpcError as error:
            raise JobError(
                f"no job server of Beam answers at --job_endpoint {endpoint}: "
                f"{error.code().name}: {error.details()}",
                "start it, or correct HOST:PORT: the port of Beam's job server is usually 8099; "
                "those of Flink and Spark belong to --flink_master and --spark_master_url",
            ) from error
