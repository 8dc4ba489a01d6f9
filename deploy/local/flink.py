"""A Flink cluster: a JobManager, TaskManagers, and Beam's job server for it."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import urllib.request
from typing import Any

from deploy.local.cluster import THIS_PYTHON, Workers
from deploy.local.job_server import JobServerCluster
from deploy.local.parts import JobServer
from deploy.local.processes import HOST, free_ports, listening


class FlinkCluster(JobServerCluster):
    """Flink on loopback. Beam's parts (job server, Fn API) listen on all interfaces.

    Args:
      folder, home, job_server, workers: see `JobServerCluster`.
      task_managers: the number of TaskManagers; a job is cut into the same number of subtasks.

    Attributes:
      attempts: how often Flink starts a job again after a fault; read when the cluster starts.
      rest: the URL of its REST API and console.
      task_manager_names: the names of the TaskManagers' processes.
    """

    runner = "FlinkRunner"

    def __init__(
        self,
        folder: pathlib.Path,
        home: pathlib.Path,
        job_server: JobServer,
        workers: Workers = THIS_PYTHON,
        task_managers: int = 2,
    ) -> None:
        super().__init__(folder, home, job_server, workers)
        self.attempts = 5
        self.task_manager_names = [f"taskmanager-{i}" for i in range(1, task_managers + 1)]
        self._rpc_port, self._rest_port = free_ports(2)
        self.rest = f"http://{HOST}:{self._rest_port}"
        self.made_of = (
            f"Flink {job_server.engine}: a JobManager ({self.rest}) and {task_managers} "
            f"TaskManagers, the job server of Beam {job_server.beam}, and one pool of Python "
            "workers"
        )
        # The Java modules that Flink itself opens. Beam's job server needs them, too.
        usual = (home / "conf" / "config.yaml").read_text()
        self._java_options = re.findall(r"--add-(?:exports|opens)=\S+", usual)

    def flags(self) -> list[str]:
        """See `Cluster`."""
        return [
            *super().flags(),
            f"--flink_master={self.rest}",  # the command looks there at the job
            f"--parallelism={len(self.task_manager_names)}",
        ]

    def start_engine(self) -> None:
        """See `Cluster`."""
        self._configure()
        self.start_job_manager()
        for name in self.task_manager_names:
            self.start_task_manager(name)
        self.processes.wait_until("Flink's TaskManagers", self._is_complete)
        conf = str(self.folder / "conf")
        self.run_job_server(
            self._java_options, ["--flink-master", self.rest, "--flink-conf-dir", conf]
        )

    def start_job_manager(self) -> None:
        """Starts the JobManager and waits for its REST API."""
        self._start("jobmanager", "jobmanager.sh")
        self.processes.wait_until("Flink's JobManager", lambda: listening(self._rest_port))

    def start_task_manager(self, name: str) -> None:
        """Starts a TaskManager."""
        self._start(name, "taskmanager.sh")

    def ask(self, path: str) -> Any:
        """The answer of Flink's REST API."""
        with urllib.request.urlopen(f"{self.rest}{path}", timeout=30) as answer:
            return json.load(answer)

    def task_managers(self) -> list[dict[str, Any]]:
        """The TaskManagers that the JobManager knows."""
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

    def failures(self, job: str) -> list[str]:
        """What made a job fail, each time; Flink's number of restarts is less reliable."""
        history = self.ask(f"/jobs/{job}/exceptions")["exceptionHistory"]["entries"]
        return [entry["exceptionName"] for entry in history]

    def cancel(self, job: str) -> None:
        """Cancels a job."""
        request = urllib.request.Request(f"{self.rest}/jobs/{job}?mode=cancel", method="PATCH")
        urllib.request.urlopen(request, timeout=30).close()

    def _is_complete(self) -> bool:
        try:
            return len(self.task_managers()) == len(self.task_manager_names)
        except OSError:  # it listens before it answers
            return False

    def _start(self, name: str, script: str) -> None:
        self.processes.start(
            name,
            ["bash", self.home / "bin" / script, "start-foreground"],
            {"FLINK_CONF_DIR": str(self.folder / "conf"), "FLINK_LOG_DIR": str(self.folder)},
        )

    def _configure(self) -> None:
        conf = self.folder / "conf"
        shutil.copytree(self.home / "conf", conf, dirs_exist_ok=True)
        settings = {
            "env.java.opts.all": " ".join(self._java_options),
            "jobmanager.bind-host": HOST,
            "jobmanager.rpc.address": HOST,
            "jobmanager.rpc.port": self._rpc_port,
            "jobmanager.memory.process.size": "1024m",
            "rest.address": HOST,
            "rest.bind-address": HOST,
            "rest.port": self._rest_port,
            "taskmanager.bind-host": HOST,
            "taskmanager.host": HOST,
            "taskmanager.memory.process.size": "1536m",
            # Two, so that one TaskManager can do all the work if the other one is lost.
            "taskmanager.numberOfTaskSlots": 2,
            # Without this a job would fill one TaskManager first.
            "taskmanager.load-balance.mode": "SLOTS",
            "heartbeat.interval": 1000,
            "heartbeat.timeout": 10000,
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": self.attempts,
            "restart-strategy.fixed-delay.delay": "3 s",
        }
        text = "".join(f"{key}: {value}\n" for key, value in settings.items())
        (conf / "config.yaml").write_text(text)
