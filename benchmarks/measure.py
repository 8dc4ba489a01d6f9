"""Measures child processes: CPU, wall and memory, from the operating system.

The measuring process must stay small. Linux counts a child's memory from the fork on, so a child
never seems to use less memory than its parent at that time.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from typing import IO

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The project: every child runs here."""

BEAM_BLEU = (sys.executable, "-m", "beam_bleu.pipeline")
"""The command that is measured."""

_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""With this variable, each start would compile all libraries that it imports."""


@dataclasses.dataclass(frozen=True)
class Run:
    """The time and memory of one run, or the medians of several runs.

    Attributes:
      cpu: seconds of all cores, user and system, with its children.
      wall: seconds.
      peak: bytes of memory, of its largest process.
      stdout: its output (the last one, if there are several runs).
      user: user seconds of its whole processes.
    """

    cpu: float
    wall: float
    peak: int
    stdout: bytes = b""
    user: float = 0.0


def cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def run(command: Sequence[str], on: Collection[int] = ()) -> Run:
    """Runs a command to its end.

    Args:
      command: the program and its arguments.
      on: the cores that it may use; all if empty.

    Raises:
      RuntimeError: the command failed.
    """
    return run_together([command], [on])


def run_together(
    commands: Sequence[Sequence[str]], on: Sequence[Collection[int]] | None = None
) -> Run:
    """Runs commands at the same time; the wall seconds are those until all have ended.

    Args:
      commands: the programs and their arguments.
      on: the cores that each may use; all if empty.

    Raises:
      RuntimeError: a command failed.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        processes = [
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                preexec_fn=_pinning(allowed),
            )
            for command, allowed in zip(commands, on or [()] * len(commands), strict=True)
        ]
        cpu, user, peak = 0.0, 0.0, 0
        for process in processes:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu += usage.ru_utime + usage.ru_stime
            user += usage.ru_utime
            peak = max(peak, usage.ru_maxrss * 1024)
        wall = time.perf_counter() - start
        for command, process in zip(commands, processes, strict=True):
            if process.returncode:
                raise RuntimeError(
                    f"{' '.join(command)} ended with {process.returncode}:\n"
                    + _content(errors).decode(errors="replace")
                )
        return Run(cpu, wall, peak, _content(out), user)


def _environment() -> dict[str, str]:
    """The environment of the children: users of Python keep the bytecode of what they import."""
    kept = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    return {**kept, "LC_ALL": "C.UTF-8"}


def _pinning(allowed: Collection[int]) -> Callable[[], None] | None:
    return (lambda: os.sched_setaffinity(0, allowed)) if allowed else None


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def interleaved(
    contestants: Sequence[Callable[[], Run]], times: int, warm_up: bool = False
) -> list[list[Run]]:
    """Runs contestants in turn (A B A B ...), so that a disturbance affects all of them.

    Args:
      contestants: each runs once when it is called.
      times: how often each one runs.
      warm_up: whether each one runs once before; this run does not count.

    Returns:
      The runs of each contestant, in order.
    """
    if warm_up:
        for contestant in contestants:
            contestant()
    rounds = [[contestant() for contestant in contestants] for _ in range(times)]
    return [list(runs) for runs in zip(*rounds, strict=True)]


def medians(runs: Sequence[Run]) -> Run:
    """The median of each figure of several runs, but the largest figure of memory."""
    return Run(
        cpu=statistics.median(each.cpu for each in runs),
        wall=statistics.median(each.wall for each in runs),
        peak=max(each.peak for each in runs),
        stdout=runs[-1].stdout,
        user=statistics.median(each.user for each in runs),
    )


def total(runs: Sequence[Run]) -> Run:
    """The sum of several runs, as if they were one run."""
    return Run(
        cpu=sum(each.cpu for each in runs),
        wall=sum(each.wall for each in runs),
        peak=max(each.peak for each in runs),
        user=sum(each.user for each in runs),
    )


def spread(values: Sequence[float], digits: int) -> str:
    """The median of some values, and their range in brackets."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"
