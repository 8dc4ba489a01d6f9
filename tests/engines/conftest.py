"""Real engines, started once for the tests of this folder, and stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_parts import need
from other_pool import Pool

from deploy.local.cluster import Cluster
from deploy.local.engines import ENGINES, OBJECT_STORES, cluster_here
from deploy.local.flink import FlinkCluster
from deploy.local.object_stores import ObjectStore
from deploy.local.processes import Processes

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java's options for short jobs: its second compiler and parallel garbage collector cost more
than they save."""


def running(engine: str, factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The running cluster of an engine, if its parts are available."""
    need(engine)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_TOOL_OPTIONS", JAVA)
        cluster = cluster_here(engine, factory.mktemp(engine))
        if isinstance(cluster, FlinkCluster):
            cluster.attempts = 2  # enough after a fault; a job with bad input fails each time
        with cluster:
            yield cluster


@pytest.fixture(scope="package")
def flink(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    for cluster in running("flink", tmp_path_factory):
        assert isinstance(cluster, FlinkCluster)
        yield cluster


@pytest.fixture
def pool(flink: FlinkCluster, tmp_path: Path) -> Iterator[Pool]:
    """Starts another pool of workers for Flink."""
    processes = Processes(tmp_path / "pool")
    yield Pool(flink, processes)
    processes.stop()


@pytest.fixture(scope="package")
def prism(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from running("prism", tmp_path_factory)


@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from running("spark", tmp_path_factory)


@pytest.fixture(params=ENGINES)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Each of the engines."""
    running: Cluster = request.getfixturevalue(request.param)
    return running


@pytest.fixture(scope="package", params=OBJECT_STORES)
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ObjectStore]:
    """Each of the object stores."""
    need(request.param)
    with (
        OBJECT_STORES[request.param](tmp_path_factory.mktemp(request.param)) as store,
        pytest.MonkeyPatch.context() as environment,
    ):
        if not store.flags():  # Beam has none for Google's
            for name, value in store.environment().items():
                environment.setenv(name, value)
        yield store
