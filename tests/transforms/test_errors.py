"""Errors of the library, the order of names, and the state of a run."""

from __future__ import annotations

import itertools
import pickle

from beam_bleu.transforms.definition.choices import natural_order
from beam_bleu.transforms.errors import InputError, JobError, lacks_open_files, unreadable
from beam_bleu.transforms.progress import Progress, State


def test_beam_makes_the_error_again_with_the_steps_name():
    error = InputError("line 3 is bad", "repair it")
    again = type(error)(error.args[0] + " [while running 'Read']", *error.args[1:])
    again = pickle.loads(pickle.dumps(again))
    assert (again.cause, again.remedy) == ("line 3 is bad", "repair it")
    assert str(again) == "line 3 is bad [while running 'Read']; repair it"


def test_the_limit_of_open_files_is_not_an_input_error():
    full = OSError(24, "Too many open files", "/data/a.txt")
    error = unreadable("candidates x: cannot be read", full, "check the file", "a.txt")
    assert type(error) is JobError
    assert error.cause == "too many open files: candidates x: cannot be read: a.txt"
    assert "ulimit -n" in error.remedy
    assert type(unreadable("x", OSError(13, "Permission denied"), "check it")) is InputError
    error, outer = OSError(23, "Too many open files in system"), ValueError("it did not work")
    outer.__cause__ = error
    error.__cause__ = outer  # causes that form a ring
    assert lacks_open_files(outer)
    assert not lacks_open_files(ValueError("Too many open files"))


ORDERED = [
    ("ref2", "ref10"),
    ("10", "b"),
    ("a", "a1", "a1b", "a2"),
    ("007", "7", "8"),
    ("9" * 4999, "1" + "0" * 4999),
    ("1", "２", "３号"),  # only ASCII digits make numbers
    ("", "0", "²"),
]


def test_names_are_in_natural_order():
    for names in ORDERED:
        assert {natural_order(shuffled) for shuffled in itertools.permutations(names)} == {names}


class Clock:
    """A clock that moves only when a test moves it."""

    now = 100.0

    def __call__(self):
        return self.now


def test_a_phase_begins_with_nothing_done_and_keeps_its_seconds():
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
    progress.begin("counting lines")
    progress.add(50)
    assert (progress.state.done, progress.state.planned) == (50, None)
    clock.now += 4
    found = progress.seconds
    assert list(found.items()) == [("starting", 0.0), ("counting lines", 6.0), ("scoring", 1.0)]
    progress.reset()
    clock.now += 1
    assert progress.seconds == {"starting": 1.0}
