"""On hosts that share nothing, a run gives the same bytes as in-process."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import PROJECT, REFERENCES, SYSTEMS, Argument, Run, called, read_lines, streams
from conftest import JAVA
from engine_parts import need
from pyarrow import parquet

from deploy.local.flink import FlinkCluster
from deploy.local.hosts import commands
from deploy.local.hosts.cluster import ClusterOnHosts, on_hosts
from deploy.local.processes import ClusterError

LINES = 3000
SMALL_RANGES = "--range_bytes=50000"
"""So that both worker hosts have work."""


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


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder: two systems, one of them in shards, a reference, and the same as records."""
    draw = random.Random(27)
    examples = [read_lines(path) for path in (SYSTEMS["atlas"], SYSTEMS["birch"], REFERENCES[0])]
    rows = [draw.randrange(len(examples[0])) for _ in range(LINES)]
    first, second, reference = (
        [f"{lines[row]} {number}" for number, row in enumerate(rows)] for lines in examples
    )
    folder = tmp_path_factory.mktemp("corpus")

    def write(name: str, lines: list[str]) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines))

    write("first.txt", first)
    write("second/part-0.txt", second[:1000])
    write("second/part-1.txt", second[1000:])
    write("references.txt", reference)
    segments = [
        {"id": f"s{number}", "first": a, "second": b, "ref": r}
        for number, (a, b, r) in enumerate(zip(first, second, reference, strict=True))
    ]
    write("records.jsonl", [json.dumps(each) for each in segments])
    for name in ("first", "second", "ref"):
        draw.shuffle(segments)
        rows_of_file = [{"id": each["id"], "text": each[name]} for each in segments]
        write(f"joined/{name}.jsonl", [json.dumps(row) for row in rows_of_file])
    return folder


@pytest.fixture(scope="module")
def stored(hosts: ClusterOnHosts, corpus: Path) -> str:
    """The same folder in the object store of the hosts."""
    url = "s3://beam-bleu/corpus"
    commands.put(state(hosts), corpus, url)
    return url


def state(hosts: ClusterOnHosts) -> dict[str, Any]:
    return {"command": hosts.command(), "flags": hosts.flags()}


def run_on(hosts: ClusterOnHosts, *arguments: Argument) -> Run:
    """Runs the command on the head, with the engine's flags."""
    command = [*hosts.command("beam-bleu"), *map(str, arguments), *hosts.flags()]
    done = subprocess.run([*command, "--progress=off"], capture_output=True, timeout=300)
    return Run(done.returncode, done.stdout, done.stderr.decode())


def texts(folder: Argument) -> list[Argument]:
    systems = [f"first={folder}/first.txt", f"second={folder}/second/part-*"]
    return streams(systems, [f"{folder}/references.txt"], "--cuts=any", SMALL_RANGES)


def records(folder: Argument) -> list[Argument]:
    columns = ["--candidate_columns=first,second", "--reference_columns=ref"]
    return ["--input", f"{folder}/records.jsonl", *columns, SMALL_RANGES]


def joined(folder: Argument) -> list[Argument]:
    candidates = [f"{name}={folder}/joined/{name}.jsonl" for name in ("first", "second")]
    columns = ["--join_on=id", "--candidate_columns=text", "--reference_columns=text"]
    return streams(candidates, [f"{folder}/joined/ref.jsonl"], *columns)


def rows(folder: Path) -> list[dict[str, Any]]:
    table = parquet.read_table(folder / "segment_scores").to_pylist()
    return sorted(table, key=lambda row: (row["index"], row["system"]))


@pytest.mark.engines
def test_texts_segment_scores_and_a_report(
    hosts: ClusterOnHosts, corpus: Path, stored: str, tmp_path: Path
) -> None:
    flags = ["--segment_scores", "--report"]
    expected = called(*texts(corpus), *flags, "--output", tmp_path / "here")
    assert expected.code == 0, expected.err
    run = run_on(hosts, *texts(stored), *flags, "--output", "s3://beam-bleu/texts")
    assert run.code == 0, run.err
    assert run.out == expected.out
    commands.get(state(hosts), "s3://beam-bleu/texts/", tmp_path / "there")
    here, there = tmp_path / "here", tmp_path / "there"
    assert (there / "scores.json").read_bytes() == (here / "scores.json").read_bytes()
    assert rows(there) == rows(here)
    assert len(rows(there)) == 2 * LINES
    assert "first" in (there / "report.html").read_text()


@pytest.mark.parametrize("form", [records, joined])
def test_records_and_joins(
    hosts: ClusterOnHosts, corpus: Path, stored: str, form: Callable[[Argument], list[Argument]]
) -> None:
    expected = called(*form(corpus), "--format=json")
    output = f"s3://beam-bleu/{form.__name__}"
    run = run_on(hosts, *form(stored), "--format=json", "--output", output)
    assert run.code == 0, run.err
    assert run.out == expected.out
    assert expected.document["segments"] == LINES


def test_hosts_share_no_folder_and_reach_only_each_other(hosts: ClusterOnHosts) -> None:
    head, worker = hosts.hosts.head, hosts.hosts.workers[0]
    for host in (head, worker):
        assert host.run("hostname").strip() == host.name
        host.run("sh", "-c", f"echo {host.name} > /tmp/of_this_host")
    assert head.run("cat", "/tmp/of_this_host") == "head\n"
    assert not Path("/tmp/of_this_host").exists()
    for folder in (PROJECT, hosts.folder):
        with pytest.raises(ClusterError, match="No such file"):
            worker.run("ls", folder)
    assert worker.run("ip", "route").splitlines() == [
        f"10.77.0.0/24 dev eth0 proto kernel scope link src {worker.ip} "
    ]
    # The installed wheel, not the checkout.
    shown = worker.run("python", "-c", "import beam_bleu; print(beam_bleu.__file__)")
    assert "/site-packages/beam_bleu/" in shown


def test_what_has_ended_is_started_again(hosts: ClusterOnHosts, stored: str) -> None:
    lost = hosts.hosts.workers[1]
    before = hosts.running()
    lost.kill()
    hosts.mend()
    again = {process.name for process in set(hosts.running()) - set(before)}
    assert again == {"host-worker-2", "workers-worker-2", "taskmanager-2"}
    assert lost.run("hostname") == "worker-2\n"
