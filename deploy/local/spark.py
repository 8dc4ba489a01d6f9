"""A Spark cluster: a master, two workers, and Beam's job server for it."""

from __future__ import annotations

import pathlib

from deploy.local.cluster import THIS_PYTHON, Cluster, Workers
from deploy.local.parts import JobServer
from deploy.local.processes import HOST, free_ports, listening

_WORKERS = ("worker-1", "worker-2")

_OPENED = ("java.lang", "java.nio", "java.util", "java.util.concurrent", "java.net", "java.io")
_JAVA_OPTIONS = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED] + [
    "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
]
"""What Spark 3 opens in Java's modules, when it is not started by its own scripts."""


class SparkCluster(Cluster):
    """Spark on loopback, stand-alone mode.

    Args:
      folder: where its work and its logs go.
      home: Spark's bin/ and jars/.
      job_server: Beam's job server for this Spark.
      workers: see `Cluster`.

    Attributes:
      console: the URL of the master's console; at its /json/ a program can read it.
    """

    engine = "spark"
    runner = "SparkRunner"

    def __init__(
        self,
        folder: pathlib.Path,
        home: pathlib.Path,
        job_server: JobServer,
        workers: Workers = THIS_PYTHON,
    ) -> None:
        super().__init__(folder, workers)
        self.made_of = (
            f"Spark {job_server.engine}: a master and two workers, the job server of Beam "
            f"{job_server.beam}, and a pool of Python workers"
        )
        self._home = home
        self._jar = job_server.jar
        self._port, self._console_port, self._artifact_port, self._expansion_port = free_ports(4)
        self.console = f"http://{HOST}:{self._console_port}"

    def start_engine(self) -> None:
        """See `Cluster`."""
        self._start(
            "master",
            *("org.apache.spark.deploy.master.Master", "--host", HOST),
            *("--port", str(self._port), "--webui-port", str(self._console_port)),
        )
        self.processes.wait_until("Spark's master", lambda: listening(self._port))
        consoles = free_ports(len(_WORKERS))
        for name, console in zip(_WORKERS, consoles, strict=True):
            self._start(
                name,
                *("org.apache.spark.deploy.worker.Worker", "--host", HOST),
                *("--webui-port", str(console), "--cores", "1", "--memory", "1g"),
                *("--work-dir", str(self.folder / name), f"spark://{HOST}:{self._port}"),
            )
            self.processes.wait_until("Spark's workers", lambda at=console: listening(at))
        artifacts = self.folder / "artifacts"
        artifacts.mkdir(parents=True, exist_ok=True)
        settings = {
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            "spark.executor.extraJavaOptions": " ".join(_JAVA_OPTIONS),
            "spark.ui.enabled": "false",
        }
        self.processes.start(
            "jobserver",
            [
                *("java", *_JAVA_OPTIONS, *(f"-D{key}={value}" for key, value in settings.items())),
                *("-jar", self._jar, "--spark-master-url", f"spark://{HOST}:{self._port}"),
                *("--job-host", HOST, "--job-port", str(self.job_port)),
                *("--artifact-port", str(self._artifact_port), "--artifacts-dir", artifacts),
                *("--expansion-port", str(self._expansion_port)),
            ],
        )
        self.processes.wait_until("Beam's job server", lambda: listening(self.job_port))

    def _start(self, name: str, *command: str) -> None:
        environment = {"SPARK_LOCAL_IP": HOST, "SPARK_HOME": str(self._home)}
        self.processes.start(
            name, ["bash", self._home / "bin" / "spark-class", *command], environment
        )
