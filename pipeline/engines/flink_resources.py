"""What a job needs of a Flink cluster, by count: slots of TaskManagers, and network buffers.

Flink refuses a job that gets too few of them only after it was sent: after five minutes for slots,
and for buffers with an error of a single task. Here is a lower bound for each. Below it, the job
cannot run. Above it, it may still be too little, because Flink decides how it runs a job.

Jobs run with --execution_mode_for_batch=PIPELINED_FORCED, so Flink keeps no result until it is
complete. In other modes it sorts each kept one with 512 buffers more, which do not count here.

For the buffers see "Network memory tuning guide" in Flink's documentation. A task needs

- for each shuffle that it writes: a buffer for each subtask that reads it, and one more;
- for each shuffle that it reads: the exclusive buffers (2) of each subtask on another TaskManager
  that it reads from, and a floating one.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence

from beam_bleu.transforms.errors import JobError


@dataclasses.dataclass(frozen=True)
class TaskManager:
    """A TaskManager of Flink.

    Attributes:
      slots: the number of its slots.
      free_slots: how many of them no job has.
      network_bytes: its memory for network buffers, in bytes.
    """

    slots: int
    free_slots: int
    network_bytes: int


@dataclasses.dataclass(frozen=True)
class FlinkSettings:
    """Settings of a Flink cluster.

    Attributes:
      buffer_bytes: the size of a network buffer.
      exclusive_buffers: how many buffers each channel has for itself.
      starts_task_managers: whether Flink starts TaskManagers when a job needs them.
    """

    buffer_bytes: int = 32 << 10
    exclusive_buffers: int = 2
    starts_task_managers: bool = False


_UNITS = {"": 1, "b": 1, "bytes": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20}

_STARTING = ("kubernetes.cluster-id", "yarn.application.name", "yarn.application.queue")
"""Settings of clusters that start TaskManagers when a job needs them."""


def settings_of(config: Mapping[str, str]) -> FlinkSettings:
    """The settings of a cluster.

    Args:
      config: its configuration, without what has Flink's default.

    Raises:
      ValueError: a value cannot be understood.
      KeyError: a size has an unknown unit.
    """
    usual = FlinkSettings()
    size = re.fullmatch(r"(\d+)\s*([a-z]*)", config.get("taskmanager.memory.segment-size", "32kb"))
    if size is None:
        raise ValueError("taskmanager.memory.segment-size is not a size")
    exclusive = config.get("taskmanager.network.memory.buffers-per-channel")
    return FlinkSettings(
        int(size[1]) * _UNITS[size[2]],
        usual.exclusive_buffers if exclusive is None else int(exclusive),
        any(key in config for key in _STARTING),
    )


def needed_buffers(
    parallelism: int,
    on_one: int,
    shuffles: int,
    settings: FlinkSettings = FlinkSettings(),
) -> int:
    """The least number of network buffers that a job needs on a TaskManager.

    Args:
      parallelism: the number of subtasks of each step.
      on_one: how many of them are on this TaskManager.
      shuffles: the number of shuffles.
      settings: the settings of the cluster.
    """
    elsewhere = parallelism - on_one
    shuffle = (parallelism + 1) + 1 + settings.exclusive_buffers * elsewhere
    return on_one * shuffles * shuffle


def check_resources(
    managers: Sequence[TaskManager],
    parallelism: int,
    shuffles: int,
    settings: FlinkSettings = FlinkSettings(),
) -> str | None:
    """Checks that a cluster can run a job.

    Args:
      managers: the TaskManagers.
      parallelism: the number of subtasks of each step of the job.
      shuffles: the number of its shuffles.
      settings: the settings of the cluster.

    Returns:
      a warning if the job may have to wait or fail; None if there is nothing to say.

    Raises:
      JobError: it certainly cannot run.
    """
    if settings.starts_task_managers or not managers:
        return None
    slots = sum(manager.slots for manager in managers)
    if slots < parallelism:
        raise JobError(
            f"--parallelism {parallelism} needs {parallelism} slots, but Flink has {slots}",
            f"lower --parallelism to {slots}, start more TaskManagers, or raise "
            "taskmanager.numberOfTaskSlots",
        )
    # At best all TaskManagers have the same number of subtasks, at worst one is filled first.
    best = math.ceil(parallelism / len(managers))
    _check_buffers(managers, needed_buffers(parallelism, best, shuffles, settings), settings)
    free = sum(manager.free_slots for manager in managers)
    if free < parallelism:
        return (
            f"--parallelism {parallelism} needs {parallelism} free slots, but other jobs leave "
            f"{free} of Flink's {slots}: the job waits for them"
        )
    for manager in managers:
        on_one = min(manager.slots, parallelism)
        needed = needed_buffers(parallelism, on_one, shuffles, settings)
        if manager.network_bytes < needed * settings.buffer_bytes:
            return (
                f"a TaskManager that gets {on_one} of {parallelism} subtasks may need "
                f"{_megabytes(needed, settings)} for network buffers, but one has "
                f"{manager.network_bytes >> 20} MB: if the job fails, raise "
                "taskmanager.memory.network.min and .max"
            )
    return None


def _check_buffers(managers: Sequence[TaskManager], needed: int, settings: FlinkSettings) -> None:
    most = max(manager.network_bytes for manager in managers)
    if most < needed * settings.buffer_bytes:
        raise JobError(
            f"the job needs at least {_megabytes(needed, settings)} for network buffers on each "
            f"TaskManager, but Flink has {most >> 20} MB there",
            f"set taskmanager.memory.network.min and .max to {_megabytes(needed, settings)} or "
            "more in Flink's configuration, lower --parallelism, or start more TaskManagers",
        )


def _megabytes(buffers: int, settings: FlinkSettings) -> str:
    return f"{math.ceil(buffers * settings.buffer_bytes / (1 << 20))} MB"
