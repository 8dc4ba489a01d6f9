"""The pool of Python workers is asked before a job is sent, if it must be on this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from beam_bleu.pipeline.engines.reachable import check_reachable, pool_address
from beam_bleu.transforms.errors import JobError, UsageError

EXTERNAL = "--environment_type=EXTERNAL"


@pytest.fixture
def dead() -> Iterator[str]:
    """The address of a pool that does not run."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        yield f"localhost:{deaf.getsockname()[1]}"


@pytest.fixture
def alive() -> Iterator[str]:
    with socket.socket() as pool:
        pool.bind(("127.0.0.1", 0))
        pool.listen()
        yield f"127.0.0.1:{pool.getsockname()[1]}"


def options(*flags: str) -> PipelineOptions:
    return PipelineOptions([EXTERNAL, *flags])


@pytest.mark.parametrize(
    "flags",
    [
        [EXTERNAL, "--environment_config=pool:50000"],
        [EXTERNAL, '--environment_config={"url": "pool:50000", "params": {"a": "b"}}'],
        [EXTERNAL, "--environment_option=external_service_address=pool:50000"],
        ["--environment_type=beam:env:external:v1", "--environment_config=pool:50000"],
    ],
)
def test_each_way_to_give_the_address_is_understood(flags) -> None:
    assert pool_address(PipelineOptions(flags)) == "pool:50000"


@pytest.mark.parametrize(
    ("config", "what"),
    [
        (None, "needs the address of the pool"),
        ("{}", "needs the address of the pool"),
        ('{"url": 5}', "needs the address of the pool"),
        ('{"url": }', "--environment_config is not valid JSON: "),
    ],
)
def test_a_missing_address_is_a_usage_error(config, what, tmp_path) -> None:
    flags = [] if config is None else [f"--environment_config={config}"]
    with pytest.raises(UsageError, match=what):
        pool_address(options(*flags))


@pytest.mark.parametrize(
    ("runner", "flags"),
    [
        ("FlinkRunner", ["--flink_master=[local]"]),
        ("FlinkRunner", []),
        ("SparkRunner", ["--spark_master_url=local[*]"]),
        ("PrismRunner", []),
    ],
)
def test_an_engine_that_the_launcher_starts_uses_a_pool_of_this_machine(
    runner, flags, dead, alive, monkeypatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name)  # there is a Java
    with pytest.raises(JobError, match="no pool of Python workers answers"):
        check_reachable(runner, options(f"--environment_config={dead}", *flags))
    check_reachable(runner, options(f"--environment_config={alive}", *flags))


def test_the_pool_of_an_engine_elsewhere_is_not_asked(dead, monkeypatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name)
    flags = [f"--environment_config={dead}", "--spark_master_url=spark://w1:7077"]
    check_reachable("SparkRunner", options(*flags))
