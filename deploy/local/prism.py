"""Prism, Beam's own engine, which is one process."""

from __future__ import annotations

import pathlib

from deploy.local.cluster import Cluster, Setup


class PrismCluster(Cluster):
    """Prism, with its Python workers in separate processes.

    Prism listens on all interfaces: it has no setting for that.
    """

    runner = "PrismRunner"
    made_of = "Prism, and one pool of Python workers"

    def __init__(self, setup: Setup, program: pathlib.Path) -> None:
        super().__init__(setup)
        self.programs = [program]

    def start_engine(self) -> None:
        flags = [f"--job_port={self.job_port}", "--serve_http=false"]
        head = self.places.head
        self.start_at(head, "prism", [*self.programs, *flags])
        self.processes.wait_until("Prism", lambda: head.listening(self.job_port))
