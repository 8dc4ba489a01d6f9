"""A pool of Python workers beside the one of a cluster, for a job that needs other workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from command_line import PROJECT

from deploy.local.flink import FlinkCluster
from deploy.local.places import Place
from deploy.local.processes import HOST, Processes, free_port

TOLD = ("Created job with id", "the page of the job", "has answered for 60 s; ")
"""Words of the lines that are no error. The last one is the warning on a machine that is busy."""


def without(flags: list[str], name: str) -> list[str]:
    """Flags without one of them."""
    return [flag for flag in flags if not flag.startswith(f"--{name}=")]


class Pool:
    """Starts other pools, as one of some processes."""

    def __init__(self, flink: FlinkCluster, processes: Processes) -> None:
        self._flink = flink
        self._processes = processes

    def __call__(
        self, *, code: Path = PROJECT, environment: Mapping[str, str] | None = None
    ) -> list[str]:
        """Starts a pool with the beam-bleu of a folder, and with more variables than this process.

        Returns:
          The flags of a job on Flink that uses it.
        """
        port = free_port()
        program = PROJECT / "deploy" / "local" / "worker_pool.py"
        variables = {**os.environ, **(environment or {}), "PYTHONPATH": str(code)}
        # Not in the project's folder, because Python also finds modules where it runs.
        folder = self._processes.folder.parent
        command = [sys.executable, program, f"--port={port}"]
        self._processes.start("workers", command, variables, cwd=folder)
        place = Place(folder)
        self._processes.wait_until("the pool of workers", lambda: place.listening(port))
        flags = without(self._flink.flags(), "environment_config")
        return [*flags, f"--environment_config={HOST}:{port}"]
