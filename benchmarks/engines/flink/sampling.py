"""Watches running processes: the text that they have read, their CPU and their memory (Linux)."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import pathlib
import time
from collections.abc import Callable, Collection, Sequence

_TICKS = os.sysconf("SC_CLK_TCK")

_START_BYTES = 40_000_000
"""A process that has read more has started: its libraries have about half as many bytes."""

_PAUSE = 0.25
"""Seconds between samples. To list the processes takes about 20 ms of CPU."""


@dataclasses.dataclass(frozen=True)
class Sample:
    """The state of some processes at a time.

    Attributes:
      time: seconds.
      text: bytes that they have read after their start, all together.
      cpu: seconds of CPU that they have used.
      start: those until the last sample in which they had not read text.
      memory: bytes of memory of the largest one.
    """

    time: float
    text: int
    cpu: float
    start: float
    memory: int


def sample(processes: Collection[int], ended: dict[int, Sample] | None = None) -> Sample:
    """Looks at processes.

    Args:
      processes: their numbers.
      ended: the last state of each process. This function updates it, so that the bytes and the
        CPU of a process that has ended still count.
    """
    seen = {} if ended is None else ended
    now, memory = time.monotonic(), 0
    for process in processes:
        with contextlib.suppress(OSError, IndexError):  # it is ending
            folder = pathlib.Path("/proc", str(process))
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            cpu = (int(after_name[11]) + int(after_name[12])) / _TICKS
            size = 1024 * _field(folder / "status", "VmRSS:")
            text = max(_field(folder / "io", "rchar:") - _START_BYTES, 0)
            before = seen.get(process)
            start = before.start if text and before else cpu
            seen[process] = Sample(now, text, cpu, start, size)
            memory = max(memory, size)
    each = seen.values()
    return Sample(
        now,
        sum(one.text for one in each),
        sum(one.cpu for one in each),
        sum(one.start for one in each),
        memory,
    )


def _field(path: pathlib.Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def watch(processes: Callable[[], Collection[int]], is_over: Callable[[], bool]) -> list[Sample]:
    """Samples of the processes, four a second, until it is over."""
    samples = []
    seen: dict[int, Sample] = {}
    while not is_over():
        samples.append(sample(processes(), seen))
        time.sleep(_PAUSE)
    return samples


def reading(samples: Sequence[Sample]) -> tuple[float, float]:
    """The times at which the processes began to read text, and had read all of it."""
    last = samples[-1].text
    began = next(each.time for each in samples if each.text)
    return began, next(each.time for each in samples if each.text == last)


def tenths(samples: Sequence[Sample]) -> list[tuple[float, int]]:
    """(seconds, largest memory) of each tenth of the bytes that were read."""
    first, last = samples[0].text, samples[-1].text
    # Up to the first sample in which everything was read. The processes may run longer.
    samples = samples[: next(i for i, each in enumerate(samples) if each.text == last) + 1]
    result = []
    for tenth in range(10):
        low = first + (last - first) * tenth // 10
        high = first + (last - first) * (tenth + 1) // 10
        within = [each for each in samples if low <= each.text <= high] or [samples[-1]]
        result.append((_when(samples, high) - _when(samples, low), max(s.memory for s in within)))
    return result


def _when(samples: Sequence[Sample], text: int) -> float:
    """The time when this much was read; between two samples, the speed is taken as constant."""
    for before, after in itertools.pairwise(samples):
        if after.text >= text:
            share = (text - before.text) / max(after.text - before.text, 1)
            return before.time + max(share, 0.0) * (after.time - before.time)
    return samples[-1].time
