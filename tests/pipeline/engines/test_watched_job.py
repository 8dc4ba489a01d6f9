"""The launcher follows the job that it has sent to an engine, and names the part that failed."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from apache_beam.metrics import monitoring_infos
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_job_api_pb2
from apache_beam.runners.portability.portable_runner import PipelineResult
from fake_flink import fake_flink
from test_worker_facts import LAUNCHER, worker

from beam_bleu.pipeline.engines import watched_job
from beam_bleu.pipeline.engines.sent_jobs import DataflowJob, Seen, SentJob, sent_job
from beam_bleu.pipeline.engines.watched_job import engine_failure, follow
from beam_bleu.pipeline.errors.told_errors import MarkedError
from beam_bleu.transforms.errors import InputError

NAME = "beam-bleu-atlas-20261119-020003-5f0c"


class JobServer:
    """A job server that has counters of two steps."""

    def GetJobMetrics(self, request: Any, timeout: float) -> Any:  # noqa: N802
        assert request.job_id == "job-1"
        counted = [("Count", "segments", 70), ("Again", "segments", 2), ("Count", "bytes", 9)]
        infos = [
            monitoring_infos.int64_user_counter("beam_bleu", name, value, ptransform=step)
            for step, name, value in counted
        ]
        infos.append(monitoring_infos.int64_user_counter("else", "segments", 5, ptransform="x"))
        return beam_job_api_pb2.GetJobMetricsResponse(
            metrics=beam_job_api_pb2.MetricResults(attempted=infos)
        )


def portable(*states: int) -> PipelineResult:
    """Beam's result of a job that has been in these states."""
    result = PipelineResult(JobServer(), "job-1", iter(()), iter(()))
    for state in states:
        event = beam_job_api_pb2.JobStateEvent(state=state)
        result._messages.append(beam_job_api_pb2.JobMessagesResponse(state_response=event))
    return result


def test_a_job_of_a_job_server() -> None:
    states = beam_job_api_pb2.JobState
    job = sent_job(portable(states.STARTING, states.RUNNING), PipelineOptions([]))
    assert job.id == "job-1"
    assert job.seen() == Seen("RUNNING", "", 72, is_working=None)


def accumulators(**counters: int) -> dict[str, Any]:
    def payload(value: int) -> str:
        encoded = monitoring_infos.int64_user_counter("", "", value).payload
        return base64.b64encode(encoded).decode()

    attempted = [
        {"labels": {"NAMESPACE": "beam_bleu", "NAME": name}, "payload": payload(value)}
        for name, value in counters.items()
    ]
    others = [{"labels": {"NAME": "x"}, "payload": "AA=="}, {"urn": "y"}]
    beams = {"metrics": {"attempted": [*others, *attempted]}}
    found = [{"name": "own", "value": "5"}, {"name": "beam", "value": json.dumps(beams)}]
    return {"user-task-accumulators": found}


def flink_job(number: int, name: str, state: str) -> dict[str, Any]:
    tasks = {"finished": 6, "running": 30 if state == "RUNNING" else 0, "total": 36}
    return {"jid": f"f{number}", "name": name, "state": state, "start-time": number, "tasks": tasks}


def test_flink_tells_more_than_the_job_server() -> None:
    jobs = [flink_job(3, "another", "RUNNING"), flink_job(1, NAME, "FAILED")]
    jobs.append(flink_job(2, NAME, "RUNNING"))
    answers = {
        "/jobs/overview": {"jobs": jobs},
        "/jobs/f2/accumulators": accumulators(segments=300_000, bytes=1),
    }
    with fake_flink(answers) as url:
        options = PipelineOptions([f"--flink_master={url}", f"--job_name={NAME}"])
        seen = sent_job(portable(), options).seen()
    told = "RUNNING, 6 of 36 tasks finished"
    assert seen == Seen(told, f"{url}/#/job/f2", 300_000, is_working=True)


