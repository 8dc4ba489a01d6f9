"""The pool of Python workers of an engine: where it is, and whether it answers.

With --environment_type EXTERNAL, each machine of an engine asks a pool to start its Python
workers. The address is the same on all machines, so it is usually localhost and a port. Only if
the launcher starts the engine itself can it know whether the pool answers.
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

from beam_bleu.pipeline.engines.address import PATIENCE, parse_address
from beam_bleu.pipeline.engines.flink_master import flink_master
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.transforms.errors import JobError, UsageError

_TYPES = ("EXTERNAL", common_urns.environments.EXTERNAL.urn)
"""The values of --environment_type that mean a pool."""


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
    """Checks that the pool answers, if it is to be on this machine.

    There is only a warning if a job server of this machine may belong to an engine elsewhere.

    Raises:
      UsageError: the flags do not give the address.
      JobError: no pool answers.
    """
    url = pool_address(options)
    pool = parse_address(url) if url else None
    if pool is None or not pool.is_loopback:
        return
    endpoint = parse_address(options.view_as(PortableOptions).job_endpoint or "")
    is_here = _starts_engine(runner.rpartition(".")[2], options)
    if not is_here and (endpoint is None or not endpoint.is_loopback):
        return
    message = f"no pool of Python workers answers at {pool}"
    try:
        pool.connect(PATIENCE)
    except (OSError, OverflowError) as error:
        if is_here:
            raise JobError(f"{message}: {error}", "start it: see docs/engines.md") from error
        warn(f"{message} on this machine; the job fails if the engine runs here")


def _starts_engine(runner: str, options: PipelineOptions) -> bool:
    """Whether the runner starts an engine on this machine, because no address of one is given."""
    if options.view_as(PortableOptions).job_endpoint:
        return False
    if runner == "FlinkRunner":
        return flink_master(options.view_as(FlinkRunnerOptions).flink_master) is None
    if runner == "SparkRunner":
        return str(options.view_as(SparkRunnerOptions).spark_master_url).startswith("local")
    return runner == "PrismRunner"
