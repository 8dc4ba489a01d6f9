"""The pool of Python workers of an engine: where it is, and whether it answers.

With --environment_type EXTERNAL, each machine of an engine asks a pool to start its Python
workers. The address is the same on all machines, so it is usually localhost and a port. Only if
the engine is on this machine can the launcher know whether the pool answers.
"""

from __future__ import annotations

import json

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    PipelineOptions,
    PortableOptions,
    SparkRunnerOptions,
)
from apache_beam.portability import common_urns
from apache_beam.transforms.environments import looks_like_json

from beam_bleu.pipeline.engines.address import PATIENCE, Address, parse_address
from beam_bleu.pipeline.engines.flink_master import flink_master
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.transforms.errors import JobError, UsageError

_TYPES = ("EXTERNAL", common_urns.environments.EXTERNAL.urn)
"""The values of --environment_type that mean a pool."""


_STARTED_HERE = ("FlinkRunner", "PrismRunner")
"""The runners that start an engine on this machine if no address of an engine is given."""

_GIVE_ADDRESS = "give it with --environment_config HOST:PORT"


def pool_address(options: PipelineOptions) -> str | None:
    """The address of the pool; None if the workers come from elsewhere.

    Raises:
      UsageError: the flags do not give the address.
    """
    portable = options.view_as(PortableOptions)
    if portable.environment_type not in _TYPES:
        return None
    config = portable.environment_config
    url = config
    if config and looks_like_json(config):
        try:
            url = json.loads(config).get("url")
        except ValueError as error:
            raise UsageError(
                f"--environment_config is not valid JSON: {error}", _GIVE_ADDRESS
            ) from error
    elif not config:
        url = portable.lookup_environment_option("external_service_address")
    if not isinstance(url, str) or not url:
        raise UsageError(
            "--environment_type EXTERNAL needs the address of the pool of Python workers",
            _GIVE_ADDRESS,
        )
    return url


def check_pool(runner: str, options: PipelineOptions) -> None:
    """Checks that the pool answers, if it must be on this machine.

    If it may also be on another machine, there is only a warning.

    Raises:
      UsageError: the flags do not give the address.
      JobError: no pool answers.
    """
    pool = _pool_on_loopback(options)
    if pool is None:
        return
    is_here = _engine_is_here(runner.rpartition(".")[2], options)
    if is_here is False or (is_here is None and not _job_server_is_here(options)):
        return
    error = _error_of(pool)
    if error is None:
        return
    message = f"no pool of Python workers answers at {pool}"
    if is_here:
        raise JobError(f"{message}: {error}", "start it: see docs/engines.md") from error
    warn(f"{message} on this machine; the job fails if the engine runs here")


def pool_that_may_be_missing(options: PipelineOptions) -> Address | None:
    """The address of a pool that does not answer here, if the engine may be on this machine."""
    pool = _pool_on_loopback(options)
    if pool is None or not _job_server_is_here(options):
        return None
    return pool if _error_of(pool) is not None else None


def _pool_on_loopback(options: PipelineOptions) -> Address | None:
    url = pool_address(options)
    address = parse_address(url) if url else None
    return address if address is not None and address.is_loopback else None


def _error_of(pool: Address) -> Exception | None:
    """Why a pool does not answer; None if it answers."""
    try:
        pool.connect(PATIENCE)
    except (OSError, OverflowError) as error:
        return error
    return None


def _engine_is_here(runner: str, options: PipelineOptions) -> bool | None:
    """Whether the engine starts its Python workers on this machine; None if it is not sure."""
    if runner == "FlinkRunner":
        master = flink_master(options.view_as(FlinkRunnerOptions).flink_master)
        if master is not None:
            return master.task_managers_are_here()
    if options.view_as(PortableOptions).job_endpoint:
        return None  # a port of this machine can be forwarded to another one
    if runner == "SparkRunner":
        is_local = str(options.view_as(SparkRunnerOptions).spark_master_url).startswith("local")
        return True if is_local else None
    return True if runner in _STARTED_HERE else None


def _job_server_is_here(options: PipelineOptions) -> bool:
    address = parse_address(options.view_as(PortableOptions).job_endpoint or "")
    return address is not None and address.is_loopback
