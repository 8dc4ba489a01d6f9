"""The engines and the other services that can run on this machine."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable

from deploy.local import parts
from deploy.local.cluster import THIS_PYTHON, Cluster, Service, Setup, Workers
from deploy.local.flink import FlinkCluster
from deploy.local.object_stores import AzureServer, GoogleServer, ObjectStore, S3Server
from deploy.local.places import here
from deploy.local.prism import PrismCluster
from deploy.local.spark import SparkCluster


def _flink(setup: Setup) -> FlinkCluster:
    server = parts.flink_job_server()
    return FlinkCluster(setup, parts.flink(server.engine), server)


def _spark(setup: Setup) -> SparkCluster:
    server = parts.spark_job_server()
    return SparkCluster(setup, parts.spark(server.engine), server)


ENGINES: dict[str, Callable[[Setup], Cluster]] = {
    "flink": _flink,
    "prism": lambda setup: PrismCluster(setup, parts.prism()),
    "spark": _spark,
}
"""By name, what makes an engine that is not started. It downloads the parts that are missing."""


def cluster_here(
    engine: str, folder: pathlib.Path, workers: Workers = THIS_PYTHON, count: int = 2
) -> Cluster:
    """An engine on loopback, not started."""
    return ENGINES[engine](Setup(folder, here(folder, count), workers))


OBJECT_STORES: dict[str, Callable[[pathlib.Path], ObjectStore]] = {
    "s3": lambda folder: S3Server(folder, parts.versitygw()),
    "gcs": GoogleServer,
    "azure": lambda folder: AzureServer(folder, *parts.azurite()),
}
"""By name, what makes a server that is not started. It fetches programs that are missing."""

SERVICES: dict[str, Callable[[pathlib.Path], Service]] = {
    **{name: functools.partial(cluster_here, name) for name in ENGINES},
    **OBJECT_STORES,
}
"""What `./run.sh cluster` can start."""
