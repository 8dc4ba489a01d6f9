"""Measures the job on Flink on hosts that share nothing, with the text in an object store.

    python -m benchmarks.engines.hosts --output benchmarks/engines/HOSTS.md

Linux and root only. All hosts are on this machine, so more workers than it has cores show that the
job works, and not how it scales.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.engines.flink.sampling import watch
from benchmarks.machine import machine
from benchmarks.measure import spread
from benchmarks.program import add_corpus_flags, add_output_flag, command_parser, publish
from deploy.local.hosts import commands
from deploy.local.hosts.cluster import ClusterOnHosts, on_hosts

_ROUNDS = 2


@dataclasses.dataclass(frozen=True)
class _Run:
    """A run of the command.

    Attributes:
      pairs: the pairs that it scored.
      wall: seconds from the command to its end.
      cpu: seconds of CPU of the Python workers.
      memory: bytes of the largest of them.
    """

    pairs: int
    wall: float
    cpu: float
    memory: int


def in_store(cluster: ClusterOnHosts, text: Text, folder: pathlib.Path) -> list[str]:
    """Puts the files of a text into the object store; returns the arguments that name them there.

    Args:
      cluster: the cluster.
      text: the text.
      folder: a new folder on the filesystem of the text; the store's has the same name.
    """
    stored = f"s3://beam-bleu/{folder.name}"
    folder.mkdir()
    for file in text.files:
        (folder / pathlib.Path(file).name).hardlink_to(file)
    commands.put({"command": cluster.command()}, folder, stored)
    local = str(pathlib.Path(text.references).parent)
    return [argument.replace(local, stored) for argument in text.arguments]


def _run(cluster: ClusterOnHosts, text: Text, arguments: list[str]) -> _Run:
    output = f"--output=s3://beam-bleu/scores-{time.time_ns()}"
    command = [*cluster.command("beam-bleu"), *arguments, output, *cluster.flags()]
    before = cluster.engine.workers()
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [*command, "--format=json"], stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        samples = watch(
            lambda: [number for number in cluster.engine.workers() if number not in before],
            lambda: process.poll() is not None,
        )
        wall = time.monotonic() - begun
        for file in (out, err):
            file.seek(0)
        if process.returncode:
            raise RuntimeError(err.read().decode())
        found = json.loads(out.read())["segments"]
    if found != text.pairs:
        raise RuntimeError(f"{found} segments of {text.pairs} were scored")
    cpu, memory = max(each.cpu for each in samples), max(each.memory for each in samples)
    return _Run(text.pairs, wall, cpu, memory)


def _row(workers: int, small: list[_Run], large: list[_Run]) -> str:
    pairs = large[0].pairs - small[0].pairs
    both = list(zip(small, large, strict=True))
    seconds = [more.wall - less.wall for less, more in both]
    cpu = [1e6 * (more.cpu - less.cpu) / pairs for less, more in both]
    starts = [run.wall - run.pairs * s / pairs for run, s in zip(large, seconds, strict=True)]
    cells = [
        spread([run.wall for run in small], 1),
        spread([run.wall for run in large], 1),
        f"{pairs / statistics.median(seconds):,.0f}",
        spread(cpu, 2),
        spread(starts, 1),
        f"{max(run.memory for run in large) / 1e6:.0f}",
    ]
    return f"| {workers} | {' | '.join(cells)} |"


def _main() -> None:
    parser = command_parser((__doc__ or "").splitlines()[0])
    add_corpus_flags(parser)
    add_output_flag(parser)
    parser.add_argument(
        "--copies", type=int, default=10, metavar="N", help="of the corpus; default 10"
    )
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[1, 2, 3], metavar="N", help="default 1 2 3"
    )
    flags = parser.parse_args()
    load = os.getloadavg()[0]
    workspace = Workspace(flags.work_dir, flags.pairs)
    small, large = workspace.whole(), workspace.copies(flags.copies)
    rows = []
    for workers in flags.workers:
        with (
            tempfile.TemporaryDirectory(prefix="beam-bleu-hosts-", dir=flags.work_dir) as name,
            on_hosts("flink", pathlib.Path(name, "cluster"), workers + 1) as cluster,
        ):
            texts = {
                text: in_store(cluster, text, pathlib.Path(name, folder))
                for folder, text in (("small", small), ("large", large))
            }
            runs: dict[Text, list[_Run]] = {small: [], large: []}
            _run(cluster, small, texts[small])  # the first job also starts much else
            for _ in range(_ROUNDS):
                for text, arguments in texts.items():
                    runs[text].append(_run(cluster, text, arguments))
                    print(f"{workers} workers: {runs[text][-1]}", file=sys.stderr, flush=True)
        rows.append(_row(workers, runs[small], runs[large]))
    today = datetime.date.today().isoformat()
    report = [
        "# Flink on hosts",
        "",
        f"{machine(('apache-beam', 'numba', 'obstore'))} {today}; load {load:.1f} before. Made by "
        f"`python -m benchmarks.engines.hosts --copies {flags.copies}`.",
        "",
        f"{small.pairs:,} and {large.pairs:,} pairs in an object store on a host of its own, "
        f"{_ROUNDS} runs of each in turn, after one more; medians, and the range in brackets. "
        "Each worker is a host with a TaskManager and a pool. All hosts share the cores of "
        "this machine, also the object store and the launcher. The rate, the CPU and the start "
        "come from the difference between the two texts. CPU is that of the Python workers.",
        "",
        "| workers | the smaller text, s | the larger text, s | pairs/s | CPU s for a million "
        "pairs | start and end, s | largest worker MB |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *rows,
    ]
    publish("\n".join(report) + "\n", flags.output)


if __name__ == "__main__":
    _main()
