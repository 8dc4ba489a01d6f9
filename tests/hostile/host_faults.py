"""Lets hosts of a cluster fail while a job runs on it, and checks how the job ends.

    python tests/hostile/host_faults.py --engine flink

It needs Linux and root (`./run.sh cluster start flink --hosts 3`). A run is right if the command
ends in time in a way that is allowed after this fault, and if scores.json exists
exactly when it ended with 0, with the same bytes as a run without an engine. The program ends with
1 if a run is not right.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from faults_of_hosts import FAULTS, Fault, Outcome

from benchmarks.corpus.workspace import Workspace
from benchmarks.engines.flink import in_store
from benchmarks.measure import BEAM_BLEU, run
from benchmarks.program import add_corpus_flags, machine
from deploy.local.flink import FlinkCluster
from deploy.local.hosts import commands
from deploy.local.hosts.cluster import ClusterOnHosts, on_hosts
from deploy.local.hosts.host import this_python
from deploy.local.processes import ClusterError

_IN_PROCESS = "in-process"
_ENGINES = {"flink": 3, "spark": 3, "prism": 1, _IN_PROCESS: 1}
"""The hosts of each. In-process is a run on the host of Prism, without its flags."""

_LONGEST = 600
"""Seconds for a job to start."""

_READ_TWICE = 1.1
"""How often the text has been read when a fault happens. Lines are counted first, then scored."""


class Job:
    """The command on the head of a cluster.

    Args:
      cluster: the cluster.
      arguments: the arguments of beam-bleu.
      log: the file that gets its stderr.
    """

    def __init__(self, cluster: ClusterOnHosts, arguments: list[str], log: Path) -> None:
        self._cluster = cluster
        self._sent = _bytes_sent(cluster)
        command = [*cluster.command("beam-bleu"), *arguments]
        self._log = log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def wait_until_read(self, count: float) -> None:
        """Waits until the storage host has sent this number of bytes."""
        end = time.monotonic() + _LONGEST
        while _bytes_sent(self._cluster) < self._sent + count:
            if self.process.poll() is not None:
                raise RuntimeError(f"the job ended before the fault: {self._log.read_text()}")
            if time.monotonic() > end:
                raise RuntimeError(f"the job has not read so much: {self._log.read_text()}")
            time.sleep(0.2)

    def stop(self) -> None:
        """Kills the command."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def message(self) -> str:
        """The first line of its error, which is two lines: the cause and the remedy."""
        return (self._log.read_text(errors="replace").splitlines() or [""])[-2:][0]


def _bytes_sent(cluster: ClusterOnHosts) -> int:
    lines = Path(f"/proc/{cluster.hosts.storage.pid}/net/dev").read_text().splitlines()
    (row,) = [line for line in lines if "eth0:" in line]
    return int(row.split()[9])


def _run(
    cluster: ClusterOnHosts,
    fault: Fault,
    given: list[str],
    size: int,
    patience: float,
    folder: Path,
) -> tuple[int | None, str, float, bytes]:
    output = f"s3://beam-bleu/scores-{time.time_ns()}"
    state = {"command": cluster.command()}
    if fault.before:
        fault.act(cluster)
    job = Job(cluster, [*given, *fault.flags, "--output", output], folder / "stderr")
    begin = time.monotonic()
    try:
        if not fault.before:
            job.wait_until_read(_READ_TWICE * size)
            begin = time.monotonic()
            fault.act(cluster)
        try:
            code: int | None = job.process.wait(patience)
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.monotonic() - begin
    finally:
        job.stop()
    message = "" if code == 0 else job.message()
    print((folder / "stderr").read_text(errors="replace")[-3000:], file=sys.stderr)
    _make_again(cluster, fault, hung=code is None)
    state["command"] = cluster.command()
    try:
        commands.get(state, f"{output}/scores.json", folder / "scores.json")
        scores = (folder / "scores.json").read_bytes()
    except ClusterError:
        scores = b""
    return code, message, seconds, scores


