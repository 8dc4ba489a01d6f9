"""Measures the job on Flink: with several workers, on this machine or on hosts that share nothing.

    python -m benchmarks.engines.flink
    python -m benchmarks.engines.flink --hosts

The second one makes hosts with an object store for the text (Linux and root only). All of them are
on this machine, so more workers than it has cores show that the job works, and not how it scales.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import pathlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.measure import BEAM_BLEU, run, spread
from benchmarks.program import (
    add_corpus_flags,
    add_output_flag,
    command_parser,
    machine,
    publish,
)
from deploy.local.engines import flink_cluster
from deploy.local.hosts import commands
from deploy.local.hosts.cluster import ClusterOnHosts, on_hosts

_PAUSE = 0.25
"""Seconds between looks at the workers."""


@dataclasses.dataclass(frozen=True)
class _Run:
    """A run of the command.

    Attributes:
      pairs: the pairs that it scored.
      wall: seconds from the command to its end.
      cpu: seconds of CPU of the Python processes that read text.
    """

    pairs: int
    wall: float
    cpu: float


Score = Callable[[Text], _Run]
"""Runs the command on a text."""


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
    local = str(pathlib.Path(text.references[0]).parent)
    return [argument.replace(local, stored) for argument in text.arguments]


def _in_process(text: Text) -> _Run:
    """The command without an engine, on one thread."""
    done = run([*BEAM_BLEU, *text.arguments, "--format=json", "--threads=1"])
    return _Run(json.loads(done.stdout)["segments"], done.wall, done.cpu)


@contextlib.contextmanager
def _on_flink(folder: pathlib.Path, workers: int) -> Iterator[Score]:
    """Flink on this machine. A TaskManager has a Python worker with one thread."""
    with flink_cluster(folder / "cluster", task_managers=workers) as cluster:

        def score(text: Text) -> _Run:
            output = f"--output={folder / f'scores-{time.time_ns()}'}"
            command = [*BEAM_BLEU, *text.arguments, output, *cluster.flags()]
            return _watched(command, cluster.workers)

        yield score


@contextlib.contextmanager
def _on_hosts(folder: pathlib.Path, workers: int) -> Iterator[Score]:
    """Flink on hosts, with the texts in an object store on a host of its own."""
    with on_hosts("flink", folder / "cluster", workers + 1) as cluster:
        stored: dict[Text, list[str]] = {}

        def score(text: Text) -> _Run:
            if text not in stored:
                stored[text] = in_store(cluster, text, folder / f"text-{len(stored)}")
            output = f"--output=s3://beam-bleu/scores-{time.time_ns()}"
            command = [*cluster.command("beam-bleu"), *stored[text], output, *cluster.flags()]
            return _watched(command, cluster.engine.workers)

        yield score


def _watched(command: Sequence[str], workers: Callable[[], Mapping[int, float]]) -> _Run:
    """Runs the command, and adds up the CPU of the workers that start meanwhile."""
    before, cpu = set(workers()), dict[int, float]()
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_PAUSE):
            cpu.update(workers())

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        done = run([*command, "--format=json"])
    finally:
        ended.set()
        watching.join()
    own = sum(seconds for worker, seconds in cpu.items() if worker not in before)
    return _Run(json.loads(done.stdout)["segments"], done.wall, own)


def _row(name: str, small: Sequence[_Run], large: Sequence[_Run]) -> str:
    """The cost of a pair is the difference between two texts, so no start is in it."""
    pairs = large[0].pairs - small[0].pairs
    both = list(zip(small, large, strict=True))
    seconds = [more.wall - less.wall for less, more in both]
    cells = [
        spread([each.wall for each in small], 1),
        spread([each.wall for each in large], 1),
        spread([pairs / each for each in seconds], 0),
        spread([1e6 * (more.cpu - less.cpu) / pairs for less, more in both], 2),
        spread(
            [each.wall - each.pairs * s / pairs for each, s in zip(large, seconds, strict=True)], 1
        ),
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _measured(name: str, score: Score, texts: Sequence[Text], rounds: int) -> str:
    score(texts[0])  # the first job also starts much else
    runs = []
    for _ in range(rounds):
        runs.append([score(text) for text in texts])
        print(f"{name}: {runs[-1]}", file=sys.stderr)
    for text, of_text in zip(texts, zip(*runs, strict=True), strict=True):
        if any(each.pairs != text.pairs for each in of_text):
            raise RuntimeError(f"{name}: not all of {text.pairs} pairs were scored")
    small, large = zip(*runs, strict=True)
    return _row(name, small, large)


def _main() -> None:
    flags = _parser().parse_args()
    corpus = Workspace(flags.work_dir, flags.pairs)
    texts = [corpus.whole(), corpus.whole(flags.copies)]
    start, what = (_on_hosts, "hosts") if flags.hosts else (_on_flink, "TaskManagers")
    notes = machine(("apache-beam", "numba", "obstore"))
    rows = [_measured("in-process, one thread", _in_process, texts, flags.repeats)]
    for workers in flags.workers:
        with (
            tempfile.TemporaryDirectory(prefix="beam-bleu-flink-", dir=flags.work_dir) as folder,
            start(pathlib.Path(folder), workers) as score,
        ):
            rows.append(_measured(f"{what}: {workers}", score, texts, flags.repeats))
    report = [
        "# Flink",
        "",
        notes,
        "",
        f"{texts[0].pairs:,} and {texts[1].pairs:,} pairs, {flags.repeats} runs of each in turn, "
        "after one more; medians, and the range in brackets. The rate, the CPU and the start come "
        "from the difference between the two texts. The CPU is that of the Python "
        "processes that read text.",
        "",
        "| run | the smaller text, s | the larger text, s | pairs/s | CPU s for a million pairs "
        "| start and end, s |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *rows,
        "",
    ]
    publish("\n".join(report), flags.output)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(__doc__)
    add_corpus_flags(parser)
    add_output_flag(parser)
    parser.add_argument("--hosts", action="store_true", help="on hosts that share nothing")
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[1, 2], metavar="N", help="default 1 2"
    )
    parser.add_argument(
        "--copies", type=int, default=10, metavar="N", help="of the larger text, default 10"
    )
    parser.add_argument("--repeats", type=int, default=2, metavar="N", help="default 2")
    return parser


if __name__ == "__main__":
    _main()
