"""A DoFn that collects bundles: each element counts once, on any number of threads."""

from __future__ import annotations

import threading

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.testing.util import assert_that

from beam_bleu.transforms.wiring.threads import CollectBundles


class Adder:
    """Adds up numbers. It notices if two threads use it at the same time."""

    def __init__(self) -> None:
        self.total = 0
        self.lock = threading.Lock()

    def add(self, number: int) -> None:
        assert self.lock.acquire(blocking=False)
        if number < 0:
            raise ValueError(f"{number} is negative")
        self.total += number
        self.lock.release()


class SumNumbers(CollectBundles):
    def new_collector(self) -> Adder:
        return Adder()

    def collected(self, adder: Adder) -> list[tuple[str, int]]:
        return [("total", adder.total), ("adders", 1)]


class Held(SumNumbers):
    """Adds an element only when elements are added on two threads at the same time."""

    def setup(self) -> None:
        super().setup()
        self.barrier = threading.Barrier(2, timeout=30)

    def new_collector(self) -> Adder:
        self.barrier.wait()
        return super().new_collector()


def sums_of(step, numbers):
    """All sums that a step sends on for a bundle."""
    step.setup()
    step.start_bundle()
    for number in numbers:
        assert [*step.process(number)] == []
    found = [each.value for each in step.finish_bundle()]
    step.teardown()
    return found


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_pipeline_adds_up_each_element_once(threads):
    def check(found):
        assert sum(number for key, number in found if key == "total") == sum(range(1000))
        assert 1 <= sum(number for key, number in found if key == "adders") <= threads

    with beam.Pipeline(runner=FnApiRunner()) as root:
        # Without a reshuffle, all elements are in one bundle.
        numbers = root | beam.Create(range(1000), reshuffle=False)
        assert_that(numbers | beam.ParDo(SumNumbers(threads)), check)


def test_elements_are_added_at_the_same_time_to_different_adders():
    assert sorted(sums_of(Held(2), [1, 2])) == [("adders", 1)] * 2 + [("total", 1), ("total", 2)]
