"""What this process may use of the machine: cores, memory, and the folder for temporary files."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Iterator

from beam_bleu.pipeline.doctor.installation_facts import Check, Fact
from beam_bleu.transforms.wiring.thread_pool import available_threads

_SECTION = "machine"

SYSTEM = pathlib.Path("/")
"""The folder in which Linux shows /proc and /sys."""


def _cores() -> Iterator[Fact]:
    usable, all_cores = available_threads(), os.cpu_count() or 1
    text = f"{usable} of {all_cores}" if usable != all_cores else str(usable)
    limit = _core_limit()
    if limit is not None and limit < usable:
        threads = max(1, int(limit))
        yield Fact(
            _SECTION,
            "cores",
            "ok",
            f"{text}, but a control group limits this process to the time of {limit:g}",
            f"--threads {threads} uses no more threads than that",
        )
    else:
        yield Fact(_SECTION, "cores", "ok", text)


def _memory() -> Iterator[Fact]:
    numbers = _in_proc_meminfo()
    total = numbers.get("MemTotal") or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    text = gigabytes(total)
    if "MemAvailable" in numbers:
        text += f", {gigabytes(numbers['MemAvailable'])} of it available"
    limit = _memory_limit()
    if limit is not None and limit < total:
        text += f"; a control group limits this process to {gigabytes(limit)}"
    yield Fact(_SECTION, "memory", "ok", text)


def _temporary_files() -> Iterator[Fact]:
    try:
        folder = tempfile.gettempdir()
    except FileNotFoundError as error:
        remedy = "set TMPDIR to a folder that you can write to"
        yield Fact(_SECTION, "temporary", "FAIL", str(error.strerror), remedy)
        return
    free = gigabytes(shutil.disk_usage(folder).free)
    yield Fact(_SECTION, "temporary", "ok", f"{folder}, {free} free")


def gigabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e9:.1f} GB"


def _in_proc_meminfo() -> dict[str, int]:
    try:
        text = (SYSTEM / "proc/meminfo").read_text()
    except OSError:  # not Linux
        return {}
    return {name: int(size) * 1024 for name, size in re.findall(r"^(\w+): +(\d+) kB$", text, re.M)}


def _core_limit() -> float | None:
    """The cores whose time a control group grants, if there is a limit."""
    limits = []
    for folder in _control_groups("cpu"):
        quota, _, period = _content(folder / "cpu.max").partition(" ")  # of version 2
        if not quota:
            quota = _content(folder / "cpu.cfs_quota_us")  # of version 1
            period = _content(folder / "cpu.cfs_period_us")
        if quota.isdecimal() and period.isdecimal():
            limits.append(int(quota) / int(period))
    return min(limits, default=None)


def _memory_limit() -> int | None:
    """The bytes that a control group grants, if there is a limit."""
    names = ("memory.max", "memory.limit_in_bytes")  # of version 2 and 1
    folders = _control_groups("memory")
    limits = [_content(folder / name) for folder in folders for name in names]
    return min((int(limit) for limit in limits if limit.isdecimal()), default=None)


def _control_groups(controller: str) -> Iterator[pathlib.Path]:
    """The folders of this process's control groups, and of those that contain them."""
    for line in _content(SYSTEM / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            top = SYSTEM / "sys/fs/cgroup"
        elif controller in controllers.split(","):
            top = SYSTEM / "sys/fs/cgroup" / controllers
        else:
            continue
        folder = top / path.lstrip("/")
        yield folder
        yield from (parent for parent in folder.parents if parent.is_relative_to(top))


def _content(path: pathlib.Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


CHECKS = (
    Check(_SECTION, "cores", _cores),
    Check(_SECTION, "memory", _memory, needed=False),
    Check(_SECTION, "temporary", _temporary_files),
)
