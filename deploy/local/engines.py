"""The engines and the other services that can run on this machine, and functions that make them."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Literal

from deploy.local import parts
from deploy.local.cluster import THIS_PYTHON, Cluster, Service, Workers
from deploy.local.flink import FlinkCluster
from deploy.local.object_stores import AzureServer, GoogleServer, ObjectStore, S3Server
from deploy.local.places import here
from deploy.local.prism import PrismCluster
from deploy.local.spark import SparkCluster


def flink_cluster(
    folder: pathlib.Path, workers: Workers = THIS_PYTHON, task_managers: int = 2
) -> FlinkCluster:
    """A Flink cluster, see `make_cluster`."""
    server = parts.flink_job_server()
    places = here(folder, task_managers)
    return FlinkCluster(folder, parts.flink(server.engine), server, places, workers)


def prism_cluster(folder: pathlib.Path, workers: Workers = THIS_PYTHON) -> PrismCluster:
    """A Prism, see `make_cluster`."""
    return PrismCluster(folder, parts.prism(), workers=workers)


def spark_cluster(folder: pathlib.Path, workers: Workers = THIS_PYTHON) -> SparkCluster:
    """A Spark cluster, see `make_cluster`."""
    server = parts.spark_job_server()
    return SparkCluster(folder, parts.spark(server.engine), server, workers=workers)


Engine = Literal["flink", "prism", "spark"]

ENGINES: dict[Engine, Callable[..., Cluster]] = {
    "flink": flink_cluster,
    "prism": prism_cluster,
    "spark": spark_cluster,
}


def s3_server(folder: pathlib.Path) -> S3Server:
    """A server that speaks S3's protocol, not started. Fetches its program if it is missing."""
    return S3Server(folder, parts.versitygw())


def azure_server(folder: pathlib.Path) -> AzureServer:
    """An emulator of Azure Blob Storage, not started. Fetches its program if it is missing."""
    return AzureServer(folder, *parts.azurite())


OBJECT_STORES: dict[str, Callable[[pathlib.Path], ObjectStore]] = {
    "s3": s3_server,
    "gcs": GoogleServer,
    "azure": azure_server,
}

SERVICES: dict[str, Callable[..., Service]] = {
    **{name: ENGINES[name] for name in ENGINES},
    **OBJECT_STORES,
}
"""What `./run.sh cluster` can start."""


def make_cluster(engine: Engine, folder: pathlib.Path, workers: Workers = THIS_PYTHON) -> Cluster:
    """The cluster of an engine, not started. Downloads the parts that are missing.

    Args:
      engine: its name.
      folder: the folder for its configuration, its work and its logs.
      workers: the programs of its Python workers.

    Raises:
      PartMissingError: a part cannot be obtained here.
    """
    return ENGINES[engine](folder, workers)
