"""Flink on hosts that share nothing: the same bytes as in-process, and jobs whose hosts fail.

It needs Linux and root. All tests use one cluster. After a fault, the hosts that it changed are
made anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import pathlib
import random
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from command_line import REFERENCES, SYSTEMS, called, read_lines, streams, write_lines
from engine_parts import need
from pyarrow import parquet

from deploy.local.flink import FlinkCluster
from deploy.local.hosts import commands
from deploy.local.hosts.cluster import ClusterOnHosts, on_hosts
from deploy.local.hosts.host import Host
from deploy.local.processes import ClusterError

LINES = 3000
PATIENCE = 600.0
"""Seconds for a job to start, and for it to end after the fault. Other tests may run beside it."""

READ_TWICE = 1.1
"""How often the text has been read when a fault happens. Lines are counted first, then scored."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that happens to hosts before the job, or while it scores.

    The command may end with one of the exits. The touched host is made again: the last worker, ...
    """

    act: Callable[[ClusterOnHosts], None]
    before: bool = False
    exits: tuple[int, ...] = (0,)
    touched: str | None = "worker"


def last_worker(cluster: ClusterOnHosts) -> Host:
    return cluster.hosts.workers[-1]


def cut_off_for(host: Host, seconds: float) -> None:
    host.pull_out()
    time.sleep(seconds)
    host.plug_in()


def pool(cluster: ClusterOnHosts) -> str:
    """The process of the last worker's pool: an nsenter of this machine, with the pool below it."""
    return f"workers-{last_worker(cluster).name}"


def restart_pool(cluster: ClusterOnHosts, **variables: str) -> None:
    """Starts the pool of the last worker again with other variables."""
    cluster.engine.processes.kill(pool(cluster))
    usual = cluster.engine.worker_environment
    cluster.engine.worker_environment = {**usual, **variables}
    try:
        cluster.engine.start_workers()
    finally:
        cluster.engine.worker_environment = usual


def freeze_pool(cluster: ClusterOnHosts) -> None:
    os.killpg(cluster.engine.processes.pid(pool(cluster)), signal.SIGSTOP)


