"""The state of a run."""

from __future__ import annotations

import pytest

from beam_bleu.transforms.progress import Progress, State


class Clock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_phase_begins_with_nothing_done_and_without_a_detail(clock):
    progress = Progress(clock)
    progress.begin("counting lines", 10)
    progress.add(3)
    progress.add(4)
    progress.tell("of two files")
    clock.now += 2
    assert progress.state == State("counting lines", "of two files", 7, 10, 2.0, 2.0)
    progress.begin("scoring", 20)
    clock.now += 1
    assert progress.state == State("scoring", "", 0, 20, 1.0, 3.0)


def test_a_repeated_step_never_does_more_than_planned(clock):
    progress = Progress(clock)
    progress.begin("scoring", 10)
    for _ in range(3):
        progress.add(8)
    assert progress.state.done == 10
    progress.begin("scoring")
    progress.add(50)
    assert (progress.state.done, progress.state.planned) == (50, None)


def test_the_seconds_of_phases_also_of_a_repeated_one(clock):
    progress = Progress(clock)
    for phase, seconds in [("listing", 1), ("counting lines", 2), ("listing", 4), ("scoring", 8)]:
        progress.begin(phase)
        clock.now += seconds
    found = progress.seconds
    assert found == {"starting": 0.0, "listing": 5.0, "counting lines": 2.0, "scoring": 8.0}
    assert list(found) == ["starting", "listing", "counting lines", "scoring"]
    progress.reset()
    clock.now += 1
    assert progress.seconds == {"starting": 1.0}
