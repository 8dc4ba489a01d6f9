"""Measures the whole command on Flink with several workers, on this machine or on separate hosts.

The hosts are on this machine, too, so more workers than it has cores show that a job works, not how
it scales.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Sequence

from benchmarks.corpus.workspace import Text
from benchmarks.measure import BEAM_BLEU
from benchmarks.speed.harness import Benchmark, Comparison, Contestant, Figure, Round, Setting
from benchmarks.speed.programs import scored_all

_WORKERS = (1, 2)
_COPIES = 10
"""How many times the larger text repeats the corpus."""


def _on_flink(setting: Setting) -> Iterator[Comparison]:
    from deploy.local.engines import cluster_here

    texts = _texts(setting)
    for workers in _WORKERS:
        folder = setting.folder / f"flink-{workers}"
        with cluster_here("flink", folder, count=workers) as cluster:
            flags = [f"--output={folder / 'scores'}", *cluster.flags()]
            commands = [[*BEAM_BLEU, *text.arguments, *flags] for text in texts]
            yield _compared(f"Flink, {workers} TaskManagers", texts, commands)


def _on_hosts(setting: Setting) -> Iterator[Comparison]:
    from deploy.local.hosts.cluster import on_hosts

    texts = _texts(setting)
    for workers in _WORKERS:
        with on_hosts("flink", setting.folder / f"hosts-{workers}", workers + 1) as cluster:
            state = {"command": cluster.command()}
            flags = ["--output=s3://beam-bleu/scores", *cluster.flags()]
            commands = [
                [
                    *cluster.command("beam-bleu"),
                    *_in_store(state, text, setting.folder / f"{workers}-{text.pairs}"),
                    *flags,
                ]
                for text in texts
            ]
            yield _compared(f"Flink on hosts, {workers} workers", texts, commands)


def _texts(setting: Setting) -> tuple[Text, Text]:
    return setting.corpus.whole(), setting.corpus.whole(_COPIES)


def _in_store(state: dict[str, list[str]], text: Text, folder: pathlib.Path) -> list[str]:
    """Puts the files of a text into the object store; returns arguments that name them there.

    Args:
      state: what is known about the cluster.
      text: the text.
      folder: a new folder on the text's filesystem; that in the store has the same name.
    """
    from deploy.local.hosts import commands

    stored = f"s3://beam-bleu/{folder.name}"
    folder.mkdir()
    for file in text.files:
        (folder / pathlib.Path(file).name).hardlink_to(file)
    commands.put(state, folder, stored)
    local = str(pathlib.Path(text.references[0]).parent)
    return [argument.replace(local, stored) for argument in text.arguments]


def _compared(name: str, texts: tuple[Text, Text], commands: Sequence[Sequence[str]]) -> Comparison:
    """Compares two texts: the difference between them is the cost of pairs, without the start."""
    small, large = (
        scored_all(Contestant(f"{name}, {text.pairs:,}", [*command, "--format=json"], text.pairs))
        for text, command in zip(texts, commands, strict=True)
    )

    def rate(runs: Round) -> float:
        seconds = runs[large.name].wall - runs[small.name].wall
        return (large.pairs - small.pairs) / seconds

    return Comparison(
        [small, large],
        [
            Figure(f"{name}, pairs/s, without start and end", rate, unit=""),
            Figure(
                f"{name}, start and end",
                lambda runs: runs[small.name].wall - small.pairs / rate(runs),
                unit=" s",
            ),
        ],
    )


BENCHMARKS: dict[str, Benchmark] = {"flink": _on_flink, "hosts": _on_hosts}
"""They need Java; hosts also need Linux and root. They run only if they are named."""
