"""Hosts of a Flink cluster fail while a job runs: it ends as it may, with the right scores or none.

It needs Linux and root. All faults use one cluster. After each one, the hosts that it changed are
made anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest
from command_line import REFERENCES, SYSTEMS, called, read_lines, streams, write_lines
from engine_parts import need

from deploy.local.flink import FlinkCluster
from deploy.local.hosts import commands
from deploy.local.hosts.cluster import ClusterOnHosts, on_hosts
from deploy.local.hosts.host import Host
from deploy.local.processes import ClusterError

pytestmark = pytest.mark.nightly

PATIENCE = 600.0
"""Seconds for a job to start, and for it to end after the fault. Other tests may run beside it."""

READ_TWICE = 1.1
"""How often the text has been read when a fault happens. Lines are counted first, then scored."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that happens to hosts.

    Attributes:
      act: makes it happen.
      before: whether it happens before the job, or while it scores.
      exits: the exit codes with which the command may end; negative if it was killed.
      flags: more flags of the command.
      touched: the hosts that are made again afterwards: "worker" is the last one.
    """

    act: Callable[[ClusterOnHosts], None]
    before: bool = False
    exits: tuple[int, ...] = (0,)
    flags: tuple[str, ...] = ()
    touched: tuple[str, ...] = ("worker",)


def last_worker(cluster: ClusterOnHosts) -> Host:
    return cluster.hosts.workers[-1]


def cut_off_for(host: Host, seconds: float) -> None:
    host.pull_out()
    time.sleep(seconds)
    host.plug_in()


def restart_pool(cluster: ClusterOnHosts, **variables: str) -> None:
    """Starts the pool of the last worker again with other variables."""
    cluster.engine.processes.kill(f"workers-{last_worker(cluster).name}")
    usual = cluster.engine.worker_environment
    cluster.engine.worker_environment = {**usual, **variables}
    try:
        cluster.engine.start_workers()
    finally:
        cluster.engine.worker_environment = usual


def remove(cluster: ClusterOnHosts, *names: str) -> None:
    """Removes packages of the last worker."""
    for name in names:
        for found in last_worker(cluster).site_packages.glob(f"{name}*"):
            shutil.rmtree(found) if found.is_dir() else found.unlink()


def freeze_pool(cluster: ClusterOnHosts) -> None:
    process = cluster.engine.processes.pid(f"workers-{last_worker(cluster).name}")
    os.killpg(process, signal.SIGSTOP)


DIED = (-signal.SIGKILL, 128 + signal.SIGKILL)

FAULTS = {
    "a worker host is killed": Fault(lambda c: last_worker(c).kill()),
    "a worker host is cut off for good": Fault(lambda c: last_worker(c).pull_out()),
    "a worker host is cut off for 10 s": Fault(
        lambda c: cut_off_for(last_worker(c), 10), touched=()
    ),
    "the storage host is gone for 30 s": Fault(
        lambda c: cut_off_for(c.hosts.storage, 30), exits=(0, 1, 3), touched=()
    ),
    "the storage host is killed": Fault(
        lambda c: c.hosts.storage.kill(), exits=(1, 3), touched=("storage",)
    ),
    "the launcher's host is killed": Fault(
        lambda c: c.hosts.head.kill(), exits=DIED, touched=("head", "workers")
    ),
    "a worker has a wrong secret key": Fault(
        lambda c: restart_pool(c, AWS_SECRET_ACCESS_KEY="wrong"), True, (1, 3)
    ),
    "a worker has no beam-bleu": Fault(lambda c: remove(c, "beam_bleu"), True, (0, 1)),
    "a worker has no `python`": Fault(
        lambda c: (last_worker(c).site_packages.parents[2] / "bin" / "python").unlink(), True, (1,)
    ),
    "a worker lacks the tokenizer's library": Fault(
        lambda c: remove(c, "MeCab", "ipadic"), True, (1, 2), ("--tokenize=ja-mecab",)
    ),
    "a worker's /tmp is full": Fault(
        lambda c: last_worker(c).run("sh", "-c", "head -c 4G /dev/zero > /tmp/fills; true"),
        *(True, (0, 1)),
    ),
    "a worker's pool does not answer": Fault(freeze_pool, True, (0, 1)),
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterOnHosts]:
    need("hosts")
    made = on_hosts("flink", tmp_path_factory.mktemp("hosts"), 3)
    assert isinstance(made.engine, FlinkCluster)
    made.engine.attempts = 2  # a job with a worker that cannot work fails each time
    with made:
        yield made


@pytest.fixture(scope="module")
def text(cluster: ClusterOnHosts, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with 576,000 pairs, which is s3://beam-bleu/text, too."""
    folder = tmp_path_factory.mktemp("corpus") / "text"
    for name, source in (("hyp", SYSTEMS["atlas"]), ("ref", REFERENCES[0])):
        copies = itertools.chain.from_iterable([read_lines(source)] * 8000)
        write_lines(folder / f"{name}.txt", [f"{line} {n}" for n, line in enumerate(copies)])
    commands.put({"command": cluster.command()}, folder, "s3://beam-bleu/text")
    return folder


def arguments(folder: object, *flags: str) -> list[str]:
    return [*map(str, streams([f"{folder}/hyp.txt"], [f"{folder}/ref.txt"])), *flags]


def bytes_sent(cluster: ClusterOnHosts) -> int:
    """The bytes that the storage host has sent."""
    lines = pathlib.Path(f"/proc/{cluster.hosts.storage.pid}/net/dev").read_text().splitlines()
    (row,) = [line for line in lines if "eth0:" in line]
    return int(row.split()[9])


@pytest.mark.parametrize("name", FAULTS)
def test_the_job_ends_as_it_may(
    cluster: ClusterOnHosts, text: pathlib.Path, name: str, tmp_path: pathlib.Path
) -> None:
    fault = FAULTS[name]
    size = sum(file.stat().st_size for file in text.iterdir())
    output = f"s3://beam-bleu/scores-{time.time_ns()}"
    flags = [*fault.flags, f"--range_bytes={size // 40}", "--output", output, *cluster.flags()]
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
    code: int | None = None
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
        assert scores.read_bytes() == called(*arguments(text, *fault.flags, "--format=json")).out


def make_again(cluster: ClusterOnHosts, fault: Fault, hung: bool) -> None:
    """Makes the hosts again that a fault has touched; all that work if the job has hung."""
    hosts = cluster.hosts
    names = {
        "worker": hosts.workers[-1:],
        "workers": hosts.workers,
        "head": [hosts.head],
        "storage": [hosts.storage],
    }
    touched = {host for name in fault.touched for host in names[name]}
    if hung:
        touched |= {hosts.head, *hosts.workers}
    for host in filter(Host.is_running, touched):
        host.kill()
    if touched:
        time.sleep(1)  # Linux needs a moment to end the processes of a host
    cluster.mend()
    job = cluster.engine.newest_job()
    if job and job["state"] in ("RUNNING", "RESTARTING", "CREATED", "FAILING"):
        with contextlib.suppress(OSError):
            cluster.engine.cancel(job["jid"])
