"""The launcher ends a job whose workers do not answer, or say that they cannot do it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_worker_facts import FULL, LAUNCHER, worker

from beam_bleu.pipeline.engines.handshake import Handshake
from beam_bleu.pipeline.engines.runners import WORKER_TIMEOUT
from beam_bleu.pipeline.engines.watched_job import AwaitedWorkers
from beam_bleu.pipeline.engines.worker_facts import Worker
from beam_bleu.pipeline.errors.error_marks import MarkedError
from beam_bleu.pipeline.errors.known_failures import Failure
from beam_bleu.transforms.errors import JobError

OTHER_CODE = (
    "AttributeError: Can't get attribute '_Answer' on <module "
    "'beam_bleu.pipeline.engines.handshake' from '/x/handshake.py'>"
)

FAULT = Failure("org.apache.flink.util.FlinkException: a TaskManager was lost", "w1:6122")


def quiet() -> Sequence[Failure]:
    """An engine that tells of no failure."""
    return []


def failing(*failures: Failure) -> Callable[[], Sequence[Failure]]:
    """An engine that tells of these failures."""
    return lambda: failures


SOURCE: Any = None  # nobody asks the workers of these tests


@pytest.fixture
def awaited(tmp_path: Path) -> Callable[..., Any]:
    def make(timeout: int | None = None) -> AwaitedWorkers:
        handshake = Handshake(SOURCE, (), str(tmp_path), LAUNCHER, str(tmp_path / "w"), 16)
        return AwaitedWorkers(handshake, timeout, heard.extend, clock=lambda: times[0])

    heard: list[Worker] = []
    times = [1000.0]
    make.heard, make.times, make.path = heard, times, tmp_path / "w"
    return make


def test_workers_that_answer_are_heard_once(awaited) -> None:
    waiting = awaited()
    assert waiting.error(True, quiet) is None
    awaited.path.write_text(json.dumps([worker("a").to_json()]))
    for _ in range(2):
        assert waiting.error(True, quiet) is None
    awaited.times[0] += 10_000
    assert waiting.error(True, quiet) is None
    assert [each.host for each in awaited.heard] == ["a"]


def test_a_worker_that_cannot_do_the_job_ends_it(awaited) -> None:
    awaited.path.write_text(json.dumps([worker("a").to_json(), worker("b", FULL).to_json()]))
    error = awaited().error(True, quiet)
    assert error is not None
    assert error.cause == f"on b: {FULL.cause}"
    assert len(awaited.heard) == 2


def test_a_job_without_workers_ends_after_its_time(awaited) -> None:
    waiting = awaited()
    assert waiting.error(False, quiet) is None
    awaited.times[0] += 10_000  # in the engine's queue
    assert waiting.error(True, quiet) is None
    awaited.times[0] += WORKER_TIMEOUT - 1
    assert waiting.error(True, quiet) is None
    awaited.times[0] += 1
    error = waiting.error(True, quiet)
    assert isinstance(error, JobError)
    assert error.cause == f"no Python worker has answered for {WORKER_TIMEOUT} s"
    assert f"the same folder at {awaited.path.parent}?" in error.remedy


def test_a_job_that_may_be_in_a_queue_ends_only_if_the_user_says_when(awaited) -> None:
    waiting, limited = awaited(), awaited(timeout=90)
    for seconds in (0, 89):
        awaited.times[0] += seconds
        assert waiting.error(None, quiet) is None
        assert limited.error(None, quiet) is None
    awaited.times[0] += 1
    error = limited.error(None, quiet)
    assert error is not None
    assert error.cause == "no Python worker has answered for 90 s"
    awaited.times[0] += 10_000
    assert waiting.error(None, quiet) is None


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
def test_an_error_of_a_worker_ends_the_job_before_it_is_started_again(awaited, text, cause) -> None:
    error = awaited().error(True, failing(Failure(text, "w1:6122")))
    assert isinstance(error, JobError)
    assert error.cause.startswith(cause)


def test_a_worker_that_starts_late_twice_ends_the_job(awaited) -> None:
    """Beam's worker for another version of Python refuses to begin, each time."""
    text = "java.lang.RuntimeException: No client connected within timeout\n\tat org.apache.beam"
    late = Failure(text, "w1:6122")
    waiting = awaited()
    assert waiting.error(True, failing(late, FAULT)) is None
    error = waiting.error(True, failing(late, FAULT, late))
    assert isinstance(error, JobError)
    assert error.cause.startswith("on w1:6122: the workers have started, but have not begun ")
    assert "do they have Python 3." in error.remedy
