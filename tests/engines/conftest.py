"""Real engines, started once for all tests, and stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from deploy.local.__main__ import ENGINES, make_cluster
from deploy.local.cluster import Cluster
from deploy.local.flink import FlinkCluster
from deploy.local.parts import PartMissingError

REQUIRED = os.environ.get("BEAM_BLEU_REQUIRED_ENGINES", "").split()
"""Engines whose absence is a failure; that of the others is a skip that says why."""


def running(engine: str, factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The running cluster of an engine, if its parts can be had."""
    assert set(REQUIRED) <= set(ENGINES), REQUIRED
    try:
        cluster = make_cluster(engine, factory.mktemp(engine))
    except PartMissingError as missing:
        if engine in REQUIRED:
            raise
        pytest.skip(f"no {engine} here: {missing}")
    with cluster:
        yield cluster


@pytest.fixture(scope="session")
def flink(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkCluster]:
    for cluster in running("flink", tmp_path_factory):
        assert isinstance(cluster, FlinkCluster)
        yield cluster


@pytest.fixture(scope="session")
def prism(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from running("prism", tmp_path_factory)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from running("spark", tmp_path_factory)


@pytest.fixture(params=ENGINES)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Each of the engines."""
    running: Cluster = request.getfixturevalue(request.param)
    return running
