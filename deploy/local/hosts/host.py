"""A simulated host: a group of Linux namespaces, with a network cable that can be unplugged."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence

from deploy.local.hosts import first_process
from deploy.local.places import Place
from deploy.local.processes import ClusterError, Processes, run

_SWITCH = "switch"
_BRIDGE = "bridge"

_NAMESPACES = ("--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child=KILL")
"""The namespaces of a host. Without `--kill-child`, it would outlive the program that keeps it."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000

_FOR_PEOPLE = "Debian: apt-get install util-linux iproute2"


def check_machine() -> None:
    """Checks that this machine can have hosts."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise ClusterError("--hosts needs Linux and root: it makes network namespaces")
    for name in ("unshare", "nsenter", "setpriv", "mount", "ip"):
        if shutil.which(name) is None:
            raise ClusterError(f"--hosts needs the program `{name}` ({_FOR_PEOPLE})")
    run(["unshare", "--net", "ip", "link", "add", _BRIDGE, "type", "bridge"])


class Switch:
    """The network between the hosts, in a namespace of its own, apart from the machine's."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    def start(self) -> None:
        if self._processes.is_running(_SWITCH):
            return
        command = ["unshare", "--net", "--", "sleep", "infinity"]
        self._processes.start(_SWITCH, command)
        namespace = pathlib.Path(f"/proc/{self._processes.pid(_SWITCH)}/ns/net")
        machines = os.stat("/proc/self/ns/net").st_ino
        self._processes.wait_until("the network", lambda: namespace.stat().st_ino != machines)
        self.run("ip", "link", "add", _BRIDGE, "type", "bridge")
        self.run("ip", "link", "set", _BRIDGE, "up")

    def connect(self, name: str, process: int) -> None:
        # The cable of a killed host with this name may remain for a moment.
        subprocess.run(self._command("ip", "link", "delete", name), capture_output=True)
        end = ["peer", "name", "eth0", "netns", str(process)]
        self.run("ip", "link", "add", name, "type", "veth", *end)
        self.run("ip", "link", "set", name, "master", _BRIDGE, "up")

    def run(self, *words: str) -> None:
        run(self._command(*words))

    def _command(self, *words: str) -> list[str]:
        return ["nsenter", "--target", str(self._processes.pid(_SWITCH)), "--net", "--", *words]


class Host(Place):
    """A host."""

    own = "localhost"
    bound = "0.0.0.0"
    is_shared = False

    def __init__(
        self,
        name: str,
        number: int,
        folder: pathlib.Path,
        processes: Processes,
        switch: Switch,
    ) -> None:
        super().__init__(folder / "work")
        self.name = self.address = name
        self.ip = f"10.77.0.{number}"
        self.folder = pathlib.Path(first_process.WORK)
        self.python = f"{first_process.PYTHON}/bin/python"
        self._root = folder / "root"
        self._processes = processes
        self._switch = switch

    def start(self, addresses: Sequence[str], programs: Iterable[pathlib.Path]) -> None:
        if self.is_running():
            return
        for folder in (self.kept, self._root):
            folder.mkdir(parents=True, exist_ok=True)
        (self.kept / "pid").unlink(missing_ok=True)
        shown = {*map(str, programs), sys.base_prefix}
        described = first_process.Description(
            name=self.name,
            root=str(self._root),
            work=str(self.kept),
            addresses=[*addresses],
            programs=sorted(path for path in shown if not path.startswith("/usr/")),
            python=os.path.realpath(sys.executable),
            site_packages=sysconfig.get_path("purelib"),
        )
        command = ["unshare", *_NAMESPACES, sys.executable, first_process.__file__]
        self._processes.start(self.first, [*command, json.dumps(dataclasses.asdict(described))])

    def connect(self) -> None:
        """Waits until the host has started, and connects it to the network unless it already is."""
        self._processes.wait_until(f"the host {self.name}", (self.kept / "pid").exists)
        interfaces = self.run("ls", "/sys/class/net").split()
        if "eth0" not in interfaces:
            self._switch.connect(self.name, self.pid)
            self.run("ip", "address", "add", f"{self.ip}/24", "dev", "eth0")
            self.run("ip", "link", "set", "eth0", "up")
            self.run("ip", "link", "set", "lo", "up")

    @property
    def pid(self) -> int:
        return int((self.kept / "pid").read_text())

    @property
    def site_packages(self) -> pathlib.Path:
        folder = pathlib.Path(f"/proc/{self.pid}/root{first_process.PYTHON}/lib")
        (found,) = folder.glob("python*/site-packages")
        return found

    def is_running(self) -> bool:
        return self._processes.is_running(self.first)

    def kill(self) -> None:
        """Kills the host with all its processes, as if its power had failed."""
        self._processes.kill(self.first)

    def pull_out(self) -> None:
        """Unplugs the host: packets to it and from it are lost."""
        self._switch.run("ip", "link", "set", self.name, "down")

    def plug_in(self) -> None:
        self._switch.run("ip", "link", "set", self.name, "up")

    def run(self, *words: str | pathlib.Path, variables: Mapping[str, str] | None = None) -> str:
        return run(self.command(words), self.environment(variables or {}))

    def port(self, usual: int) -> int:
        """The usual port, which is always free on a host."""
        return usual

    def command(self, words: Sequence[str | pathlib.Path]) -> list[str | pathlib.Path]:
        return ["nsenter", f"--target={self.pid}", "--all", "--root", "--wd", "--", *words]

    def program(self, process: int) -> int:
        """See `Place`: the child of nsenter, which enters the host and waits."""
        return child_of(process)

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """See `Place`. Of the user's environment, it has only Java's options."""
        java = os.path.dirname(os.path.realpath(shutil.which("java") or "/usr/bin/java"))
        paths = [f"{first_process.PYTHON}/bin", "/usr/local/bin", "/usr/bin", "/bin"]
        paths += ["/usr/sbin", "/sbin", java]
        own = {"PATH": os.pathsep.join(paths), "HOME": first_process.HOME, "LANG": "C.UTF-8"}
        kept = {name: os.environ[name] for name in ("JAVA_TOOL_OPTIONS",) if name in os.environ}
        return {**own, **kept, **variables}

    @contextlib.contextmanager
    def reached(self) -> Iterator[None]:
        """See `Place`: sockets of this thread are made in the host's network."""
        with (
            open("/proc/thread-self/ns/net", "rb") as machines,
            open(f"/proc/{self.pid}/ns/net", "rb") as own,
        ):
            _enter(own.fileno())
            try:
                yield
            finally:
                _enter(machines.fileno())

    @property
    def first(self) -> str:
        return f"host-{self.name}"


def child_of(process: int) -> int:
    """The child of a process; the process itself if it has no child, or has ended."""
    try:
        children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        children = []
    return int(children[0]) if children else process


def _enter(namespace: int) -> None:
    if _LIBC.setns(namespace, _CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "network namespace")
