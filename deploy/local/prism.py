"""Prism, Beam's own engine, which is one process."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

from deploy.local.cluster import THIS_PYTHON, Cluster, Workers
from deploy.local.places import Places, here


class PrismCluster(Cluster):
    """Prism, with its Python workers in separate processes.

    Prism listens on all interfaces: it has no setting for that.

    Args:
      folder: where its logs go.
      program: Prism.
      places, workers, worker_environment: see `Cluster`.
    """

    runner = "PrismRunner"
    made_of = "Prism, and one pool of Python workers"

    def __init__(
        self,
        folder: pathlib.Path,
        program: pathlib.Path,
        places: Places | None = None,
        workers: Workers = THIS_PYTHON,
        worker_environment: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder, places or here(folder, 1), workers, worker_environment)
        self._program = program

    def start_engine(self) -> None:
        """See `Cluster`."""
        flags = [f"--job_port={self.job_port}", "--serve_http=false"]
        head = self.places.head
        self.start_at(head, "prism", [self._program, *flags])
        self.processes.wait_until("Prism", lambda: head.listening(self.job_port))
