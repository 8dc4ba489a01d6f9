"""Lists the engines and other services that can run on this machine, and makes them."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable

from deploy.local import parts
from deploy.local.cluster import (
    THIS_PYTHON,
    Cluster,
    JobServerCluster,
    Service,
    Setup,
    Workers,
)
from deploy.local.flink import FlinkCluster
from deploy.local.object_stores import AzureServer, GoogleServer, ObjectStore, S3Server
from deploy.local.parts import JobServer
from deploy.local.places import Place, here


class PrismCluster(Cluster):
    """Prism, with Python workers in separate processes.

    Prism always listens on all interfaces.
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


_OPENED = ("java.lang", "java.nio", "java.util", "java.util.concurrent", "java.net", "java.io")
_JAVA_OPTIONS = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED] + [
    "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
]
"""Opens the Java modules that Spark 3 needs, because its own scripts do not start it here."""


class SparkCluster(JobServerCluster):
    """Spark, stand-alone mode."""

    runner = "SparkRunner"

    def __init__(self, setup: Setup, home: pathlib.Path, job_server: JobServer) -> None:
        super().__init__(setup, home, job_server)
        places = self.places
        self.made_of = (
            f"Spark {job_server.engine}: a master and {len(places.workers)} workers, the job "
            f"server of Beam {job_server.beam}, and {self.pools()}"
        )
        self._port, self._console = places.head.port(7077), places.head.port(8080)
        self._consoles = [place.port(8081) for place in places.workers]

    def flags(self) -> list[str]:
        # Keeps Python workers for all tasks of their executor. Without this, each task would start
        # one, which takes longer than the task. Executors, and their workers, end with the job.
        return [*super().flags(), "--environment_cache_millis=60000"]

    def start_engine(self) -> None:
        head = self.places.head
        master = f"spark://{head.address}:{self._port}"
        self._start(
            head,
            "master",
            *("org.apache.spark.deploy.master.Master", "--host", head.address),
            *("--port", str(self._port), "--webui-port", str(self._console)),
        )
        self.processes.wait_until("Spark's master", lambda: head.listening(self._port))
        workers = list(zip(self.places.workers, self._consoles, strict=True))
        for number, (place, console) in enumerate(workers, 1):
            name = f"worker-{number}"
            self._start(
                place,
                name,
                *("org.apache.spark.deploy.worker.Worker", "--host", place.address),
                *("--webui-port", str(console), "--cores", "1", "--memory", "1g"),
                *("--work-dir", str(place.folder / name), master),
            )
        self.processes.wait_until(
            "Spark's workers", lambda: all(place.listening(console) for place, console in workers)
        )
        settings = {
            "spark.driver.host": head.address,
            "spark.driver.bindAddress": head.address,
            "spark.executor.extraJavaOptions": " ".join(_JAVA_OPTIONS),
            "spark.ui.enabled": "false",
        }
        properties = [f"-D{key}={value}" for key, value in settings.items()]
        self.run_job_server([*_JAVA_OPTIONS, *properties], ["--spark-master-url", master])

    def _start(self, place: Place, name: str, *command: str) -> None:
        environment = {"SPARK_LOCAL_IP": place.ip, "SPARK_HOME": str(self.home)}
        program = self.home / "bin" / "spark-class"
        self.start_at(place, name, ["bash", program, *command], environment)


def _flink(setup: Setup) -> FlinkCluster:
    server = parts.flink_job_server()
    return FlinkCluster(setup, parts.flink(server.engine), server)


def _spark(setup: Setup) -> SparkCluster:
    server = parts.spark_job_server()
    return SparkCluster(setup, parts.spark(server.engine), server)


ENGINES: dict[str, Callable[[Setup], Cluster]] = {
    "flink": _flink,
    "prism": lambda setup: PrismCluster(setup, parts.prism()),
    "spark": _spark,
}
"""By name, what makes an engine, not started. It downloads missing parts."""


def cluster_here(
    engine: str, folder: pathlib.Path, workers: Workers = THIS_PYTHON, count: int = 2
) -> Cluster:
    """An engine on loopback, not started."""
    return ENGINES[engine](Setup(folder, here(folder, count), workers))


OBJECT_STORES: dict[str, Callable[[pathlib.Path], ObjectStore]] = {
    "s3": lambda folder: S3Server(folder, parts.versitygw()),
    "gcs": GoogleServer,
    "azure": lambda folder: AzureServer(folder, *parts.azurite()),
}
"""By name, what makes a server, not started. It downloads missing programs."""

SERVICES: dict[str, Callable[[pathlib.Path], Service]] = {
    **{name: functools.partial(cluster_here, name) for name in ENGINES},
    **OBJECT_STORES,
}
"""What `./run.sh cluster` can start."""
