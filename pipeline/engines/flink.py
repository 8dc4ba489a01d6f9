"""Flink's own REST interface, at --flink_master: the launcher asks it, but never depends on it."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    GoogleCloudOptions,
    PipelineOptions,
)

from beam_bleu.pipeline.errors.known_failures import Failure

_SECONDS = 5.0
"""How long to wait for an answer."""

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Asks without a proxy, as Beam's job server does."""

_OF_JOB_SERVER = ("[local]", "[auto]")
"""Values of --flink_master that mean the job server's own Flink, or the master that it knows."""

_OTHER_ANSWERS = (AttributeError, KeyError, TypeError, ValueError)
"""What is raised if an answer does not have the form of Flink's."""


@dataclasses.dataclass(frozen=True)
class Seen:
    """What an engine tells of a job at one moment.

    Attributes:
      state: its state in the engine's words, and how much is finished; "" if it is not known.
      page: its page in the engine's console; "" if it is not known.
      counters: the counters of ours, by name.
      is_working: whether the engine works on it, and has not only put it in a queue; None if that
        is not known.
    """

    state: str
    page: str
    counters: Mapping[str, int]
    is_working: bool | None = None


class Flink:
    """A job of a Flink cluster, by its name. If it cannot be asked, nothing is known of the job.

    Args:
      url: the URL of the cluster's REST interface, without a slash at the end.
      name: the name of the job.
    """

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self._name = name
        self._former = ""

    def forget_former(self) -> None:
        """Leaves out a job of this name that has ended: with --job_name, that of an earlier run."""
        job = self._job()
        if job is not None and job["state"] in ("FINISHED", "FAILED", "CANCELED"):
            self._former = job["jid"]

    def seen(self) -> Seen | None:
        """What Flink tells now."""
        job = self._job()
        if job is None:
            return None
        tasks = job["tasks"]
        state = f"{job['state']}, {tasks['finished']} of {tasks['total']} tasks finished"
        page = f"{self.url}/#/job/{job['jid']}"
        return Seen(state, page, self._counters(job["jid"]), tasks.get("running", 0) > 0)

    def failures(self) -> list[Failure]:
        """The failures, from the first to the last; Flink keeps some of them."""
        job = self._job()
        if job is not None:
            with contextlib.suppress(*_OTHER_ANSWERS):
                answer = self._ask(f"/jobs/{job['jid']}/exceptions")
                history = sorted(
                    answer["exceptionHistory"]["entries"], key=lambda entry: int(entry["timestamp"])
                )
                return [
                    Failure(
                        str(entry["stacktrace"]),
                        str(entry.get("endpoint") or entry.get("location") or ""),
                    )
                    for entry in history
                ]
        return []

    def cancel(self) -> bool:
        """Cancels the job; returns whether Flink has accepted that."""
        job = self._job()
        if job is None:
            return False
        url = f"{self.url}/jobs/{job['jid']}?mode=cancel"
        try:
            with _OPENER.open(urllib.request.Request(url, method="PATCH"), timeout=_SECONDS):
                return True
        except (OSError, ValueError, HTTPException):
            return False

    def _job(self) -> Mapping[str, Any] | None:
        """The newest job of this name, as Flink describes it."""
        with contextlib.suppress(*_OTHER_ANSWERS):
            jobs = [job for job in self._ask("/jobs/overview")["jobs"] if job["name"] == self._name]
            newest: Mapping[str, Any] = max(jobs, key=lambda job: int(job["start-time"]))
            return None if newest["jid"] == self._former else newest
        return None

    def _counters(self, job: str) -> dict[str, int]:
        sums: dict[str, int] = {}
        with contextlib.suppress(*_OTHER_ANSWERS):
            for accumulator in self._ask(f"/jobs/{job}/accumulators")["user-task-accumulators"]:
                # Beam keeps all metrics in one accumulator, as its protocol's messages in JSON.
                with contextlib.suppress(*_OTHER_ANSWERS):
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


def flink_url(options: PipelineOptions) -> str | None:
    """The URL of the cluster that --flink_master names; None if it names none."""
    value = str(options.view_as(FlinkRunnerOptions).flink_master or "").strip().rstrip("/")
    if not value or value in _OF_JOB_SERVER:
        return None
    return value if "://" in value else f"http://{value}"


def flink_job(options: PipelineOptions) -> Flink | None:
    """The job of these options on the cluster of --flink_master; None if there is no cluster."""
    url, name = flink_url(options), options.view_as(GoogleCloudOptions).job_name
    return Flink(url, str(name)) if url and name else None


def _varint(payload: str) -> int:
    """An integer as Beam's protocol writes it: seven bits in each byte, the lowest ones first."""
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(base64.b64decode(payload)))
