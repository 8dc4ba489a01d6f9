"""Flink's own REST interface, at --flink_master: the launcher asks it, but never depends on it."""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import dataclasses
import html
import json
import socket
import urllib.parse
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    PipelineOptions,
    PortableOptions,
)
from apache_beam.pipeline import AppliedPTransform, PipelineVisitor

from beam_bleu.pipeline.engines.address import PATIENCE, Address
from beam_bleu.pipeline.engines.flink_resources import (
    FlinkSettings,
    TaskManager,
    check_resources,
    settings_of,
)
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.transforms.errors import JobError

_SECONDS = 5.0
"""How long to wait for an answer."""

_AT_ONCE, _SECONDS_FOR_ALL = 16, 10.0
"""How many TaskManagers are asked at the same time, and how long to wait for all of them."""

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
class FlinkThread:
    """A thread of a job on a TaskManager, which waits.

    Attributes:
      waits_in: the method in which it waits, as it is in Java's stack.
      name: its name: that of a task, with the subtask and the attempt.
      manager: Flink's id of the TaskManager.
      host: the host of the TaskManager; "" if it is not known.
    """

    waits_in: str
    name: str
    manager: str
    host: str


@dataclasses.dataclass(frozen=True)
class FlinkMaster:
    """A Flink cluster, by the address of its REST interface.

    Attributes:
      url: its URL, without a slash at the end.
    """

    url: str

    def task_managers_are_here(self) -> bool | None:
        """Whether all TaskManagers are on this machine; None if that is not known."""
        with _other_answers():
            managers = self._ask("/taskmanagers")["taskmanagers"]
            if managers:
                return all(_is_here(_host_of(manager["path"])) for manager in managers)
        return None

    def task_managers(self) -> list[TaskManager]:
        """The TaskManagers; empty if they are not known."""
        managers: list[TaskManager] = []
        with _other_answers():
            for manager in self._ask("/taskmanagers")["taskmanagers"]:
                memory = int(manager["memoryConfiguration"]["networkMemory"])
                slots, free = int(manager["slotsNumber"]), int(manager["freeSlots"])
                managers.append(TaskManager(slots, free, memory))
        return managers

    def settings(self) -> FlinkSettings | None:
        """The settings of the cluster; None if they are not known, or not understood."""
        with _other_answers():
            pairs = self._ask("/jobmanager/config")
            return settings_of({str(pair["key"]): str(pair["value"]) for pair in pairs})
        return None

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

    def waiting_threads(self, job: FlinkJob, methods: Sequence[str]) -> list[FlinkThread]:
        """The threads of a job that wait in a method, on the TaskManagers that answer in time.

        Args:
          job: the job.
          methods: what Java's stacks have of each method.
        """
        tasks: list[str] = []
        managers: dict[str, str] = {}
        with _other_answers():
            vertices = self._ask(f"/jobs/{job.id}")["vertices"]
            tasks = [html.unescape(str(vertex["name"])) for vertex in vertices]
            # The subtasks of all tasks share the slots of the one that has most.
            widest = max(vertices, key=lambda vertex: int(vertex["parallelism"]))
            known = self._ask(f"/jobs/{job.id}/vertices/{widest['id']}/taskmanagers")
            for manager in known["taskmanagers"]:
                endpoint = str(manager.get("endpoint") or manager.get("host") or "")
                managers[str(manager["taskmanager-id"])] = endpoint.rpartition(":")[0] or endpoint

        def ask(manager: str) -> list[FlinkThread]:
            return [
                FlinkThread(method, name, manager, managers[manager])
                for name, stack in self._threads(manager)
                for method in methods
                if method in stack and name.startswith(tuple(tasks))
            ]

        executor = concurrent.futures.ThreadPoolExecutor(_AT_ONCE)
        asked = [executor.submit(ask, manager) for manager in managers]
        done, _ = concurrent.futures.wait(asked, timeout=_SECONDS_FOR_ALL)
        executor.shutdown(wait=False, cancel_futures=True)
        return [thread for future in asked if future in done for thread in future.result()]

    def _threads(self, manager: str) -> list[tuple[str, str]]:
        """(name, stack) of each thread of a TaskManager."""
        threads: list[Any] = []
        with _other_answers():
            path = f"/taskmanagers/{urllib.parse.quote(manager)}/thread-dump"
            threads = list(self._ask(path)["threadInfos"])
        return [
            (str(thread.get("threadName", "")), str(thread.get("stringifiedThreadInfo", "")))
            for thread in threads
            if isinstance(thread, dict)
        ]

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


def check_resources_of_flink(runner: str, pipeline: beam.Pipeline) -> None:
    """Checks that Flink can run a pipeline, if it can be asked and the job has a parallelism.

    Raises:
      JobError: it certainly cannot.
    """
    flags = pipeline.options.view_as(FlinkRunnerOptions)
    master = flink_master(flags.flink_master)
    if runner.rpartition(".")[2] != "FlinkRunner" or master is None or (flags.parallelism or 0) < 1:
        return
    unknown_to_beam = pipeline.options.get_all_options(retain_unknown_options=True)
    if str(unknown_to_beam.get("execution_mode_for_batch")).startswith("BATCH"):
        return  # Flink keeps all results of a step. So its subtasks can run one after the other.
    settings = master.settings()
    if settings is None:
        return
    shuffles = _Shuffles()
    pipeline.visit(shuffles)
    warning = check_resources(master.task_managers(), flags.parallelism, shuffles.count, settings)
    if warning is not None:
        warn(warning)


class _Shuffles(PipelineVisitor):
    """Counts the shuffles of a pipeline.

    Attributes:
      count: how many it has seen.
    """

    def __init__(self) -> None:
        self.count = 0

    def visit_transform(self, transform_node: AppliedPTransform) -> None:
        self.count += isinstance(transform_node.transform, beam.GroupByKey)


def _varint(payload: str) -> int:
    """An integer as Beam's protocol writes it: seven bits in each byte, the lowest ones first."""
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(base64.b64decode(payload)))


def _host_of(path: str) -> str:
    """The host in an address of Flink's, such as pekko.tcp://flink@127.0.0.1:6122/user/rpc."""
    return urllib.parse.urlsplit(path).hostname or ""


def _is_here(host: str) -> bool:
    """Whether a host is this machine: a process can listen only at its own machine's addresses."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.bind(address)
    except (OSError, UnicodeError):
        return False
    return True
