"""Runs child processes, and measures their CPU time, wall time and peak memory.

The measuring process must stay small: Linux counts a child's memory from the fork on, so a child
never seems to use less memory than its parent did then.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Sequence
from typing import IO

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of the project, in which every child runs."""

BEAM_BLEU = (sys.executable, "-m", "beam_bleu.pipeline")
"""The command that is measured."""


@dataclasses.dataclass(frozen=True)
class Run:
    """The time and memory of one run, or the medians of several runs.

    Attributes:
      cpu: CPU seconds, user and system, on all cores, including its children.
      wall: seconds.
      peak: the peak memory of its largest process, in bytes.
      stdout: its output (of the last run, if there are several).
    """

    cpu: float
    wall: float
    peak: int
    stdout: bytes = b""


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
    # Without cached bytecode, each start would compile all libraries again.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            preexec_fn=(lambda: os.sched_setaffinity(0, on)) if on else None,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            message = _content(errors).decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{message}")
        cpu = usage.ru_utime + usage.ru_stime
        return Run(cpu, wall, usage.ru_maxrss * 1024, _content(out))


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def medians(runs: Sequence[Run]) -> Run:
    """The medians of several runs, except for memory, whose largest figure is taken."""
    return Run(
        cpu=statistics.median(each.cpu for each in runs),
        wall=statistics.median(each.wall for each in runs),
        peak=max(each.peak for each in runs),
        stdout=runs[-1].stdout,
    )


def spread(values: Sequence[float]) -> str:
    """The median of values, with three digits, and the range of several values in brackets."""
    median, low, high = (
        f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"
        for value in (statistics.median(values), min(values), max(values))
    )
    return median if len(values) == 1 else f"{median} ({low}–{high})"
