"""Runs a Flink cluster: a JobManager, TaskManagers, and Beam's job server for Flink."""

from __future__ import annotations

import json
import pathlib
import re
import secrets
import shutil
import urllib.request
from typing import Any

from deploy.local.cluster import JobServerCluster, Setup
from deploy.local.parts import JobServer
from deploy.local.places import Place


class FlinkCluster(JobServerCluster):
    """A Flink cluster. Beam's parts (job server, Fn API) listen on all interfaces.

    A job is cut into as many subtasks as there are TaskManagers.
    """

    runner = "FlinkRunner"

    def __init__(self, setup: Setup, home: pathlib.Path, job_server: JobServer) -> None:
        super().__init__(setup, home, job_server)
        places = self.places
        self.attempts = 5
        self._task_managers = {
            f"taskmanager-{number}": place for number, place in enumerate(places.workers, 1)
        }
        self.task_manager_names = list(self._task_managers)
        self._ids: dict[str, str] = {}
        self._rpc_port, self._rest_port = places.head.port(6123), places.head.port(8081)
        self.rest = f"http://{places.head.address}:{self._rest_port}"
        self.made_of = (
            f"Flink {job_server.engine}: a JobManager ({self.rest}) and {len(places.workers)} "
            f"TaskManagers, the job server of Beam {job_server.beam}, and {self.pools()}"
        )
        # The Java modules that Flink opens for itself, because Beam's job server needs them, too.
        usual = (home / "conf" / "config.yaml").read_text()
        self._java_options = re.findall(r"--add-(?:exports|opens)=\S+", usual)

    def flags(self) -> list[str]:
        return [
            *super().flags(),
            f"--flink_master={self.rest}",  # where the command watches the job
            f"--parallelism={len(self.task_manager_names)}",
        ]

    def start_engine(self) -> None:
        for place in {self.places.head, *self.places.workers}:
            self._configure(place)
        head = self.places.head
        self._start(head, "jobmanager", "jobmanager.sh")
        self.processes.wait_until("Flink's JobManager", lambda: head.listening(self._rest_port))
        for name in self.task_manager_names:
            self._start_task_manager(name)
        self.processes.wait_until("Flink's TaskManagers", self._is_complete)
        conf = str(head.folder / "conf")
        self.run_job_server(
            self._java_options, ["--flink-master", self.rest, "--flink-conf-dir", conf]
        )

    def _start_task_manager(self, name: str) -> None:
        if not self.processes.is_running(name):
            # Flink still lists one that has ended for some seconds, so the next needs a new name.
            self._ids[name] = f"{name}-{secrets.token_hex(2)}"
        resource = f"-Dtaskmanager.resource-id={self._ids[name]}"
        self._start(self._task_managers[name], name, "taskmanager.sh", resource)

    def ask(self, path: str) -> Any:
        return json.loads(self._ask(urllib.request.Request(self._url(path))))

    def task_managers(self) -> list[dict[str, Any]]:
        managers: list[dict[str, Any]] = self.ask("/taskmanagers")["taskmanagers"]
        return managers

    def newest_job(self) -> dict[str, Any] | None:
        """Flink's description of the job that was submitted last."""
        jobs = self.ask("/jobs/overview")["jobs"]
        if not jobs:
            return None
        job: dict[str, Any] = self.ask(
            "/jobs/" + max(jobs, key=lambda job: job["start-time"])["jid"]
        )
        return job

    def cancel(self, job: str) -> None:
        self._ask(urllib.request.Request(self._url(f"/jobs/{job}?mode=cancel"), method="PATCH"))

    def _url(self, path: str) -> str:
        return f"http://{self.places.head.ip}:{self._rest_port}{path}"

    def _ask(self, request: urllib.request.Request) -> bytes:
        with self.places.head.reached(), urllib.request.urlopen(request, timeout=30) as answer:
            content: bytes = answer.read()
            return content

    def _is_complete(self) -> bool:
        try:
            known = {manager["id"] for manager in self.task_managers()}
        except OSError:  # Flink listens before it answers
            return False
        return known >= set(self._ids.values())

    def _start(self, place: Place, name: str, script: str, *settings: str) -> None:
        self.start_at(
            place,
            name,
            ["bash", self.home / "bin" / script, "start-foreground", *settings],
            {"FLINK_CONF_DIR": str(place.folder / "conf"), "FLINK_LOG_DIR": str(place.folder)},
        )

    def _configure(self, place: Place) -> None:
        conf = place.kept / "conf"
        shutil.copytree(self.home / "conf", conf, dirs_exist_ok=True)
        head = self.places.head.address
        settings = {
            "env.java.opts.all": " ".join(self._java_options),
            "jobmanager.bind-host": self.places.head.bound,
            "jobmanager.rpc.address": head,
            "jobmanager.rpc.port": self._rpc_port,
            "jobmanager.memory.process.size": "1024m",
            "rest.address": head,
            "rest.bind-address": self.places.head.bound,
            "rest.port": self._rest_port,
            "taskmanager.bind-host": place.bound,
            "taskmanager.host": place.address,
            "taskmanager.memory.process.size": "1536m",
            # Two, so that one TaskManager can do all the work if the other is lost.
            "taskmanager.numberOfTaskSlots": 2,
            # Without this, a job would fill one TaskManager first.
            "taskmanager.load-balance.mode": "SLOTS",
            "heartbeat.interval": 1000,
            "heartbeat.timeout": 10000,
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": self.attempts,
            "restart-strategy.fixed-delay.delay": "3 s",
        }
        text = "".join(f"{key}: {value}\n" for key, value in settings.items())
        (conf / "config.yaml").write_text(text)
