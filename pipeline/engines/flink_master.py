"""Flink's own REST interface, at --flink_master: the launcher asks it, but never depends on it."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Any

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    PipelineOptions,
    PortableOptions,
)

from beam_bleu.pipeline.engines.address import PATIENCE, Address
from beam_bleu.transforms.errors import JobError

_SECONDS = 5.0
"""How long to wait for an answer."""

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Asks without a proxy, as Beam's job server does."""

_OF_JOB_SERVER = ("[local]", "[auto]")
"""Values of --flink_master that mean the job server's own Flink, or the master that it knows."""


@dataclasses.dataclass(frozen=True)
class FlinkJob:
    """A job of a Flink cluster.

    Attributes:
      id: Flink's own id.
      state: its state in Flink's words, such as "RESTARTING".
      finished_tasks: how many of its tasks are finished.
      running_tasks: how many of its tasks run.
      tasks: the number of its tasks.
    """

    id: str
    state: str
    finished_tasks: int
    running_tasks: int
    tasks: int

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, so that Flink never starts it again."""
        return self.state in ("FINISHED", "FAILED", "CANCELED")


@dataclasses.dataclass(frozen=True)
class FlinkFailure:
    """A failure of a job, after which Flink may have started it again.

    Attributes:
      text: Java's traceback.
      host: the host and the port of the TaskManager where it happened; "" if Flink names none.
    """

    text: str
    host: str


@dataclasses.dataclass(frozen=True)
class FlinkMaster:
    """A Flink cluster, by the address of its REST interface.

    Attributes:
      url: its URL, without a slash at the end.
    """

    url: str

    def job(self, name: str) -> FlinkJob | None:
        """The newest job of this name; None if it is not known."""
        with _other_answers():
            jobs = [job for job in self._ask("/jobs/overview")["jobs"] if job["name"] == name]
            if jobs:
                newest = max(jobs, key=lambda job: int(job["start-time"]))
                tasks = newest["tasks"]
                return FlinkJob(
                    str(newest["jid"]),
                    str(newest["state"]),
                    int(tasks["finished"]),
                    int(tasks.get("running", 0)),
                    int(tasks["total"]),
                )
        return None

    def failures(self, job: FlinkJob) -> list[FlinkFailure]:
        """The failures of a job, from the first to the last; Flink keeps some of them."""
        failures: list[FlinkFailure] = []
        with _other_answers():
            history = self._ask(f"/jobs/{job.id}/exceptions")["exceptionHistory"]["entries"]
            for entry in sorted(history, key=lambda entry: int(entry["timestamp"])):
                host = str(entry.get("endpoint") or entry.get("location") or "")
                failures.append(FlinkFailure(str(entry["stacktrace"]), host))
        return failures

    def cancel(self, job: FlinkJob) -> bool:
        """Cancels a job; returns whether Flink has accepted that."""
        request = urllib.request.Request(f"{self.url}/jobs/{job.id}?mode=cancel", method="PATCH")
        try:
            with _OPENER.open(request, timeout=_SECONDS):
                return True
        except (OSError, ValueError, HTTPException):
            return False

    def page(self, job: FlinkJob) -> str:
        """The page of a job in Flink's console."""
        return f"{self.url}/#/job/{job.id}"

    def counters(self, job: FlinkJob) -> dict[str, int]:
        """The counters of ours that Flink knows of a job, by name."""
        accumulators: list[Any] = []
        with _other_answers():
            accumulators = list(self._ask(f"/jobs/{job.id}/accumulators")["user-task-accumulators"])
        sums: dict[str, int] = {}
        for accumulator in accumulators:
            # Beam keeps all metrics in one accumulator, as its protocol's messages in JSON.
            with _other_answers():
                for metric in json.loads(accumulator["value"])["metrics"]["attempted"]:
                    labels = metric.get("labels", {})
                    if labels.get("NAMESPACE") == "beam_bleu":
                        name = labels["NAME"]
                        sums[name] = sums.get(name, 0) + _varint(metric["payload"])
        return sums

    def _ask(self, path: str) -> Any:
        """The answer of the REST interface; None if there is none."""
        try:
            with _OPENER.open(self.url + path, timeout=_SECONDS) as answer:
                return json.load(answer)
        except (OSError, ValueError, HTTPException):
            return None

    def check(self) -> None:
        """Checks that something accepts connections there.

        Raises:
          JobError: nothing does, or the URL is invalid.
        """
        try:
            parts = urllib.parse.urlsplit(self.url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
            Address(parts.hostname or "", port).connect(PATIENCE)
        except (OSError, ValueError, OverflowError) as error:
            raise JobError(
                f"no Flink answers at --flink_master {self.url}: {error}",
                "start it, or correct the address: it is the REST port of the JobManager",
            ) from error


def _other_answers() -> contextlib.AbstractContextManager[None]:
    """Ends the body without an error if an answer does not have the form of Flink's."""
    return contextlib.suppress(AttributeError, KeyError, TypeError, ValueError)


def flink_master(value: str | None) -> FlinkMaster | None:
    """The cluster that a value of --flink_master names; None if it names none."""
    if not value or value.strip() in _OF_JOB_SERVER:
        return None
    url = value.strip().rstrip("/")
    return FlinkMaster(url if "://" in url else f"http://{url}")


def check_flink_master(runner: str, options: PipelineOptions) -> None:
    """Checks that the Flink answers to which the launcher itself will send the job.

    Raises:
      JobError: it does not.
    """
    master = flink_master(options.view_as(FlinkRunnerOptions).flink_master)
    job_server = options.view_as(PortableOptions).job_endpoint
    if runner.rpartition(".")[2] == "FlinkRunner" and master is not None and not job_server:
        master.check()


def _varint(payload: str) -> int:
    """An integer as Beam's protocol writes it: seven bits in each byte, the lowest ones first."""
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(base64.b64decode(payload)))