FAULTS = {
    "a worker host is killed": Fault(lambda c: last_worker(c).kill()),
    "a worker host is cut off for good": Fault(lambda c: last_worker(c).pull_out()),
    "the storage host is gone for 30 s": Fault(
        lambda c: cut_off_for(c.hosts.storage, 30), exits=(0, 1, 3), touched=None
    ),
    "the storage host is killed": Fault(
        lambda c: c.hosts.storage.kill(), exits=(1, 3), touched="storage"
    ),
    "a worker has a wrong secret key": Fault(
        lambda c: restart_pool(c, AWS_SECRET_ACCESS_KEY="wrong"), True, (1, 3)
    ),
    "a worker's pool does not answer": Fault(freeze_pool, True, (0, 1)),
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A head and two workers."""
    need("hosts")
    made = on_hosts("flink", tmp_path_factory.mktemp("hosts"), 3)
    assert isinstance(made.engine, FlinkCluster)
    made.engine.attempts = 2  # a job with a worker that cannot work fails each time
    with made:
        yield made


def rows(folder):
    table = parquet.read_table(folder / "segment_scores").to_pylist()
    return sorted(table, key=lambda row: (row["index"], row["system"]))


@pytest.mark.engines
def test_texts_segment_scores_and_a_report(cluster, tmp_path):
    draw, corpus, state = random.Random(27), tmp_path / "corpus", {"command": cluster.command()}
    examples = [read_lines(path) for path in (SYSTEMS["atlas"], SYSTEMS["birch"], REFERENCES[0])]
    places = [draw.randrange(len(examples[0])) for _ in range(LINES)]
    first, second, reference = (
        [f"{lines[place]} {number}" for number, place in enumerate(places)] for lines in examples
    )
    write_lines(corpus / "first.txt", first)
    write_lines(corpus / "second" / "part-0.txt", second[:1000])
    write_lines(corpus / "second" / "part-1.txt", second[1000:])
    write_lines(corpus / "references.txt", reference)
    commands.put(state, corpus, "s3://beam-bleu/corpus")

    def arguments(folder):
        systems = [f"first={folder}/first.txt", f"second={folder}/second/part-*"]
        # Small ranges, so that both worker hosts have work.
        flags = ["--cuts=any", "--range_bytes=50000", "--segment_scores", "--report"]
        return streams(systems, [f"{folder}/references.txt"], *flags)

    here, there = tmp_path / "here", tmp_path / "there"
    expected = called(*arguments(corpus), "--output", here)
    assert expected.code == 0, expected.err
    command = [*cluster.command("beam-bleu"), *arguments("s3://beam-bleu/corpus")]
    command += [*cluster.flags(), "--output=s3://beam-bleu/texts", "--progress=off"]
    done = subprocess.run([*map(str, command)], capture_output=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, expected.out), done.stderr
    commands.get(state, "s3://beam-bleu/texts/", there)
    assert (there / "scores.json").read_bytes() == (here / "scores.json").read_bytes()
    assert rows(there) == rows(here)
    assert len(rows(there)) == 2 * LINES
    assert "first" in (there / "report.html").read_text()


@pytest.fixture(scope="module")
def text(cluster, tmp_path_factory):
    """A folder with 576,000 pairs, which is s3://beam-bleu/text, too."""
    folder = tmp_path_factory.mktemp("corpus") / "text"
    for name, source in (("hyp", SYSTEMS["atlas"]), ("ref", REFERENCES[0])):
        copies = itertools.chain.from_iterable([read_lines(source)] * 8000)
        write_lines(folder / f"{name}.txt", [f"{line} {n}" for n, line in enumerate(copies)])
    commands.put({"command": cluster.command()}, folder, "s3://beam-bleu/text")
    return folder


def arguments(folder, *flags):
    return [*map(str, streams([f"{folder}/hyp.txt"], [f"{folder}/ref.txt"])), *flags]


def bytes_sent(cluster: ClusterOnHosts) -> int:
    """The bytes that the storage host has sent."""
    lines = pathlib.Path(f"/proc/{cluster.hosts.storage.pid}/net/dev").read_text().splitlines()
    (row,) = [line for line in lines if "eth0:" in line]
    return int(row.split()[9])


@pytest.mark.parametrize("name", FAULTS)
def test_the_job_ends_as_it_may(cluster, text, name, tmp_path):
    fault = FAULTS[name]
    size = sum(file.stat().st_size for file in text.iterdir())
    output = f"s3://beam-bleu/scores-{time.time_ns()}"
    flags = [f"--range_bytes={size // 40}", "--output", output, *cluster.flags()]
    sent = bytes_sent(cluster)
    if fault.before:
        fault.act(cluster)
    log = tmp_path / "stderr"
    with open(log, "wb") as errors:
        job = subprocess.Popen(
            [*cluster.command("beam-bleu"), *arguments("s3://beam-bleu/text"), *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
    code = None
    try:
        end = time.monotonic() + PATIENCE
        while not fault.before and bytes_sent(cluster) < sent + READ_TWICE * size:
            assert job.poll() is None, f"the job ended before the fault: {log.read_text()}"
            assert time.monotonic() < end, f"the job has not read so much: {log.read_text()}"
            time.sleep(0.2)
        if not fault.before:
            fault.act(cluster)
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = job.wait(PATIENCE)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        make_again(cluster, fault, hung=code is None)
    assert code in fault.exits, log.read_text(errors="replace")[-3000:]
    scores = tmp_path / "scores.json"
    if code:
        with pytest.raises(ClusterError):
            commands.get({"command": cluster.command()}, f"{output}/scores.json", scores)
    else:
        commands.get({"command": cluster.command()}, f"{output}/scores.json", scores)
        assert scores.read_bytes() == called(*arguments(text, "--format=json")).out


def make_again(cluster: ClusterOnHosts, fault: Fault, hung: bool) -> None:
    """Makes the host again that a fault has touched; all that work if the job has hung."""
    hosts = cluster.hosts
    touched = {"worker": hosts.workers[-1:], "storage": [hosts.storage], None: []}[fault.touched]
    for host in filter(Host.is_running, [hosts.head, *hosts.workers] if hung else touched):
        host.kill()
    if fault.act is freeze_pool:
        # Its nsenter, which is stopped, too, would never notice that the host has ended.
        cluster.engine.processes.kill(pool(cluster))
    time.sleep(1)  # Linux needs a moment to end the processes of a host
    cluster.mend()
    job = cluster.engine.newest_job()
    if job and job["state"] in ("RUNNING", "RESTARTING", "CREATED", "FAILING"):
        with contextlib.suppress(OSError):
            cluster.engine.cancel(job["jid"])
