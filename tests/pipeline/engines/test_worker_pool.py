"""The pool of Python workers is asked before a job is sent, if it must be on this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from command_line import EXAMPLE, called
from fake_flink import fake_flink, task_managers
from result_folder import RECORDS

from beam_bleu.pipeline.engines.worker_pool import check_pool, pool_address
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


def test_a_dead_pool_is_named_if_all_task_managers_are_here(dead, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name)  # there is a Java
    pool = [EXTERNAL, f"--environment_config={dead}"]
    with fake_flink(task_managers("127.0.0.1", "localhost")) as master:
        engine = ["--runner=FlinkRunner", f"--flink_master={master}"]
        run = called(*EXAMPLE, "--output", tmp_path / "out", *engine, *pool)
    run.assert_failed(1, f"no pool of Python workers answers at {dead}: ", "start it")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == RECORDS


@pytest.mark.parametrize("hosts", [["127.0.0.1", "192.0.2.7"], ["192.0.2.7"], []])
def test_a_pool_on_another_machine_is_not_asked(hosts, dead, caplog) -> None:
    with fake_flink(task_managers(*hosts)) as master:
        flags = [f"--environment_config={dead}", f"--flink_master={master}"]
        check_pool("FlinkRunner", options(*flags))
        if hosts:  # then it is sure
            check_pool("FlinkRunner", options(*flags, "--job_endpoint=localhost:8099"))
    assert not caplog.records


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
    runner, flags, dead, alive
) -> None:
    with pytest.raises(JobError, match="no pool of Python workers answers"):
        check_pool(runner, options(f"--environment_config={dead}", *flags))
    check_pool(runner, options(f"--environment_config={alive}", *flags))


def test_with_a_local_job_server_there_is_only_a_warning(dead, caplog) -> None:
    """A job server of this machine can send jobs to an engine on other machines."""
    flags = [f"--environment_config={dead}", "--job_endpoint=127.0.0.1:8099"]
    check_pool("FlinkRunner", options(*flags))
    check_pool("FlinkRunner", options(*flags, "--flink_master=http://127.0.0.1:1"))
    record, again = caplog.records
    assert again.getMessage() == record.getMessage()
    assert f"no pool of Python workers answers at {dead} on this machine" in record.getMessage()
