"""Errors of the library are sentences that Beam does not damage; names have a natural order."""

from __future__ import annotations

import itertools
import pickle

from beam_bleu.transforms.definition.choices import natural_order
from beam_bleu.transforms.errors import InputError, JobError, lacks_open_files, unreadable


def test_beam_makes_the_error_again_with_the_steps_name():
    error = InputError("line 3 is bad", "repair it")
    assert str(error) == "line 3 is bad; repair it"
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


def test_the_limit_of_open_files_is_found_among_the_causes_of_an_error():
    error, outer = OSError(23, "Too many open files in system"), ValueError("it did not work")
    outer.__cause__ = error
    error.__cause__ = outer  # causes that form a ring
    assert lacks_open_files(outer)
    assert not lacks_open_files(ValueError("Too many open files"))
    assert not lacks_open_files(None)


ORDERED = [
    ("ref2", "ref10"),
    ("10", "b"),
    ("a", "a1", "a1b", "a2"),
    ("007", "7", "8"),
    ("9" * 4999, "1" + "0" * 4999),
    ("1", "２", "３号"),  # only ASCII digits make numbers
    ("", "0", "²"),
]


def test_names_are_in_natural_order() -> None:
    for names in ORDERED:
        assert {natural_order(shuffled) for shuffled in itertools.permutations(names)} == {names}
