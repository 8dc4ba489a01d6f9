"""Clusters of engines written in Java. Beam's job server sends Beam's jobs to them."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from deploy.local.cluster import Cluster, Workers
from deploy.local.parts import JobServer
from deploy.local.processes import HOST, free_ports, listening


class JobServerCluster(Cluster):
    """An engine with Beam's job server.

    Args:
      folder: where its configuration, its work and its logs go.
      home: where the engine's programs are.
      job_server: Beam's job server for this engine.
      workers: see `Cluster`.

    Attributes:
      home: where the engine's programs are.
      job_server: Beam's job server.
    """

    def __init__(
        self, folder: pathlib.Path, home: pathlib.Path, job_server: JobServer, workers: Workers
    ) -> None:
        super().__init__(folder, workers)
        self.home = home
        self.job_server = job_server
        self._artifact_port, self._expansion_port = free_ports(2)

    def run_job_server(self, java_options: Sequence[str], flags: Sequence[str]) -> None:
        """Starts the job server and waits until it takes jobs.

        Args:
          java_options: Java's.
          flags: the flags that name the engine.
        """
        artifacts = self.folder / "artifacts"
        artifacts.mkdir(parents=True, exist_ok=True)
        command: list[str | pathlib.Path] = ["java", *java_options, "-jar", self.job_server.jar]
        command += [*flags, "--artifacts-dir", artifacts, f"--job-host={HOST}"]
        command += [f"--job-port={self.job_port}", f"--artifact-port={self._artifact_port}"]
        command += [f"--expansion-port={self._expansion_port}"]
        self.processes.start("jobserver", command)
        self.processes.wait_until("Beam's job server", lambda: listening(self.job_port))
