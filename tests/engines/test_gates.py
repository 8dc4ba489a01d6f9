"""On real engines, a missed threshold ends the command with 4, after the result is written."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import EXAMPLE, typed

from deploy.local.cluster import Cluster


def test_a_missed_threshold(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "out"
    flags = [*cluster.flags(), "--segment_scores", "--format=json"]
    run = typed(*EXAMPLE, "--output", out, *flags, "--fail_under=birch=99", timeout=900)
    assert run.code == 4, run.err
    assert run.out == (out / "scores.json").read_bytes()
    assert {"_SUCCESS", "scores.json", "segment_scores"} <= {path.name for path in out.iterdir()}
    assert "beam-bleu: birch scores 37.9" in run.err
    found = json.loads((out / "run.json").read_bytes())
    assert (found["state"], found["exit_code"]) == ("done", 4)
