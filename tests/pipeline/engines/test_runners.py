"""Engines that cannot be reached are named, and how Flink and this process run a job."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.pipeline import PipelineVisitor
from apache_beam.runners.portability.local_job_service import LocalJobServicer
from command_line import EXAMPLE, EXAMPLES, called, streams, write_lines
from result_folder import RECORDS
from test_watched_job import fake_flink

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.engines import runners
from beam_bleu.pipeline.engines.runners import InProcessRunner
from beam_bleu.pipeline.graph import build
from beam_bleu.transforms.statistics.batch_steps import CountMatches


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


@pytest.mark.parametrize("other", [web_server, silent])
def test_another_server_than_a_job_server(other, tmp_path, monkeypatch, capfd) -> None:
    if other is silent:  # the other one answers, but perhaps slowly
        monkeypatch.setattr(runners, "_PATIENCE", 0.5)
    with other() as port:
        run = on(tmp_path, "--runner=FlinkRunner", f"--job_endpoint=127.0.0.1:{port}")
    what = f"no job server of Beam answers at --job_endpoint 127.0.0.1:{port}: "
    run.assert_failed(1, what, "--flink_master")
    assert sorted(path.name for path in tmp_path.iterdir()) == RECORDS
    assert "Traceback" not in capfd.readouterr().err


def test_a_job_on_a_real_job_server(tmp_path_factory, tmp_path, monkeypatch) -> None:
    servicer = LocalJobServicer()
    endpoint = f"localhost:{servicer.start_grpc_server()}"
    # The Python workers are in the process of the job server.
    here = "--environment_type=beam:env:embedded_python:v1"
    temporary, at_exit = tmp_path_factory.mktemp("temporary"), contextlib.ExitStack()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr("atexit.register", at_exit.callback)
    run = on(
        tmp_path, "--runner=PortableRunner", f"--job_endpoint={endpoint}", here, "--format=json"
    )
    assert list(temporary.iterdir())
    at_exit.close()
    assert not list(temporary.iterdir())
    assert run.out == called(*EXAMPLE, "--format=json").out
    assert run.out == (tmp_path / "scores.json").read_bytes()

    servicer.stop()
    (job,) = servicer._jobs.values()
    name = job._pipeline_options.fields["beam:option:job_name:v1"].string_value
    assert re.fullmatch(r"beam-bleu-20\d{6}-\d{6}-[0-9a-f]{4}", name)
    # The expression with which Airflow's hook for Beam reads the log.
    ids = re.findall(r"Created job with id: \[([^\"\n\s]*)\]", run.err)
    assert ids == [job._job_id]
    assert run.err == f"beam-bleu: Created job with id: [{ids[0]}]\n"
    record = json.loads((tmp_path / "run.json").read_text())
    assert (record["job_id"], record["runner"]) == (ids[0], "PortableRunner")


def test_what_an_engine_needs(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    on(tmp_path, "--runner=spark").assert_failed(2, "in Java, but `java` is not installed")
    run = on(tmp_path, "--runner=PrismRunner", "--environment_type=EXTERNAL")
    run.assert_failed(2, "needs the address of the pool")


def test_a_flink_that_does_not_answer(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name)  # there is a Java
    with silent() as port:
        monkeypatch.setattr("beam_bleu.pipeline.engines.sent_jobs._SECONDS", 0.5)
        run = on(tmp_path, "--runner=FlinkRunner", f"--flink_master=127.0.0.1:{port}")
    run.assert_failed(1, "no Flink answers at --flink_master http://127.0.0.1:", "REST port")


JOIN = [EXAMPLES / "records/references.jsonl", "--join_on=id"]
JOIN += ["-i", EXAMPLES / "records/outputs/atlas.jsonl"]


def test_flink_runs_all_steps_until_the_end_unless_the_user_names_a_mode():
    flink = "apache_beam.runners.portability.flink_runner.FlinkRunner"
    for words, modes in (
        (["--runner", flink], ["PIPELINED_FORCED"]),
        (["--runner", "spark"], []),
        (["--runner", "flink", "--", "--execution-mode-for-batch=BATCH"], ["BATCH"]),
    ):
        flags = parse(["r", "-i", "h", "--output", "/o", *words]).beam._flags
        found = [flag for flag in flags if "mode" in flag]
        assert [flag.partition("=")[2] for flag in found] == modes


@pytest.mark.parametrize("source", [EXAMPLE, JOIN], ids=["lines", "join"])
def test_no_step_waits_for_a_side_input(source: list[Any], tmp_path: Any) -> None:
    """With one, Flink's mode could make a job wait for itself."""
    more = ["--segment_scores", "--examples=3", "--save_totals", "--resample=bootstrap"]
    arguments = parse([*map(str, source), f"--output={tmp_path}", *more])
    pipeline = beam.Pipeline("FnApiRunner")
    build(pipeline, arguments.job)
    waiting = []

    class Steps(PipelineVisitor):
        def visit_transform(self, node: Any) -> None:
            if node.side_inputs:
                waiting.append(node.full_label)

    pipeline.visit(Steps())
    assert not waiting


def test_work_is_spread_among_several_workers_only() -> None:
    for workers in (1, 2):
        options = PipelineOptions(direct_num_workers=workers)
        begun = beam.Pipeline(InProcessRunner(), options) | beam.Create([1], reshuffle=False)
        assert (begun | beam.Reshuffle() is begun) == (workers == 1)


_LISTEN = "0A"  # the kernel's number of the state


def listening_ports() -> list[str]:
    """The addresses on which this process listens."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        path = Path("/proc/self/fd", name)
        found.append(os.readlink(path) if path.is_symlink() else "")
    own = {*re.findall(r"socket:\[(\d+)\]", "\n".join(found))}
    tables = (Path("/proc/self/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6"))
    rows = [row.split() for table in tables for row in table]
    return [address for _, address, _, state, *rest in rows if state == _LISTEN and rest[5] in own]


def test_a_default_run_listens_on_no_port(tmp_path, monkeypatch):
    files = [write_lines(tmp_path / name, ["a b c d e"] * 2000) for name in ("a", "b", "r")]
    work, before, seen = CountMatches.work, listening_ports(), []

    def watched(self, batch):
        seen.append(listening_ports())
        return work(self, batch)

    monkeypatch.setattr(CountMatches, "work", watched)
    arguments = streams(files[:2], files[2:], "--output", tmp_path / "out", "--range_bytes=5000")
    assert called(*arguments).code == 0
    assert len(seen) >= 4
    assert seen == [before] * len(seen)
