"""On real engines, a missed threshold fails the job itself, after the result is written."""

from __future__ import annotations

import json
import time
from pathlib import Path

from command_line import EXAMPLE, typed

from deploy.local.cluster import Cluster
from deploy.local.flink import FlinkCluster


def test_a_missed_threshold(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "out"
    flags = [*cluster.flags(), "--segment_scores", "--format=json"]
    run = typed(*EXAMPLE, "--output", out, *flags, "--fail_under=birch=99", timeout=900)
    assert run.code == 4, run.err
    assert run.out == (out / "scores.json").read_bytes()
    assert {"_SUCCESS", "scores.json", "segment_scores"} <= {path.name for path in out.iterdir()}
    assert "beam-bleu: birch scores 37.90, below 99" in run.err
    found = json.loads((out / "run.json").read_bytes())
    assert (found["state"], found["exit_code"]) == ("done", 4)
    if isinstance(cluster, FlinkCluster):
        assert steps_that_failed(cluster) == ["Score and write", "Judge an earlier attempt"]


def steps_that_failed(flink: FlinkCluster) -> list[str]:
    """The steps whose errors ended the attempts of the newest job, the first attempt first.

    Flink starts the job again after each error. Only the first attempt may score.
    """
    job = flink.newest_job()
    deadline = time.monotonic() + 60
    while job is None or job["state"] != "FAILED":  # Flink tells a little later
        assert time.monotonic() < deadline, job
        time.sleep(0.5)
        job = flink.newest_job()
    entries = flink.ask(f"/jobs/{job['jid']}/exceptions")["exceptionHistory"]["entries"]
    assert len(entries) == flink.attempts + 1
    steps = ("Judge an earlier attempt", "Score and write")
    # The last entry tells that there is no further attempt, and has the error beside it.
    told = [json.dumps(entry) for entry in entries[::-1]]
    return list(dict.fromkeys(step for text in told for step in steps if step in text))


def test_a_threshold_that_is_reached(cluster: Cluster, tmp_path: Path) -> None:
    run = typed(*EXAMPLE, "--output", tmp_path / "out", *cluster.flags(), "--fail_under=1")
    assert run.code == 0, run.err
