"""The launcher ends a job whose workers do not answer, or say that they cannot do it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_worker_facts import FULL, LAUNCHER, worker

from beam_bleu.pipeline.engines.handshake import Handshake
from beam_bleu.pipeline.engines.runners import WORKER_TIMEOUT
from beam_bleu.pipeline.engines.sent_jobs import Seen
from beam_bleu.pipeline.engines.watched_job import Watch
from beam_bleu.pipeline.engines.worker_facts import Worker
from beam_bleu.pipeline.errors.error_marks import MarkedError
from beam_bleu.pipeline.errors.known_failures import Failure
from beam_bleu.transforms.errors import BleuError, JobError
from beam_bleu.transforms.progress import PROGRESS

OTHER_CODE = (
    "AttributeError: Can't get attribute '_Answer' on <module "
    "'beam_bleu.pipeline.engines.handshake' from '/x/handshake.py'>"
)

FAULT = Failure("org.apache.flink.util.FlinkException: a TaskManager was lost", "w1:6122")


class Job:
    """A job that tells this, or fails with an error."""

    is_working: bool | None = True
    state = "RUNNING"
    segments: int | None = None
    told: Sequence[Failure] = ()

    def seen(self) -> Seen:
        if self.state == "LOST":
            raise RuntimeError
        return Seen(self.state, "", self.segments, self.is_working)

    def failures(self) -> Sequence[Failure]:
        return self.told


SOURCE: Any = None  # nobody asks the workers of these tests


class Waiting:
    """A launcher that waits for workers.

    Attributes:
      heard: what it has heard.
      now: its clock.
    """

    def __init__(self, folder: Path, timeout: int | None = None) -> None:
        self.job: Any = Job()
        self.heard: list[Worker] = []
        self.now = 1000.0
        self.path = folder / "w"
        handshake = Handshake(SOURCE, (), str(folder), LAUNCHER, str(self.path), 16)
        self._watch = Watch(self.job, handshake, timeout, self.heard.extend, lambda: self.now)

    def error(self, is_working: bool | None = True, *failures: Failure) -> BleuError | None:
        self.job.is_working, self.job.told = is_working, failures
        return self._watch.look()


def test_workers_that_answer_are_heard_once(tmp_path) -> None:
    waiting = Waiting(tmp_path)
    assert waiting.error() is None
    waiting.path.write_text(json.dumps([worker("a").to_json()]))
    for _ in range(2):
        assert waiting.error() is None
    waiting.now += 10_000
    assert waiting.error() is None
    assert [each.host for each in waiting.heard] == ["a"]


def test_a_worker_that_cannot_do_the_job_ends_it(tmp_path) -> None:
    waiting = Waiting(tmp_path)
    waiting.path.write_text(json.dumps([worker("a").to_json(), worker("b", FULL).to_json()]))
    error = waiting.error()
    assert error is not None
    assert error.cause == f"on b: {FULL.cause}"
    assert len(waiting.heard) == 2


def test_a_job_without_workers_ends_after_its_time(tmp_path) -> None:
    waiting = Waiting(tmp_path)
    assert waiting.error(False) is None
    waiting.now += 10_000  # in the engine's queue
    assert waiting.error() is None
    waiting.now += WORKER_TIMEOUT - 1
    assert waiting.error() is None
    waiting.now += 1
    error = waiting.error()
    assert isinstance(error, JobError)
    assert error.cause == f"no Python worker has answered for {WORKER_TIMEOUT} s"
    assert f"the same folder at {tmp_path}?" in error.remedy


def test_a_job_that_may_be_in_a_queue_ends_only_if_the_user_says_when(tmp_path) -> None:
    waiting, limited = Waiting(tmp_path), Waiting(tmp_path, timeout=90)
    for seconds in (0, 89):
        limited.now += seconds
        assert limited.error(None) is None
    limited.now += 1
    error = limited.error(None)
    assert error is not None
    assert error.cause == "no Python worker has answered for 90 s"
    assert waiting.error(None) is None
    waiting.now += 10_000
    assert waiting.error(None) is None


def test_the_progress_gets_what_is_known(tmp_path) -> None:
    waiting, told = Waiting(tmp_path), []
    states = [("", None), ("RUNNING", 1234), ("DONE", None), ("LOST", None)]
    for waiting.job.state, waiting.job.segments in states:
        waiting.error()
        told.append(PROGRESS.state.detail)
    assert told == ["", "RUNNING, 1,234 segments", "DONE", "DONE"]  # an error changes nothing


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (f"\tat X.java\n{MarkedError('x has beam-bleu 9', FULL)}", FULL.cause),
        (OTHER_CODE, "on w1:6122: the workers have a different version of beam-bleu from "),
        (
            "ModuleNotFoundError: No module named 'beam_bleu'",
            "on w1:6122: the workers do not have beam-bleu",
        ),
    ],
)
def test_an_error_of_a_worker_ends_the_job_before_it_starts_again(tmp_path, text, cause) -> None:
    error = Waiting(tmp_path).error(True, Failure(text, "w1:6122"))
    assert isinstance(error, JobError)
    assert error.cause.startswith(cause)


def test_a_worker_that_starts_late_twice_ends_the_job(tmp_path) -> None:
    """Beam's worker for another version of Python refuses to begin, each time."""
    text = "java.lang.RuntimeException: No client connected within timeout\n\tat org.apache.beam"
    late = Failure(text, "w1:6122")
    waiting = Waiting(tmp_path)
    assert waiting.error(True, late, FAULT) is None
    error = waiting.error(True, late, FAULT, late)
    assert isinstance(error, JobError)
    assert error.cause.startswith("on w1:6122: the workers have started, but have not begun ")
    assert "do they have Python 3." in error.remedy
