"""The launcher ends a job whose workers do not answer, or say that they cannot do it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_worker_facts import FULL, LAUNCHER, worker

from beam_bleu.pipeline.engines.address import WORKER_TIMEOUT
from beam_bleu.pipeline.engines.awaited_workers import AwaitedWorkers
from beam_bleu.pipeline.engines.flink_master import FlinkFailure, FlinkThread
from beam_bleu.pipeline.engines.handshake import Handshake
from beam_bleu.pipeline.engines.probing import Asked
from beam_bleu.pipeline.engines.worker_facts import Worker
from beam_bleu.pipeline.errors.error_marks import MarkedError
from beam_bleu.transforms.errors import JobError

OTHER_CODE = (
    "AttributeError: Can't get attribute '_Answer' on <module "
    "'beam_bleu.pipeline.engines.handshake' from '/x/handshake.py'>"
)

FAULT = FlinkFailure("org.apache.flink.util.FlinkException: a TaskManager was lost", "w1:6122")


@dataclasses.dataclass
class Job:
    """What an engine tells of a job."""

    failed: Sequence[FlinkFailure] = ()
    at: Sequence[FlinkThread] = ()

    def failures(self) -> Sequence[FlinkFailure]:
        return self.failed

    def waiting_threads(self, methods: Sequence[str]) -> Sequence[FlinkThread]:
        return [thread for thread in self.at if thread.waits_in in methods]


QUIET = Job()

POOL = FlinkThread("WorkerPoolBlockingStub.startWorker(", "Read (1/2)#0", "m1", "w1")
DATA = FlinkThread("GrpcDataService.createOutboundAggregator(", "Read (2/2)#0", "m2", "w2")


SOURCE: Any = None  # nobody asks the workers of these tests


@pytest.fixture
def awaited(tmp_path: Path) -> Callable[..., Any]:
    def make(timeout: int | None = None, pool: str | None = "localhost:50000") -> AwaitedWorkers:
        handshake = Handshake(Asked(SOURCE, (), str(tmp_path)), LAUNCHER, str(tmp_path / "w"), 16)
        return AwaitedWorkers(handshake, timeout, pool, heard.extend, clock=lambda: times[0])

    heard: list[Worker] = []
    times = [1000.0]
    make.heard, make.times, make.path = heard, times, tmp_path / "w"
    return make


def test_workers_that_answer_are_heard_once(awaited) -> None:
    waiting = awaited()
    assert waiting.error(True, QUIET) is None
    awaited.path.write_text(json.dumps([worker("a").to_json()]))
    for _ in range(2):
        assert waiting.error(True, QUIET) is None
    awaited.times[0] += 10_000
    assert waiting.error(True, QUIET) is None
    assert [each.host for each in awaited.heard] == ["a"]


def test_a_worker_that_cannot_do_the_job_ends_it(awaited) -> None:
    awaited.path.write_text(json.dumps([worker("a").to_json(), worker("b", FULL).to_json()]))
    error = awaited().error(True, QUIET)
    assert error is not None
    assert error.cause == f"on b: {FULL.cause}"
    assert len(awaited.heard) == 2


def test_a_job_without_workers_ends_after_its_time(awaited) -> None:
    waiting = awaited()
    assert waiting.error(False, QUIET) is None
    awaited.times[0] += 10_000  # in the engine's queue
    assert waiting.error(True, QUIET) is None
    awaited.times[0] += WORKER_TIMEOUT - 1
    assert waiting.error(True, QUIET) is None
    awaited.times[0] += 1
    error = waiting.error(True, QUIET)
    assert isinstance(error, JobError)
    assert error.cause == f"no Python worker has answered for {WORKER_TIMEOUT} s"
    assert "the pool at localhost:50000" in error.remedy
    assert f"the same folder at {awaited.path.parent}?" in error.remedy


def test_a_fault_gives_the_workers_their_time_again(awaited) -> None:
    waiting = awaited()
    assert waiting.error(True, QUIET) is None
    awaited.times[0] += WORKER_TIMEOUT - 1
    assert waiting.error(True, Job([FAULT])) is None
    awaited.times[0] += WORKER_TIMEOUT - 1
    assert waiting.error(True, Job([FAULT])) is None
    awaited.times[0] += 1
    assert waiting.error(True, Job([FAULT])) is not None


def test_a_job_that_may_be_in_a_queue_ends_only_if_the_user_says_when(awaited) -> None:
    waiting, limited = awaited(), awaited(timeout=90)
    for seconds in (0, 89):
        awaited.times[0] += seconds
        assert waiting.error(None, QUIET) is None
        assert limited.error(None, QUIET) is None
    awaited.times[0] += 1
    error = limited.error(None, QUIET)
    assert error is not None
    assert error.cause == "no Python worker has answered for 90 s"
    awaited.times[0] += 10_000
    assert waiting.error(None, QUIET) is None


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (f"\tat X.java\n{MarkedError('x has beam-bleu 9', FULL)}", FULL.cause),
        (OTHER_CODE, "the workers on w1:6122 have a different version of beam-bleu from "),
        (
            "ModuleNotFoundError: No module named 'beam_bleu'",
            "the workers on w1:6122 do not have beam-bleu",
        ),
    ],
)
def test_an_error_of_a_worker_ends_the_job_before_it_is_started_again(awaited, text, cause) -> None:
    error = awaited().error(True, Job([FlinkFailure(text, "w1:6122")]))
    assert isinstance(error, JobError)
    assert error.cause.startswith(cause)


def test_a_worker_that_starts_late_twice_ends_the_job(awaited) -> None:
    """Beam's worker for another version of Python refuses to begin, each time."""
    text = "java.lang.RuntimeException: No client connected within timeout\n\tat org.apache.beam"
    late = FlinkFailure(text, "w1:6122")
    waiting = awaited()
    assert waiting.error(True, Job([late, FAULT])) is None
    error = waiting.error(True, Job([late, FAULT, late]))
    assert isinstance(error, JobError)
    assert error.cause.startswith("the workers on w1:6122 have started, but have not begun ")
    assert "do they have Python 3." in error.remedy


@pytest.mark.parametrize(
    ("thread", "seconds", "cause"),
    [
        (POOL, 20, "on w1: the pool at localhost:50000 has not answered for 20 s"),
        (DATA, 60, "the workers on w2 have started, but have not begun any work for 60 s"),
    ],
)
def test_a_start_that_hangs_ends_the_job(awaited, thread, seconds, cause) -> None:
    waiting, patient = awaited(), awaited(timeout=90)
    job = Job(at=[thread])
    errors = {waiting: None, patient: None}
    ended: dict[Any, int] = {}
    for second in range(100):
        for each in errors:
            error = each.error(True, job)
            if error is not None and each not in ended:
                ended[each], errors[each] = second, error
        awaited.times[0] += 1
    assert errors[waiting].cause == cause
    assert "--worker_timeout SECONDS gives workers more time" in errors[waiting].remedy
    # Nobody looks in the first five seconds.
    assert seconds < ended[waiting] <= seconds + 10
    assert ended[patient] == 90
    assert errors[patient].cause == "no Python worker has answered for 90 s"


@pytest.mark.parametrize("seconds", [5, 50])
def test_threads_that_wait_one_after_the_other_do_not_hang(awaited, seconds) -> None:
    """The subtasks of a host, or the attempts of one subtask."""
    waiting = awaited()
    for number in range(200 // seconds):
        thread = dataclasses.replace(DATA, name=f"Read (2/2)#{number}")
        for _ in range(0, seconds, 5):
            assert waiting.error(True, Job(at=[thread])) is None
            awaited.times[0] += 5
