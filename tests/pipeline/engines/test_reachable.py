"""If an engine cannot be reached, an error names it before the job starts."""

from __future__ import annotations

import contextlib
import json
import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from apache_beam.runners.portability.local_job_service import LocalJobServicer
from command_line import EXAMPLE, called
from fake_flink import fake_flink
from result_folder import RECORDS

from beam_bleu.pipeline.engines import runners


def on(output, *flags: str):
    return called(*EXAMPLE, "--output", output, *flags)


@contextlib.contextmanager
def silent() -> Iterator[int]:
    """A port that accepts connections and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


@contextlib.contextmanager
def web_server() -> Iterator[int]:
    """A port that speaks HTTP, as Flink's REST port does."""
    with fake_flink({}) as url:
        yield int(url.rpartition(":")[2])


@pytest.fixture
def beams_own() -> Iterator[tuple[LocalJobServicer, str]]:
    """A real job server of Beam in this process, and its address."""
    servicer = LocalJobServicer()
    yield servicer, f"localhost:{servicer.start_grpc_server()}"
    servicer.stop()


@pytest.mark.parametrize("other", [web_server, silent])
def test_another_server_than_a_job_server(other, tmp_path, monkeypatch, capfd) -> None:
    if other is silent:  # the other ones answer, but perhaps slowly
        monkeypatch.setattr(runners, "_PATIENCE", 1)
    with other() as port:
        run = on(tmp_path, "--runner=FlinkRunner", f"--job_endpoint=127.0.0.1:{port}")
    what = f"no job server of Beam answers at --job_endpoint 127.0.0.1:{port}: "
    run.assert_failed(1, what, "--flink_master")
    assert sorted(path.name for path in tmp_path.iterdir()) == RECORDS
    assert "Traceback" not in capfd.readouterr().err


HERE = "--environment_type=beam:env:embedded_python:v1"
"""The Python workers are in the process of the job server."""


def options_of(job: Any) -> dict[str, Any]:
    return {key: value.string_value for key, value in job._pipeline_options.fields.items()}


def test_a_job_on_a_real_job_server(beams_own, tmp_path_factory, tmp_path, monkeypatch) -> None:
    servicer, endpoint = beams_own
    temporary, at_exit = tmp_path_factory.mktemp("temporary"), contextlib.ExitStack()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr("atexit.register", at_exit.callback)
    run = on(
        tmp_path, "--runner=PortableRunner", f"--job_endpoint={endpoint}", HERE, "--format=json"
    )
    assert list(temporary.iterdir())
    at_exit.close()
    assert not list(temporary.iterdir())
    assert run.out == called(*EXAMPLE, "--format=json").out
    assert run.out == (tmp_path / "scores.json").read_bytes()

    (job,) = servicer._jobs.values()
    name = options_of(job)["beam:option:job_name:v1"]
    assert re.fullmatch(r"beam-bleu-20\d{6}-\d{6}-[0-9a-f]{4}", name)
    # The expression with which Airflow's hook for Beam reads the log.
    ids = re.findall(r"Created job with id: \[([^\"\n\s]*)\]", run.err)
    assert ids == [job._job_id]
    assert run.err == f"beam-bleu: Created job with id: [{ids[0]}]\n"
    record = json.loads((tmp_path / "run.json").read_text())
    assert (record["job_id"], record["runner"]) == (ids[0], "PortableRunner")


def test_a_job_server_in_java_needs_java(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    on(tmp_path, "--runner=spark").assert_failed(2, "in Java, but `java` is not installed")


def test_a_flink_that_does_not_answer(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name)  # there is a Java
    with silent() as port:
        monkeypatch.setattr("beam_bleu.pipeline.engines.sent_jobs._SECONDS", 0.5)
        run = on(tmp_path, "--runner=FlinkRunner", f"--flink_master=127.0.0.1:{port}")
    run.assert_failed(1, "no Flink answers at --flink_master http://127.0.0.1:", "REST port")


def test_a_pool_of_workers_needs_an_address(tmp_path) -> None:
    run = on(tmp_path, "--runner=PrismRunner", "--environment_type=EXTERNAL")
    run.assert_failed(2, "needs the address of the pool")