def _make_again(cluster: ClusterOnHosts, fault: Fault, hung: bool) -> None:
    """Makes the hosts again that a fault has touched; all that work if the job has hung."""
    hosts = cluster.hosts
    names = {
        "last worker": (hosts.workers or [hosts.head])[-1:],
        "workers": hosts.workers,
        "head": [hosts.head],
        "storage": [hosts.storage],
    }
    touched = {host for name in fault.touched for host in names[name]}
    if hung:
        touched |= {hosts.head, *hosts.workers}
    for host in touched:
        if host.is_running():
            host.kill()
        host.has_python = this_python()
    if touched:
        time.sleep(1)  # Linux needs a moment to end the processes of a host
    cluster.mend()
    engine = cluster.engine
    if isinstance(engine, FlinkCluster):
        job = engine.newest_job()
        if job and job["state"] in ("RUNNING", "RESTARTING", "CREATED", "FAILING"):
            with contextlib.suppress(OSError):
                engine.cancel(job["jid"])


def _report(engine: str, rows: list[tuple[Fault, Outcome]], notes: str, patience: float) -> str:
    lines = [notes, "", f"| fault, on {engine} | exit | scores.json | s | right? |"]
    lines.append("| --- | ---: | --- | ---: | --- |")
    for fault, outcome in rows:
        cells = (
            fault.name,
            f"none in {patience:.0f} s" if outcome.exit is None else str(outcome.exit),
            outcome.scores,
            f"{outcome.seconds:.0f}",
            "yes" if outcome.is_right(fault) else "**NO**",
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "The first lines of the errors:", ""]
    lines += [f"- {fault.name}: `{outcome.message}`" for fault, outcome in rows if outcome.message]
    return "\n".join(lines) + "\n"


def _cluster(engine: str, folder: Path) -> ClusterOnHosts:
    cluster = on_hosts("prism" if engine == _IN_PROCESS else engine, folder, _ENGINES[engine])
    if isinstance(cluster.engine, FlinkCluster):
        cluster.engine.attempts = 2  # a job with a worker that cannot work fails each time
    return cluster


def _main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_corpus_flags(parser)
    parser.add_argument("--engine", choices=_ENGINES, default="flink")
    parser.add_argument(
        "--copies", type=int, default=1, metavar="N", help="of the corpus; default 1"
    )
    parser.add_argument(
        "--only",
        metavar="TEXT",
        action="append",
        default=[],
        help="faults whose name has this text, or one of several",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=180,
        metavar="SECONDS",
        help="after which a run hangs; default 180. More if other programs use this machine",
    )
    flags = parser.parse_args()
    text = Workspace(flags.work_dir, flags.pairs).whole(flags.copies)
    size = sum(os.path.getsize(file) for file in text.files)
    rows = []
    failures = 0
    with (
        tempfile.TemporaryDirectory(prefix="beam-bleu-hosts-", dir=flags.work_dir) as name,
        _cluster(flags.engine, Path(name, "cluster")) as cluster,
    ):
        given = [*in_store(cluster, text, Path(name, "text")), f"--range_bytes={size // 40}"]
        if flags.engine != _IN_PROCESS:
            given += cluster.flags()
        expected: dict[tuple[str, ...], bytes] = {}
        for fault in FAULTS:
            if flags.only and not any(part in fault.name for part in flags.only):
                continue
            if "worker" in fault.name and not cluster.hosts.workers:
                continue
            if fault.needs and not fault.needs[0].exists():
                print(f"left out: {fault.name}: it needs {fault.needs[1]}", file=sys.stderr)
                continue
            if fault.flags not in expected:
                command = [*BEAM_BLEU, *text.arguments, *fault.flags, "--format=json"]
                expected[fault.flags] = run(command).stdout
            print(f"{flags.engine}: {fault.name}", file=sys.stderr, flush=True)
            try:
                code, message, seconds, scores = _run(
                    cluster, fault, given, size, flags.patience, Path(name)
                )
            except Exception as error:  # the other faults can still be tried
                print(f"{fault.name}: not tried: {error}", file=sys.stderr)
                failures += 1
                _make_again(cluster, fault, hung=True)
                continue
            same = "same" if scores == expected[fault.flags] else "DIFFERENT"
            outcome = Outcome(code, message, seconds, same if scores else "none")
            rows.append((fault, outcome))
            print(outcome, outcome.is_right(fault), file=sys.stderr, flush=True)
    notes = f"{text.pairs:,} pairs, one system; {machine(('apache-beam', 'numba', 'pyarrow'))}"
    print(_report(flags.engine, rows, notes, flags.patience), end="")
    return 0 if not failures and all(outcome.is_right(fault) for fault, outcome in rows) else 1


if __name__ == "__main__":
    sys.exit(_main())