def test_a_job_of_dataflow_has_a_page() -> None:
    state = SimpleNamespace(name="JOB_STATE_RUNNING")
    client = SimpleNamespace(get_job=lambda job: SimpleNamespace(current_state=state))
    result = SimpleNamespace(
        job_id=lambda: "2026-11-19_1", _runner=SimpleNamespace(dataflow_client=client)
    )
    options = PipelineOptions(["--project=ours", "--region=europe-west1"])
    job = sent_job(result, options)
    assert job.id == "2026-11-19_1"
    page = "https://console.cloud.google.com/dataflow/jobs/europe-west1/2026-11-19_1?project=ours"
    assert job.seen() == Seen("RUNNING", page, is_working=None)


def failed(*texts: str, flags: Sequence[str] = ()) -> SentJob:
    """A job about which a job server has sent these texts."""
    messages = [beam_job_api_pb2.JobMessage(message_text=text) for text in texts]
    state = beam_job_api_pb2.JobStateEvent(state=beam_job_api_pb2.JobState.FAILED)
    result = portable()
    result._messages += [
        *(beam_job_api_pb2.JobMessagesResponse(message_response=each) for each in messages),
        beam_job_api_pb2.JobMessagesResponse(state_response=state),
    ]
    return sent_job(result, PipelineOptions(list(flags)))


class Lost(grpc.RpcError):
    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "Socket closed"


def test_a_lost_connection_names_the_job_server() -> None:
    options = PipelineOptions(["--job_endpoint=engine:8099"])
    for job in (None, failed()):
        error = engine_failure(Lost(grpc.StatusCode.UNAVAILABLE), job, options)
        assert error is not None
        said = "the connection to the job server at engine:8099 was lost: Socket closed"
        assert error.cause == said


class Sent:
    """Beam's result of a job that ends when it is cancelled, or never."""

    job_id = "job-1"

    def __init__(self, ends: bool) -> None:
        self._ends = ends
        self.is_cancelled = threading.Event()

    def cancel(self) -> None:
        self.is_cancelled.set()

    def wait_until_finish(self) -> str:
        self.is_cancelled.wait(60)
        if not self._ends:
            threading.Event().wait(60)
        raise RuntimeError("the job is CANCELLED")


@pytest.mark.parametrize("ends", [True, False])
def test_a_job_whose_workers_cannot_do_it_is_cancelled(ends, monkeypatch) -> None:
    monkeypatch.setattr(watched_job, "_PAUSE", 0.0)
    monkeypatch.setattr(watched_job, "_PATIENCE_FOR_THE_END", 0.1)
    monkeypatch.setattr(DataflowJob, "seen", lambda self: Seen("RUNNING", is_working=True))
    sent = Sent(ends)
    handshake = SimpleNamespace(answers=lambda: [worker("a", BAD)], software=LAUNCHER)
    with pytest.raises(InputError, match="a line is bad"):
        follow(sent_job(sent, PipelineOptions([])), handshake, None, list)
    assert sent.is_cancelled.is_set()


def test_a_job_that_is_done_is_done() -> None:
    sent = SimpleNamespace(job_id="job-1", wait_until_finish=lambda: "DONE")
    handshake = SimpleNamespace(answers=lambda: None)
    assert follow(sent_job(sent, PipelineOptions([])), handshake, None, list) == "DONE"


BAD = InputError("a line is bad", "repair it")


@pytest.mark.parametrize(
    ("error", "texts"),
    [
        # What is wrong with the input is more important than the fault that came with it.
        (RuntimeError(str(MarkedError("a line is bad", BAD))), ["NoResourceAvailable"]),
        (BAD, ["NoResourceAvailable"]),
        (RuntimeError("disk full"), ["\n\tat Somewhere.else(File.java:1)", "disk full"]),
        (Lost(grpc.StatusCode.NOT_FOUND), []),
    ],
)
def test_other_failures_keep_their_own_message(error, texts) -> None:
    assert engine_failure(error, failed(*texts), PipelineOptions([])) is None
