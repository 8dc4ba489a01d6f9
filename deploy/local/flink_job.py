"""Runs the command on a Flink cluster of this machine, and watches it."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from deploy.local.cluster import PROJECT
from deploy.local.flink import FlinkCluster

SCORING = "Count matches"
"""A part of the name of the stage that reads lines and counts their matches."""


class FlinkJob:
    """The command, scoring files on a cluster.

    Args:
      cluster: the cluster.
      arguments: the arguments of beam-bleu that name the files.
      output: the folder that gets scores.json.

    Attributes:
      process: the submitting process.
      started: when it started.
    """

    def __init__(
        self,
        cluster: FlinkCluster,
        arguments: Sequence[str],
        output: pathlib.Path,
    ) -> None:
        self._cluster = cluster
        self._seen: dict[str, Any] = {}
        command = [sys.executable, "-m", "beam_bleu.pipeline", *arguments, f"--output={output}"]
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [*command, *cluster.flags()],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def stop(self) -> None:
        """Stops the submitting process and the processes that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    @property
    def seconds(self) -> float:
        """Seconds since the job was submitted."""
        return time.monotonic() - self.started

    def look(self) -> dict[str, Any]:
        """Flink's description of the job.

        If Flink does not answer, or does not know the job, this is its last description with
        another state.
        """
        try:
            job = self._cluster.newest_job()
        except OSError:
            return {**self._seen, "state": "unreachable"}
        if job is None:
            return {**self._seen, "state": "unknown"}
        self._seen = job
        return job

    def stage(self, part: str) -> dict[str, Any] | None:
        """The stage of the job whose name has this part."""
        vertices = self.look().get("vertices", [])
        return next((vertex for vertex in vertices if part in vertex["name"]), None)

    def wait_for(self, part: str) -> None:
        """Waits until a stage runs.

        Raises:
          RuntimeError: the job ended before.
        """
        while (self.stage(part) or {}).get("status") != "RUNNING":
            if self.process.poll() is not None:
                raise RuntimeError(f"the job ended before {part}: {self.process.communicate()}")
            time.sleep(0.2)
