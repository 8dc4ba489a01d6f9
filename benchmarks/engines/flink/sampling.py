"""Watches running processes: the bytes that they have read, their CPU and their memory (Linux)."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import pathlib
import time
from collections.abc import Callable, Collection, Sequence

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass(frozen=True)
class Sample:
    """The state of some processes at a time.

    Attributes:
      time: seconds.
      read: bytes that they have read, all together.
      cpu: seconds of CPU that they have used.
      memory: bytes of memory of the largest one.
    """

    time: float
    read: int
    cpu: float
    memory: int


def sample(processes: Collection[int], ended: dict[int, Sample] | None = None) -> Sample:
    """Looks at processes.

    Args:
      processes: their numbers.
      ended: the last state of each process. This function updates it, so that the bytes and the
        CPU of a process that has ended still count.
    """
    seen = {} if ended is None else ended
    memory = 0
    for process in processes:
        with contextlib.suppress(OSError, IndexError):  # it is ending
            folder = pathlib.Path("/proc", str(process))
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            cpu = (int(after_name[11]) + int(after_name[12])) / _TICKS
            size = 1024 * _field(folder / "status", "VmRSS:")
            seen[process] = Sample(time.monotonic(), _field(folder / "io", "rchar:"), cpu, size)
            memory = max(memory, size)
    read, used = sum(each.read for each in seen.values()), sum(each.cpu for each in seen.values())
    return Sample(time.monotonic(), read, used, memory)


def _field(path: pathlib.Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def watch(processes: Callable[[], Collection[int]], is_over: Callable[[], bool]) -> list[Sample]:
    """Samples of the processes, twice a second, until it is over."""
    samples = []
    seen: dict[int, Sample] = {}
    while not is_over():
        samples.append(sample(processes(), seen))
        time.sleep(0.5)
    return samples


def tenths(samples: Sequence[Sample]) -> list[tuple[float, int]]:
    """(seconds, largest memory) of each tenth of the bytes that were read."""
    first, last = samples[0].read, samples[-1].read
    # Up to the first sample in which everything was read. The processes may run longer.
    samples = samples[: next(i for i, each in enumerate(samples) if each.read == last) + 1]
    result = []
    for tenth in range(10):
        low = first + (last - first) * tenth // 10
        high = first + (last - first) * (tenth + 1) // 10
        within = [each for each in samples if low <= each.read <= high] or [samples[-1]]
        result.append((_when(samples, high) - _when(samples, low), max(s.memory for s in within)))
    return result


def _when(samples: Sequence[Sample], read: int) -> float:
    """The time when this much was read; between two samples, the speed is taken as constant."""
    for before, after in itertools.pairwise(samples):
        if after.read >= read:
            share = (read - before.read) / max(after.read - before.read, 1)
            return before.time + max(share, 0.0) * (after.time - before.time)
    return samples[-1].time
