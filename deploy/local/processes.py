"""Starts, awaits and stops groups of processes, and finds free ports for them."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO

HOST = "127.0.0.1"

_PATIENCE = 120.0
"""Seconds that a process may take to start, because a JVM is slow on a machine busy with tests."""

_GRACE = 10.0
"""Seconds that a process may take to stop before it is killed."""

_LIBC = ctypes.CDLL(None)  # loaded now, because a forked process must not load anything
_PR_SET_PDEATHSIG = 1


class ClusterError(Exception):
    """A process did not start, or has ended. The message names it, and has the end of its log."""


def run(command: Sequence[object], environment: Mapping[str, str] | None = None) -> str:
    """Runs a command to its end; returns its output."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        said = " / ".join(line.strip() for line in done.stdout.strip().splitlines()[-5:])
        raise ClusterError(f"`{' '.join(words)}` failed: {said}")
    return done.stdout


_PORTS = range(20_000, 32_000)
"""Linux and macOS give higher ports to outgoing connections, so these take none of ours."""

_RESERVED: list[BinaryIO] = []
"""Locked files, one for each port that this process has taken, open until it ends."""


def free_port() -> int:
    """A port of loopback on which no process listens, and that this function gives to nobody else.

    Until the server is started, only a lock reserves the port.
    """
    folder = pathlib.Path(tempfile.gettempdir(), f"beam-bleu-ports-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        file = open(folder / str(port), "ab")  # noqa: SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as server:
                # As servers do, so that closed connections of an earlier server do not matter.
                server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                server.bind((HOST, port))
        except OSError:  # another process has it
            file.close()
        else:
            _RESERVED.append(file)
            return port
    raise ClusterError(f"no port of {_PORTS} is free")


class Processes:
    """Named processes, each the leader of its own process group, with its own log file."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self._started: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self,
        name: str,
        command: Sequence[str | pathlib.Path],
        env: Mapping[str, str] | None = None,
        cwd: pathlib.Path | None = None,
    ) -> None:
        if self.is_running(name):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.log(name), "ab") as log:
            self._started[name] = subprocess.Popen(
                [str(word) for word in command],
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )

    def log(self, name: str) -> pathlib.Path:
        return self.folder / f"{name}.log"

    def pid(self, name: str) -> int:
        return self._started[name].pid

    def pids(self) -> dict[str, int]:
        return {name: process.pid for name, process in self._started.items()}

    def is_running(self, name: str) -> bool:
        """Whether a process has been started and has not ended."""
        return name in self._started and self._started[name].poll() is None

    def forget_ended(self) -> None:
        self._started = {
            name: process for name, process in self._started.items() if self.is_running(name)
        }

    def wait_until(self, what: str, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE
        while not is_so():
            for name, process in self._started.items():
                if process.poll() is not None:
                    raise ClusterError(
                        f"{name} ended with code {process.returncode} before {what} was ready: "
                        + self._end_of_log(name)
                    )
            if time.monotonic() > end:
                last = next(reversed(self._started))
                raise ClusterError(
                    f"{what} was not ready after {_PATIENCE:.0f} s; the end of {last}'s log: "
                    + self._end_of_log(last)
                )
            time.sleep(0.1)

    def _end_of_log(self, name: str) -> str:
        lines = self.log(name).read_text(errors="replace").splitlines()
        return " / ".join(line.strip() for line in lines[-5:]) or "(its log is empty)"

    def kill(self, name: str) -> None:
        """Kills a process (kill -9), as if its machine had failed."""
        process = self._started.pop(name)
        _signal_group(process, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """Stops all processes, the last one first, and the processes that they have started."""
        for process in reversed(self._started.values()):
            # One by one: a process must not notice that one started before it has ended.
            _signal_group(process, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
            _signal_group(process, signal.SIGKILL)
            process.wait()
        self._started.clear()


def _end_with_parent() -> None:
    """Makes Linux kill this process when the thread that started it ends, even after kill -9."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
