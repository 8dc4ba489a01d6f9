"""A pool of Python workers beside the one of a cluster, for a job that needs other workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from command_line import PROJECT

from deploy.local.flink import FlinkCluster
from deploy.local.processes import HOST, Processes, free_ports, listening

TOLD = ("Created job with id", "the page of the job", "has answered for 60 s; ")
"""Words of the lines that are no error. The last one is the warning on a machine that is busy."""


class Pool(Protocol):
    """Starts another pool; returns the flags of a job on Flink that uses it."""

    def __call__(
        self,
        *,
        python_folder: Path | None = None,
        code: Path = PROJECT,
        environment: Mapping[str, str] = {},
    ) -> list[str]:
        """Starts it.

        Args:
          python_folder: the folder with the `python` of the workers.
          code: the folder with their beam-bleu.
          environment: their variables beside those of this process.
        """


def without(flags: list[str], name: str) -> list[str]:
    """Flags without one of them."""
    return [flag for flag in flags if not flag.startswith(f"--{name}=")]


def new_pool(flink: FlinkCluster, processes: Processes) -> Pool:
    """A function that starts pools, as one of some processes."""

    def start(
        *,
        python_folder: Path | None = None,
        code: Path = PROJECT,
        environment: Mapping[str, str] = {},
    ) -> list[str]:
        (port,) = free_ports(1)
        program = PROJECT / "deploy" / "local" / "worker_pool.py"
        command: list[str | Path] = [sys.executable, program, f"--port={port}"]
        if python_folder is not None:
            command.append(f"--path={python_folder}")
        variables = {**os.environ, **environment, "PYTHONPATH": str(code)}
        # Not in the project's folder, because Python also finds modules where it runs.
        folder = processes.folder.parent
        processes.start("workers", command, variables, cwd=folder)
        processes.wait_until("the pool of workers", lambda: listening(port))
        flags = without(flink.flags(), "environment_config")
        return [*flags, f"--environment_config={HOST}:{port}"]

    return start
