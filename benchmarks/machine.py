"""The machine and the versions of the measured programs, for the reports."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
import subprocess
from collections.abc import Sequence

from benchmarks.measure import cores


def machine(distributions: Sequence[str]) -> str:
    """The machine, the Python, and the versions of these distributions and of `wc`.

    Raises:
      PackageNotFoundError: one of them is not installed.
    """
    versions = [f"{name} {importlib.metadata.version(name)}" for name in distributions]
    wc = subprocess.run(["wc", "--version"], capture_output=True, text=True, check=True).stdout
    return (
        f"{_processor()}, {len(cores())} of {os.cpu_count()} cores; "
        f"{platform.system()} {platform.release()}; "
        f"Python {platform.python_version()}, {', '.join(versions)}; {wc.splitlines()[0]}."
    )


def _processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
