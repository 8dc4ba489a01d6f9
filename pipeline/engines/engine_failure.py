"""Why a job has failed on an engine, by name: the parts of an engine fail with their own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import grpc
from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    GoogleCloudOptions,
    PipelineOptions,
    PortableOptions,
)

from beam_bleu.pipeline.engines.flink_master import FlinkFailure, flink_master
from beam_bleu.pipeline.engines.worker_pool import pool_address
from beam_bleu.pipeline.errors.error_marks import find_error
from beam_bleu.pipeline.errors.reporting import error_about_start
from beam_bleu.transforms.errors import BleuError, JobError, causes, joined

__all__ = ["engine_failure", "known_failure"]

_CALL_OF_POOL = "BeamFnExternalWorkerPoolGrpc"
"""In Java's traceback: the engine could not call the pool."""

_START_OF_WORKER = "ExternalEnvironmentFactory.createEnvironment"
"""In Java's traceback: the engine asked the pool for a worker."""

_FULL = "No space left on device"

_ASKS_FLINK = "org.apache.flink.runtime.rest.RestClient"
"""In Java's traceback: the job server asked Flink's JobManager."""

_JAVA_CLASSES = re.compile(r"^(?:(?:\w+\.)+[\w$]+: )+")
"""The types of exceptions before the message of a Java exception."""

_LOST = re.compile(
    r"TaskManager with id \S+ (?:is no longer reachable|timed out)"
    r"|The heartbeat of TaskManager with id \S+ timed out"
    r"|Connection unexpectedly closed by remote task manager '[^']*'"
    r"|Lost connection to task manager '[^']*'"
    r"|Connection for partition \S+ not reachable"
    r"|Lost executor \S+ on [^:\s]+: [^\n]*"
    r"|ExecutorLostFailure \(executor [^)\n]*\)?[^\n]*"
)
"""The words of Flink and Spark for a lost TaskManager or executor."""

_BUFFERS = re.compile(r"Insufficient number of network buffers: [^\n]*")
_NO_SLOTS = re.compile(r"Could not acquire the minimum required resources|NoResourceAvailable")


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
            remedy,
        )
    texts = _texts(result)
    traceback = next((text for text in reversed(texts) if "\n\tat " in text), "")
    cause = _JAVA_CLASSES.sub("", _last_line(texts[-1])) if texts else ""
    failures = _failures_on_flink(options)
    pool = pool_address(options)
    if pool is not None and _CALL_OF_POOL in traceback:
        return JobError(
            f"{_where(failures, _CALL_OF_POOL)}the engine finds no pool of Python workers at "
            f"{pool}: {cause}",
            "start one there on each machine of the engine, or correct --environment_config: "
            "see docs/engines.md",
        )
    if pool is not None and _START_OF_WORKER in traceback:
        return JobError(
            f"{_where(failures, _START_OF_WORKER)}the pool at {pool} could not start a Python "
            f"worker: {cause}",
            "look at the log of the pool",
        )
    if "Connection refused" in cause and _ASKS_FLINK in traceback:
        return JobError(
            f"Flink's JobManager does not answer the job server any more: {cause}",
            "look at Flink's log, and start the job again when Flink runs",
        )
    told = [*(failure.text for failure in failures), *texts, str(error)]
    known = known_failure(told)
    if known is not None:
        return known
    last = failures[-1:]  # those before it did not end the job
    for failure in [*last, *(FlinkFailure(text, "") for text in texts)]:
        late = error_about_start(failure.text, failure.host)
        if late is not None:
            return late
    if any(_FULL in text for text in [*(failure.text for failure in last), *texts]):
        return JobError(
            f"{_where(last, _FULL)}a disk of the engine's workers is full: {_FULL}",
            "free space there: the engine and its Python workers write temporary files",
        )
    return None


def known_failure(texts: Sequence[str]) -> JobError | None:
    """The error for faults of Flink and Spark; None if the texts tell of none.

    Args:
      texts: what the engine and the job server say of a job, from the first failure to the last.
    """
    lost = [match[0] for text in texts for match in _LOST.finditer(text)]
    buffers = [match[0] for text in texts for match in _BUFFERS.finditer(text)]
    if lost:
        return JobError(
            f"a worker of the engine was lost: {lost[-1]}",
            "look at its log and at the memory of its machine, and start the job again when enough "
            "workers run",
        )
    if buffers:
        return JobError(
            f"a TaskManager of Flink has too few network buffers: {buffers[-1]}",
            "raise taskmanager.memory.network.min and .max in Flink's configuration, or give the "
            "job a lower --parallelism",
        )
    if any(_NO_SLOTS.search(text) for text in texts):
        return JobError(
            "Flink has too few free slots for the job",
            "lower --parallelism, start more TaskManagers, or raise taskmanager.numberOfTaskSlots",
        )
    return None


def _where(failures: Sequence[FlinkFailure], mark: str) -> str:
    """The TaskManagers whose failures have a mark in their texts, to begin a sentence with."""
    hosts = {failure.host for failure in failures if failure.host and mark in failure.text}
    return f"on {joined(sorted(hosts))}: " if hosts else ""


def _failures_on_flink(options: PipelineOptions) -> list[FlinkFailure]:
    """The failures that Flink's REST interface tells of the job, if it can be asked."""
    master = flink_master(options.view_as(FlinkRunnerOptions).flink_master)
    name = options.view_as(GoogleCloudOptions).job_name
    job = master.job(str(name)) if master is not None and name else None
    if master is None or job is None:
        return []
    return master.failures(job)


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
