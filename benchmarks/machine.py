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


_STORE_EXTRAS = {"gcp": "google-cloud-storage"}
"""A library of each extra whose libraries Beam imports at its start."""


def store_extras() -> list[str]:
    """The extras for object stores that are installed. They make the command start later."""
    return [extra for extra, name in _STORE_EXTRAS.items() if _is_installed(name)]


def shown_extras() -> str:
    """Whether this is a plain installation, for the reports."""
    extras = store_extras()
    return f"with the extras {', '.join(extras)}" if extras else "plain installation"


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _processor() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
