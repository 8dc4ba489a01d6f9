"""What all clusters have in common: start and stop, flags, pools of Python workers."""

from __future__ import annotations

import abc
import dataclasses
import pathlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TypeVar

from deploy.local.parts import JobServer
from deploy.local.places import Place, Places
from deploy.local.processes import Processes

PROJECT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Workers:
    """The programs of Python workers: a Python with Beam (this one also has the project)."""

    python: str = sys.executable
    boot: pathlib.Path | None = None
    """Beam's boot program, if workers must install packages that are staged with a job."""


THIS_PYTHON = Workers()


@dataclasses.dataclass(frozen=True)
class Setup:
    """What is needed to start an engine."""

    folder: pathlib.Path
    places: Places
    workers: Workers = THIS_PYTHON
    worker_environment: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Running:
    """A process of a cluster."""

    name: str
    place: str
    address: str
    pid: int


_Self = TypeVar("_Self", bound="Service")


class Service(abc.ABC):
    """Processes on this machine that jobs use.

    A context manager: its end stops all processes that it has started.
    """

    made_of: str

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.processes = Processes(folder / "log")
        self._places: dict[str, Place] = {}

    @abc.abstractmethod
    def start(self) -> None:
        """Starts the processes that are not running, and waits until all can be used."""

    def start_at(
        self,
        place: Place,
        name: str,
        words: Sequence[str | pathlib.Path],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Starts a process at a place."""
        # In a folder of its own, because Python imports modules from its current folder.
        place.kept.mkdir(parents=True, exist_ok=True)
        self._places[name] = place
        self.processes.start(
            name, place.command(words), env=place.environment(environment or {}), cwd=place.kept
        )

    def mend(self) -> None:
        self.processes.forget_ended()
        self.start()

    def stop(self) -> None:
        self.processes.stop()

    def running(self) -> list[Running]:
        machine = Place(self.folder)
        places = {name: self._places.get(name, machine) for name in self.processes.pids()}
        return [
            Running(name, places[name].name, places[name].ip, places[name].program(pid))
            for name, pid in self.processes.pids().items()
        ]

    @abc.abstractmethod
    def flags(self) -> list[str]:
        """The flags with which a job uses this service."""

    def environment(self) -> dict[str, str]:
        """The variables with which other programs use this service."""
        return {}

    def __enter__(self: _Self) -> _Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


class Cluster(Service):
    """An engine's processes, and pools of Beam's Python workers."""

    runner: str
    programs: Sequence[pathlib.Path]
    """Files and folders of its programs, which hosts need at the same paths."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup.folder)
        self.places = setup.places
        self.pool_port, self.job_port = self.places.head.port(50000), self.places.head.port(8099)
        self._workers = setup.workers
        self.worker_environment = setup.worker_environment

    @abc.abstractmethod
    def start_engine(self) -> None:
        """Starts the engine, and waits until it accepts jobs at `job_port`."""

    def flags(self) -> list[str]:
        return [
            f"--runner={self.runner}",
            f"--job_endpoint={self.places.head.address}:{self.job_port}",
            "--environment_type=EXTERNAL",
            f"--environment_config={self.places.head.own}:{self.pool_port}",
        ]

    def start(self) -> None:
        self.start_workers()
        self.start_engine()

    def workers(self) -> dict[int, float]:
        """The CPU seconds of the Python workers that run now, by process number.

        On hosts, this includes the pools.
        """
        pools = {str(self.processes.pid(_pool_name(place))) for place in self.places.workers}
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,pgid=,stat=,cputimes="],
            capture_output=True,
            text=True,
            check=True,
        )
        rows = [line.split() for line in listed.stdout.splitlines()]
        return {
            int(pid): float(seconds)
            for pid, group, state, seconds in rows
            if group in pools and pid not in pools and not state.startswith("Z")
        }

    def pools(self) -> str:
        if self.places.head.is_shared:
            return "one pool of Python workers"
        return "a pool of Python workers beside each of them"

    def start_workers(self) -> None:
        for place in dict.fromkeys(self.places.workers):
            self.start_at(place, _pool_name(place), self._pool(place), self.worker_environment)
        self.processes.wait_until(
            "the pool of workers",
            lambda: all(place.listening(self.pool_port) for place in self.places.workers),
        )

    def _pool(self, place: Place) -> list[str | pathlib.Path]:
        if not place.is_shared:
            stock = "apache_beam.runners.worker.worker_pool_main"
            return [place.python, "-m", stock, f"--service_port={self.pool_port}"]
        program = pathlib.Path(__file__).with_name("worker_pool.py")
        command: list[str | pathlib.Path] = [self._workers.python, program]
        command.append(f"--port={self.pool_port}")
        return [*command, f"--boot={self._workers.boot}"] if self._workers.boot else command


def _pool_name(place: Place) -> str:
    """The name of a pool's process."""
    return "workers" if place.is_shared else f"workers-{place.name}"


class JobServerCluster(Cluster):
    """An engine written in Java, to which Beam's job server sends jobs."""

    def __init__(self, setup: Setup, home: pathlib.Path, job_server: JobServer) -> None:
        super().__init__(setup)
        self.home = home
        self.job_server = job_server
        self.programs = [home, job_server.jar]
        self._artifact_port = self.places.head.port(8098)
        self._expansion_port = self.places.head.port(8097)

    def run_job_server(self, java_options: Sequence[str], flags: Sequence[str]) -> None:
        head = self.places.head
        command: list[str | pathlib.Path] = ["java", *java_options, "-jar", self.job_server.jar]
        command += [*flags, "--artifacts-dir", head.folder / "artifacts"]
        command += [f"--job-host={head.address}", f"--job-port={self.job_port}"]
        command += [f"--artifact-port={self._artifact_port}"]
        command += [f"--expansion-port={self._expansion_port}"]
        self.start_at(head, "jobserver", command)
        self.processes.wait_until("Beam's job server", lambda: head.listening(self.job_port))
