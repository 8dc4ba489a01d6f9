"""If an engine cannot be reached, an error names it before the job starts."""

from __future__ import annotations

import socket

import pytest
from command_line import EXAMPLE, called


def on(output, *flags: str):
    return called(*EXAMPLE, "--output", output, *flags)


def test_a_job_server_that_does_not_listen(tmp_path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # and does not listen
        endpoint = f"127.0.0.1:{silent.getsockname()[1]}"
        run = on(tmp_path, "--runner=FlinkRunner", f"--job_endpoint={endpoint}")
    run.assert_failed(1, f"no job server answers at --job_endpoint {endpoint}: ", "start it")


@pytest.mark.parametrize("endpoint", ["8099", "localhost", "localhost:", ":8099", "localhost:http"])
def test_an_invalid_endpoint(endpoint, tmp_path) -> None:
    run = on(tmp_path, "--runner=PortableRunner", f"--job_endpoint={endpoint}")
    run.assert_failed(2, f"--job_endpoint must be HOST:PORT, got {endpoint}")


def test_a_port_number_that_is_too_large(tmp_path) -> None:
    run = on(tmp_path, "--runner=PortableRunner", "--job_endpoint=localhost:99999")
    run.assert_failed(1, "no job server answers at --job_endpoint localhost:99999")


@pytest.mark.parametrize("host", ["a" * 70, "a..b", ".a"])
def test_a_host_that_cannot_be_encoded(host, tmp_path) -> None:
    run = on(tmp_path, "--runner=PortableRunner", f"--job_endpoint={host}:8099")
    run.assert_failed(2, f"--job_endpoint {host}:8099: {host} cannot be the name of a host: ")


def test_the_portable_runner_needs_a_job_endpoint(tmp_path) -> None:
    on(tmp_path, "--runner=PortableRunner").assert_failed(2, "PortableRunner needs --job_endpoint")


@pytest.mark.parametrize("runner", ["FlinkRunner", "spark"])
def test_a_job_server_in_java_needs_java(runner, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    on(tmp_path, f"--runner={runner}").assert_failed(2, "in Java, and there is no `java` here")
