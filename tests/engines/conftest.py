"""Real engines, started once for the tests of this folder, and stopped."""

from __future__ import annotations

import os
import sys

import pytest
from command_line import PROJECT
from engine_parts import need

from deploy.local.engines import ENGINES, OBJECT_STORES, cluster_here
from deploy.local.flink import FlinkCluster
from deploy.local.places import Place
from deploy.local.processes import HOST, Processes, free_port

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java's options for short jobs: its second compiler and parallel garbage collector cost more
than they save."""


def running(engine, factory):
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
def flink(tmp_path_factory):
    yield from running("flink", tmp_path_factory)


@pytest.fixture(scope="package")
def prism(tmp_path_factory):
    yield from running("prism", tmp_path_factory)


@pytest.fixture(scope="package")
def spark(tmp_path_factory):
    yield from running("spark", tmp_path_factory)


@pytest.fixture(params=ENGINES)
def cluster(request):
    """Each of the engines."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def pool(flink, tmp_path):
    """Starts a pool of workers beside that of Flink; returns the flags of a job that uses it.

    Its arguments are the folder of its beam-bleu, and variables that this process does not have.
    """
    processes = Processes(tmp_path / "pool")

    def start(*, code=PROJECT, environment=None):
        port, place = free_port(), Place(tmp_path)
        program = PROJECT / "deploy" / "local" / "worker_pool.py"
        variables = {**os.environ, **(environment or {}), "PYTHONPATH": str(code)}
        # Not in the project's folder, because Python also finds modules where it runs.
        command = [sys.executable, program, f"--port={port}"]
        processes.start("workers", command, variables, cwd=tmp_path)
        processes.wait_until("the pool of workers", lambda: place.listening(port))
        flags = [flag for flag in flink.flags() if not flag.startswith("--environment_config=")]
        return [*flags, f"--environment_config={HOST}:{port}"]

    yield start
    processes.stop()


@pytest.fixture(scope="package", params=OBJECT_STORES)
def store(request, tmp_path_factory):
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
