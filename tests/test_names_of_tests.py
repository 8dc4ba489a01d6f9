"""pytest imports tests by their names without folders, so two files cannot have the same name."""

import collections
import pathlib

TESTS = pathlib.Path(__file__).parent


def test_no_two_files_of_tests_have_the_same_name():
    paths = TESTS.rglob("test_*.py")
    number_of = collections.Counter(path.name for path in paths)
    assert [name for name, number in number_of.items() if number > 1] == []
