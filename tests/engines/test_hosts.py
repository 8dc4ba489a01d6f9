"""On hosts that share nothing, a run gives the same bytes as in-process."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import REFERENCES, SYSTEMS, Argument, called, read_lines, streams, write_lines
from conftest import JAVA
from engine_parts import need
from pyarrow import parquet

from deploy.local.flink import FlinkCluster
from deploy.local.hosts import commands
from deploy.local.hosts.cluster import ClusterOnHosts, on_hosts

LINES = 3000


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterOnHosts]:
    """Flink on three hosts: a head and two workers."""
    need("hosts")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_TOOL_OPTIONS", JAVA)
        cluster = on_hosts("flink", tmp_path_factory.mktemp("hosts"), 3)
        assert isinstance(cluster.engine, FlinkCluster)
        cluster.engine.attempts = 2  # enough after a fault
        with cluster:
            yield cluster


def state(hosts: ClusterOnHosts) -> dict[str, Any]:
    return {"command": hosts.command(), "flags": hosts.flags()}


def arguments(folder: Argument) -> list[Argument]:
    systems = [f"first={folder}/first.txt", f"second={folder}/second/part-*"]
    # Small ranges, so that both worker hosts have work.
    flags = ["--cuts=any", "--range_bytes=50000", "--segment_scores", "--report"]
    return streams(systems, [f"{folder}/references.txt"], *flags)


def rows(folder: Path) -> list[dict[str, Any]]:
    table = parquet.read_table(folder / "segment_scores").to_pylist()
    return sorted(table, key=lambda row: (row["index"], row["system"]))


@pytest.mark.engines
def test_texts_segment_scores_and_a_report(hosts: ClusterOnHosts, tmp_path: Path) -> None:
    draw, corpus = random.Random(27), tmp_path / "corpus"
    examples = [read_lines(path) for path in (SYSTEMS["atlas"], SYSTEMS["birch"], REFERENCES[0])]
    places = [draw.randrange(len(examples[0])) for _ in range(LINES)]
    first, second, reference = (
        [f"{lines[place]} {number}" for number, place in enumerate(places)] for lines in examples
    )
    write_lines(corpus / "first.txt", first)
    write_lines(corpus / "second" / "part-0.txt", second[:1000])
    write_lines(corpus / "second" / "part-1.txt", second[1000:])
    write_lines(corpus / "references.txt", reference)
    commands.put(state(hosts), corpus, "s3://beam-bleu/corpus")
    here, there = tmp_path / "here", tmp_path / "there"
    expected = called(*arguments(corpus), "--output", here)
    assert expected.code == 0, expected.err
    command = [*hosts.command("beam-bleu"), *arguments("s3://beam-bleu/corpus"), *hosts.flags()]
    command += ["--output=s3://beam-bleu/texts", "--progress=off"]
    done = subprocess.run([*map(str, command)], capture_output=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, expected.out), done.stderr
    commands.get(state(hosts), "s3://beam-bleu/texts/", there)
    assert (there / "scores.json").read_bytes() == (here / "scores.json").read_bytes()
    assert rows(there) == rows(here)
    assert len(rows(there)) == 2 * LINES
    assert "first" in (there / "report.html").read_text()
