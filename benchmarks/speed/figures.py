"""The figures that the project must reach: the rows of the results, in their order."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.corpus.workspace import Workspace
from benchmarks.speed import kernel, peers, whole_command
from benchmarks.speed.results import Results
from benchmarks.speed.sizes import Sizes

FIGURES: dict[str, Callable[[Workspace, Sizes], Results]] = {
    "kernel": kernel.kernel,
    "words": peers.words,
    "bleuscore": peers.bleuscore,
    "cores": whole_command.two_cores,
    "systems": whole_command.systems,
    "memory": whole_command.memory,
    "small": peers.small,
    "segments": whole_command.segment_scores,
}
