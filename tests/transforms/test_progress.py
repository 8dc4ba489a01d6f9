"""The state of a run."""

from __future__ import annotations

from beam_bleu.transforms.progress import Progress, State


class Clock:
    """A clock that moves only when a test moves it."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_phase_begins_with_nothing_done_and_without_a_detail():
    progress = Progress(clock := Clock())
    progress.begin("counting lines", 10)
    progress.add(3)
    progress.add(4)
    progress.tell("of two files")
    clock.now += 2
    assert progress.state == State("counting lines", "of two files", 7, 10, 2.0, 2.0)
    progress.begin("scoring", 20)
    clock.now += 1
    assert progress.state == State("scoring", "", 0, 20, 1.0, 3.0)
    progress.add(50)  # of a repeated step
    assert progress.state.done == 20
    progress.begin("scoring")
    progress.add(50)
    assert (progress.state.done, progress.state.planned) == (50, None)


def test_the_seconds_of_phases_also_of_a_repeated_one():
    progress = Progress(clock := Clock())
    for phase, seconds in [("listing", 1), ("counting lines", 2), ("listing", 4), ("scoring", 8)]:
        progress.begin(phase)
        clock.now += seconds
    found = progress.seconds
    assert found == {"starting": 0.0, "listing": 5.0, "counting lines": 2.0, "scoring": 8.0}
    assert list(found) == ["starting", "listing", "counting lines", "scoring"]
    progress.reset()
    clock.now += 1
    assert progress.seconds == {"starting": 1.0}
