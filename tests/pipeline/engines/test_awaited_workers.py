"""The launcher ends a job whose workers do not answer, or say that they cannot do it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_worker_facts import FULL, LAUNCHER, worker

from beam_bleu.pipeline.engines.handshake import Handshake, Worker
from beam_bleu.pipeline.engines.runners import WORKER_TIMEOUT
from beam_bleu.pipeline.engines.sent_jobs import Seen
from beam_bleu.pipeline.engines.watched_job import Watch
from beam_bleu.pipeline.errors.told_errors import Failure, MarkedError
from beam_bleu.transforms.progress import PROGRESS

OTHER_CODE = (
    "AttributeError: Can't get attribute '_Answer' on <module "
    "'beam_bleu.pipeline.engines.handshake' from '/x/handshake.py'>"
)
FAULT = Failure("org.apache.flink.util.FlinkException: a TaskManager was lost", "w1:6122")
LATE = Failure("java.lang.RuntimeException: No client connected within timeout\n\tat X", "w1:6122")


class Waiting:
    """A launcher that waits for workers, with a clock, and its job, which tells what it is told."""

    def __init__(self, folder: Path, timeout: int | None = None) -> None:
        self.heard: list[Worker] = []
        self.now = 1000.0
        self.path = folder / "w"
        self.tells: Seen | Exception = Seen("RUNNING")
        self.failed: Sequence[Failure] = ()
        source: Any = None  # nobody asks the workers of these tests
        job: Any = self
        handshake = Handshake(source, (), str(folder), LAUNCHER, str(self.path), 16)
        self._watch = Watch(job, handshake, timeout, self.heard.extend, lambda: self.now)

    def seen(self) -> Seen:
        if isinstance(self.tells, Exception):
            raise self.tells
        return self.tells

    def failures(self) -> Sequence[Failure]:
        return self.failed

    def cause(self, is_working: bool | None = True, *failures: Failure) -> str | None:
        """The cause for which the job must end."""
        self.tells, self.failed = Seen("RUNNING", is_working=is_working), failures
        error = self._watch.look()
        return None if error is None else error.cause


def test_workers_that_answer_are_heard_once(tmp_path) -> None:
    waiting = Waiting(tmp_path)
    assert waiting.cause() is None
    waiting.path.write_text(json.dumps([worker("a").to_json()]))
    for _ in range(2):
        assert waiting.cause() is None
        waiting.now += 10_000
    assert [each.host for each in waiting.heard] == ["a"]


def test_a_worker_that_cannot_do_the_job_ends_it(tmp_path) -> None:
    waiting = Waiting(tmp_path)
    waiting.path.write_text(json.dumps([worker("a").to_json(), worker("b", FULL).to_json()]))
    assert waiting.cause() == f"on b: {FULL.cause}"
    assert len(waiting.heard) == 2


def test_a_job_without_workers_ends_after_its_time(tmp_path) -> None:
    waiting, causes = Waiting(tmp_path), []
    for seconds, is_working in ((0, False), (10_000, True), (WORKER_TIMEOUT - 1, True), (1, True)):
        waiting.now += seconds  # the first ones are in the engine's queue
        causes.append(waiting.cause(is_working))
    assert causes == [None] * 3 + [f"no Python worker has answered for {WORKER_TIMEOUT} s"]


def test_a_job_that_may_be_in_a_queue_ends_only_if_the_user_says_when(tmp_path) -> None:
    for timeout, expected in ((None, None), (90, "no Python worker has answered for 90 s")):
        waiting = Waiting(tmp_path, timeout)
        assert waiting.cause(None) is None
        waiting.now += 89
        assert waiting.cause(None) is None
        waiting.now += 10_000
        assert waiting.cause(None) == expected


def test_the_progress_gets_what_is_known(tmp_path) -> None:
    waiting, told = Waiting(tmp_path), []
    running = Seen("RUNNING", segments=1234)
    for waiting.tells in (Seen(""), running, Seen("DONE"), RuntimeError("the engine is busy")):
        waiting._watch.look()
        told.append(PROGRESS.state.detail)
    assert told == ["", "RUNNING, 1,234 segments", "DONE", "DONE"]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (f"\tat X.java\n{MarkedError('x has beam-bleu 9', FULL)}", FULL.cause),
        (OTHER_CODE, "on w1:6122: the workers have a different version of beam-bleu from "),
        ("No module named 'beam_bleu'", "on w1:6122: the workers do not have beam-bleu"),
    ],
)
def test_an_error_of_a_worker_ends_the_job_before_it_starts_again(tmp_path, text, cause) -> None:
    found = Waiting(tmp_path).cause(True, Failure(text, "w1:6122"))
    assert found is not None
    assert found.startswith(cause)


def test_a_worker_that_starts_late_twice_ends_the_job(tmp_path) -> None:
    """Beam's worker for another version of Python refuses to begin, each time."""
    waiting = Waiting(tmp_path)
    assert waiting.cause(True, LATE, FAULT) is None
    cause = waiting.cause(True, LATE, FAULT, LATE)
    assert cause is not None
    assert cause.startswith("on w1:6122: the workers have started, but have not begun ")
