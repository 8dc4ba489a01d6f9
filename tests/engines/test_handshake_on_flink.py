"""On a real Flink, workers that cannot do a job end it early, with the reason and the host."""

from __future__ import annotations

import json
import platform
from pathlib import Path

from command_line import EXAMPLE, Run, typed
from other_pool import TOLD, Pool

from deploy.local.flink import FlinkCluster
from deploy.local.hosts.installing import copy_sources


def scored(flags: list[str], output: Path) -> Run:
    """A run on Flink that fails, with only the lines of its error."""
    run = typed(*EXAMPLE, "--output", output, *flags, timeout=300)
    assert not (output / "scores.json").exists()
    lines = run.err.splitlines(keepends=True)
    error = [line for line in lines if not any(words in line for words in TOLD)]
    return Run(run.code, run.out, "".join(error))


def state_of_newest(flink: FlinkCluster) -> str:
    job = flink.newest_job()
    assert job is not None
    return str(job["state"])


def test_another_version_of_beam_bleu(pool: Pool, tmp_path: Path) -> None:
    copy = copy_sources(tmp_path / "copy")
    (copy / "transforms" / "version.py").write_text('VERSION = "0.0.0"\n')
    run = scored(pool(code=copy), tmp_path / "out")
    run.assert_failed(1, f"on {platform.node()}: beam-bleu is 0.0.0, but the launcher has ")


def test_workers_that_refuse_the_work(pool: Pool, flink: FlinkCluster, tmp_path: Path) -> None:
    """As those of another Python or another Beam do."""
    code = copy_sources(tmp_path / "copy")
    other = "import apache_beam.version as version; version.__version__ = '2.0.0'"
    (code / "sitecustomize.py").write_text(f"{other}\n")
    run = scored([*pool(code=code), "--worker_timeout=60"], tmp_path / "out")
    run.assert_failed(1, "no Python worker has answered for 60 s", "apache-beam and beam-bleu?")
    flink.processes.wait_until("the end of the job", lambda: state_of_newest(flink) == "CANCELED")


def test_doctor_asks_the_workers(pool: Pool, flink: FlinkCluster, tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    (output / "scores.json").mkdir()  # a file cannot take its place, but one beside it is possible
    doctor = ["doctor", "--format=json", *EXAMPLE, "--output", output]
    run = typed(*doctor, *flink.flags(), timeout=300)
    assert run.code == 0, run.err
    facts = json.loads(run.out)["facts"]
    assert {fact["section"] for fact in facts} == {platform.node()}
    assert {fact["status"] for fact in facts} == {"ok"}
    assert [path.name for path in output.iterdir()] == ["scores.json"]

    copy = copy_sources(tmp_path / "copy")
    changed = copy / "transforms" / "version.py"
    changed.write_text(changed.read_text() + "# changed\n")
    run = typed(*doctor, *pool(code=copy), timeout=300)
    assert run.code == 1
    facts = {fact["name"]: fact for fact in json.loads(run.out)["facts"]}
    assert facts["beam-bleu"]["status"] == "ok"
    assert facts["code"]["status"] == "FAIL"
