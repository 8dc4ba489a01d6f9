"""Clusters of engines written in Java. Beam's job server sends Beam's jobs to them."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence

from deploy.local.cluster import Cluster, Workers
from deploy.local.parts import JobServer
from deploy.local.places import Places


class JobServerCluster(Cluster):
    """An engine with Beam's job server.

    Args:
      folder: where its configuration, its work and its logs go.
      home: where the engine's programs are.
      job_server: Beam's job server for this engine.
      places, workers, worker_environment: see `Cluster`.

    Attributes:
      home: where the engine's programs are.
      job_server: Beam's job server.
    """

    def __init__(
        self,
        folder: pathlib.Path,
        home: pathlib.Path,
        job_server: JobServer,
        places: Places,
        workers: Workers,
        worker_environment: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder, places, workers, worker_environment)
        self.home = home
        self.job_server = job_server
        self._artifact_port, self._expansion_port = places.head.port(8098), places.head.port(8097)

    def run_job_server(self, java_options: Sequence[str], flags: Sequence[str]) -> None:
        """Starts the job server and waits until it takes jobs.

        Args:
          java_options: Java's.
          flags: the flags that name the engine.
        """
        head = self.places.head
        command: list[str | pathlib.Path] = ["java", *java_options, "-jar", self.job_server.jar]
        command += [*flags, "--artifacts-dir", head.folder / "artifacts"]
        command += [f"--job-host={head.address}", f"--job-port={self.job_port}"]
        command += [f"--artifact-port={self._artifact_port}"]
        command += [f"--expansion-port={self._expansion_port}"]
        self.start_at(head, "jobserver", command)
        self.processes.wait_until("Beam's job server", lambda: head.listening(self.job_port))
