"""Failures of engines: what their messages mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import grpc
from apache_beam.options.pipeline_options import PipelineOptions, PortableOptions

from beam_bleu.pipeline.engines.worker_pool import pool_address, pool_that_may_be_missing
from beam_bleu.pipeline.errors.error_marks import find_error
from beam_bleu.transforms.errors import BleuError, JobError, causes

_CALL_OF_POOL = "BeamFnExternalWorkerPoolGrpc"
"""In Java's traceback: the engine could not call the pool."""

_START_OF_WORKER = "ExternalEnvironmentFactory.createEnvironment"
"""In Java's traceback: the engine asked the pool for a worker."""

_ASKS_FLINK = "org.apache.flink.runtime.rest.RestClient"
"""In Java's traceback: the job server asked Flink's JobManager."""

_JAVA_CLASSES = re.compile(r"^(?:(?:\w+\.)+[\w$]+: )+")
"""The types of exceptions before the message of a Java exception."""


def engine_failure(error: BaseException, result: Any, options: PipelineOptions) -> JobError | None:
    """The error of a job on an engine with its cause by name; None if it is not known.

    Args:
      error: the exception of Beam.
      result: Beam's result of sending the job; None if the job was not sent.
      options: Beam's options.
    """
    if any(isinstance(each, BleuError) or find_error(str(each)) for each in causes(error)):
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
            "look at the engine's console: the job may still run there"
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
