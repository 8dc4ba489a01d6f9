"""For all tests: the oracle adds as it did on Python 3.11, and logging stays as it was."""

import logging
import sys

import pytest
import sacrebleu.metrics.bleu


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests, too")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: runs with --slow only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow and not config.getoption("--slow"):
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=slow)


def left_to_right(numbers):
    """`sum` as Python had it before 3.12, which compensates for rounding."""
    total = 0
    for number in numbers:
        total += number
    return total


if sys.version_info >= (3, 12):
    sacrebleu.metrics.bleu.sum = left_to_right


@pytest.fixture(autouse=True)
def _logging_kept():
    """The command sets how much its process logs: in a test this ends with the test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
