"""Runs a service in the background: a keeper process starts it, and stops it when told to."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from deploy.local.cluster import Running, Service
from deploy.local.engines import SERVICES
from deploy.local.hosts.cluster import ClusterOnHosts, on_hosts
from deploy.local.processes import ClusterError

_PID, _STATE, _LOG = "pid", "cluster.json", "serve.log"
_STOP = (signal.SIGTERM, signal.SIGINT)


def start(folder: pathlib.Path, hosts: int | None) -> None:
    """Starts a keeper of a service, and returns when the service can be used.

    If the service is already running, nothing changes.
    """
    service = folder.name
    if is_running(folder):
        print(f"{service} is running already", file=sys.stderr)
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)  # it contains credentials
    with open(folder / _LOG, "wb") as log:
        serving = subprocess.Popen(
            [
                *(sys.executable, "-m", "deploy.local", "serve", service),
                *(["--hosts", str(hosts)] if hosts is not None else []),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    (folder / _PID).write_text(str(serving.pid))
    try:
        while not (folder / _STATE).exists():
            if serving.poll() is not None:
                said = (folder / _LOG).read_text().strip()
                raise ClusterError(f"{service} did not start; its logs are in {folder}\n{said}")
            time.sleep(0.2)
    except KeyboardInterrupt:
        serving.terminate()
        serving.wait()
        raise
    print(f"{service} is running: {state(folder)['made_of']}", file=sys.stderr)


def serve(folder: pathlib.Path, hosts: int | None) -> None:
    """Keeps a service until it gets a SIGTERM."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # while it starts
    name = folder.name
    service = SERVICES[name](folder) if hosts is None else on_hosts(name, folder, hosts)
    with service:
        # Not earlier: processes would inherit the blocked signals, and could not be stopped.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
        _write_state(folder, service)
        signal.sigwait(_STOP)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)


def _write_state(folder: pathlib.Path, service: Service) -> None:
    content = {
        "flags": service.flags(),
        "environment": service.environment(),
        "made_of": service.made_of,
        "processes": [dataclasses.asdict(process) for process in service.running()],
        "command": service.command() if isinstance(service, ClusterOnHosts) else None,
    }
    (folder / f".{_STATE}").write_text(json.dumps(content))
    os.replace(folder / f".{_STATE}", folder / _STATE)


def stop(folder: pathlib.Path) -> None:
    """Stops a service."""
    if not is_running(folder):
        print(f"{folder.name} is not running", file=sys.stderr)
        return
    os.kill(int((folder / _PID).read_text()), signal.SIGTERM)
    while is_running(folder):
        time.sleep(0.1)
    (folder / _STATE).unlink(missing_ok=True)


def status(folders: Sequence[pathlib.Path]) -> bool:
    """Prints the processes of running services; returns whether all processes are alive."""
    is_whole = True
    for folder in filter(is_running, folders):
        found = state(folder)
        print(f"{folder.name} is running: {found['made_of']}")
        for process in (Running(**each) for each in found["processes"]):
            runs = bool(_words(process.pid))
            is_whole &= runs
            row = f"{process.place:12}  {process.address:11}  {process.pid:>7}  {process.name}"
            print(row if runs else f"{row}  HAS ENDED")
    return is_whole


def is_running(folder: pathlib.Path) -> bool:
    """Whether the keeper of a service is running."""
    if not (folder / _PID).exists():
        return False
    # By its command, because another program may have the process number now.
    return "deploy.local serve" in _words(int((folder / _PID).read_text()))


def _words(process: int) -> str:
    """The command of a process; "" if it has ended."""
    done = subprocess.run(
        ["ps", "-o", "stat=,args=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return "" if done.stdout.startswith("Z") else done.stdout


def state(folder: pathlib.Path) -> dict[str, Any]:
    """What the keeper has written about a running service."""
    try:
        found: dict[str, Any] = json.loads((folder / _STATE).read_text())
        return found
    except FileNotFoundError:
        raise ClusterError(
            f"{folder.name} is not running: ./run.sh cluster start {folder.name}"
        ) from None
