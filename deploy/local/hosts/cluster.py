"""Runs an engine and an object store on simulated hosts (`./run.sh cluster ... --hosts N`)."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
from collections.abc import Sequence

from deploy.local import parts
from deploy.local.cluster import Cluster, Running, Service, Setup
from deploy.local.engines import ENGINES
from deploy.local.hosts.host import Host, Switch, check_machine
from deploy.local.hosts.installing import copy, install, keep, make_wheel
from deploy.local.object_stores import S3Server
from deploy.local.places import Places
from deploy.local.processes import ClusterError

_FIRST_WORKER = 11
_HEAD, _STORAGE = 1, 101
_MOST_WORKERS = _STORAGE - _FIRST_WORKER


class Hosts(Service):
    """Hosts in a network: a head, workers, and a storage host."""

    def __init__(self, folder: pathlib.Path, workers: int) -> None:
        super().__init__(folder)
        self._switch = Switch(self.processes)
        self.programs: Sequence[pathlib.Path] = ()

        def host(name: str, number: int) -> Host:
            return Host(name, number, folder / name, self.processes, self._switch)

        self.head = host("head", _HEAD)
        self.workers = [host(f"worker-{n + 1}", _FIRST_WORKER + n) for n in range(workers)]
        self.storage = host("storage", _STORAGE)

    @property
    def all(self) -> list[Host]:
        return [self.head, *self.workers, self.storage]

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._switch.start()
        new = [host for host in self.all if not host.is_running()]
        addresses = ["127.0.0.1 localhost", "::1 localhost"]
        addresses += [f"{host.ip} {host.name}" for host in self.all]
        for host in new:
            host.start(addresses, self.programs)
        for host in self.all:
            host.connect()
        installed = self.folder / "installed"
        if not installed.exists():
            install(self.head, make_wheel(self.folder))
            keep(self.head, installed)
        for host in new:
            copy(installed, host)

    def flags(self) -> list[str]:
        return []

    def running(self) -> list[Running]:
        firsts = {host.first: host for host in self.all}
        return [
            dataclasses.replace(process, place=host.name, address=host.ip, pid=host.pid)
            if (host := firsts.get(process.name))
            else process
            for process in super().running()
        ]


class ClusterOnHosts(Service):
    """An engine on hosts, and an object store on another one."""

    def __init__(
        self, folder: pathlib.Path, hosts: Hosts, engine: Cluster, store: S3Server
    ) -> None:
        super().__init__(folder)
        self.hosts = hosts
        self.engine = engine
        self.store = store
        self.made_of = f"{engine.made_of}; on the host storage {store.made_of}"

    def start(self) -> None:
        for service in self._services:
            service.start()

    def mend(self) -> None:
        for service in self._services:
            service.mend()

    def stop(self) -> None:
        for service in reversed(self._services):
            service.stop()

    def flags(self) -> list[str]:
        return self.engine.flags()

    def environment(self) -> dict[str, str]:
        return self.store.environment()

    def running(self) -> list[Running]:
        return [process for service in self._services for process in service.running()]

    def command(self, *words: str | pathlib.Path) -> list[str]:
        """The command that runs another one on the host head, with all that a job needs."""
        variables = self.hosts.head.environment(self.environment())
        pairs = [f"{name}={value}" for name, value in variables.items()]
        entered = self.hosts.head.command(["env", "-i", *pairs, *words])
        return [str(word) for word in entered]

    @property
    def _services(self) -> list[Service]:
        return [self.hosts, self.store, self.engine]


def on_hosts(engine: str, folder: pathlib.Path, count: int) -> ClusterOnHosts:
    """An engine on hosts, not started. Downloads the parts that are missing.

    Each worker host has a worker of the engine, and a pool. Prism and its pool are on head, because
    it tells its Python workers that it is at localhost.
    """
    check_machine()
    least, most = (1, 1) if engine == "prism" else (2, _MOST_WORKERS)
    if engine not in ENGINES:
        raise ClusterError(f"--hosts is for {', '.join(ENGINES)}")
    if not least <= count <= most:
        raise ClusterError(f"--hosts of {engine} must be {least} to {most}, got {count}")
    hosts = Hosts(folder, count - 1)
    store = S3Server(folder / "store", parts.versitygw(), hosts.storage)
    places = Places(hosts.head, hosts.workers or [hosts.head])
    setup = Setup(folder / "engine", places, worker_environment=store.environment())
    made = ENGINES[engine](setup)
    java = shutil.which("java")
    homes = [pathlib.Path(java).resolve().parents[1]] if java else []
    hosts.programs = [*made.programs, store.program, *homes]
    return ClusterOnHosts(folder, hosts, made, store)
