"""A DoFn on threads: order, windows, a bounded number of elements at a time, errors."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from apache_beam.transforms import window
from command_line import called

from beam_bleu.transforms.wiring import steps as threads
from beam_bleu.transforms.wiring.steps import CollectBundles, ThreadedDoFn, shared_pool


class Slowly(ThreadedDoFn):
    """Gives each number twice, the small ones slowly."""

    def work(self, element: int) -> Iterable[int]:
        time.sleep(0.02 if element < 3 else 0)
        return [element, element]


class Large(ThreadedDoFn):
    """Gives (element, place) for a hundred places, and counts the outputs that are held."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.made = self.emitted_so_far = self.most = 0
        self.lock = threading.Lock()

    def weight(self, output: tuple[int, int]) -> int:
        return 1

    def work(self, element: int) -> Iterable[tuple[int, int]]:
        for place in range(100):
            with self.lock:
                self.made += 1
                self.most = max(self.most, self.made - self.emitted_so_far)
            if (element, place) == (13, 99):
                raise ValueError("thirteen")
            yield element, place

    def emitted(self, output: tuple[int, int]) -> None:
        with self.lock:
            self.emitted_so_far += 1


def outputs(dofn: ThreadedDoFn, elements: Iterable[int]) -> list[Any]:
    """The outputs of a bundle of elements, in order. Each element is in a window of its own."""
    dofn.setup()
    dofn.start_bundle()
    found = []
    for element in elements:
        found += list(dofn.process(element, window.IntervalWindow(element, element + 1), element))
    found += list(dofn.finish_bundle())
    dofn.teardown()
    return found


def values(dofn: ThreadedDoFn, elements: Iterable[int]) -> list[Any]:
    return [getattr(output, "value", output) for output in outputs(dofn, elements)]


def test_outputs_come_in_the_order_of_the_elements_in_their_windows() -> None:
    for number in (1, 2, 8):
        assert values(Slowly(number), [0, 5, 1, 6, 2]) == [0, 0, 5, 5, 1, 1, 6, 6, 2, 2]
    for output in outputs(Slowly(4), [0, 5, 1, 6, 2]):
        (in_window,) = output.windows
        assert in_window.start == output.timestamp == output.value


def test_large_outputs_are_emitted_in_parts(monkeypatch) -> None:
    monkeypatch.setattr(threads, "_PART_BYTES", 5)
    large = Large(3)
    found = values(large, range(12))
    assert sorted(found) == [(element, place) for element in range(12) for place in range(100)]
    for element in range(12):
        assert [place for each, place in found if each == element] == list(range(100))
    assert large.most <= 5 * (2 * 3 + 1)
    with pytest.raises(ValueError, match="thirteen"):
        outputs(Large(3), range(20))


class Adder:
    """Adds up numbers. It notices if two threads use it at the same time."""

    def __init__(self) -> None:
        self.total = 0
        self.lock = threading.Lock()

    def add(self, number: int) -> None:
        assert self.lock.acquire(blocking=False)
        self.total += number
        self.lock.release()


class SumNumbers(CollectBundles):
    def new_collector(self) -> Adder:
        return Adder()

    def collected(self, adder: Adder) -> list[int]:
        return [adder.total]


def test_a_bundle_adds_up_each_element_once():
    found = values(SumNumbers(5), range(1000))
    assert sum(found) == sum(range(1000))
    assert 1 <= len(found) <= 5


# The threads that steps share: who uses them, and what a failed step leaves.


class Worked(ThreadedDoFn):
    """Gives each number, and fails for negative ones. It waits before it works on a number."""

    def __init__(self) -> None:
        super().__init__(2)
        self.setup()
        self.go = threading.Event()
        self.go.set()
        self.begun: list[int] = []

    def work(self, element: int) -> Iterable[int]:
        self.begun.append(element)
        assert self.go.wait(30)
        if element < 0:
            raise ValueError("negative")
        return [element]

    def given(self, *elements: int) -> None:
        """Begins a bundle."""
        self.start_bundle()
        for element in elements:
            assert list(self.process(element, window.GlobalWindow(), 0)) == []

    def finished(self) -> list[int]:
        return [each.value for each in self.finish_bundle()]


@pytest.fixture(autouse=True)
def _pools_of_their_own() -> Iterable[None]:
    shared_pool.cache_clear()
    yield
    shared_pool.cache_clear()


def test_a_failed_bundle_fails_no_other_step() -> None:
    first, second = Worked(), Worked()
    first.given(-1, 5)
    second.given(1, 2)
    with pytest.raises(ValueError, match="negative"):
        first.finished()
    first.given(6)
    assert (first.finished(), second.finished()) == ([6], [1, 2])


def test_what_waits_of_a_failed_bundle_is_never_begun() -> None:
    for end in ("start_bundle", "teardown"):
        first, second = Worked(), Worked()
        first.go.clear()
        first.given(1, 2, 3, 4)  # two of them are begun, and two wait
        while len(first.begun) < 2:
            threading.Event().wait(0.001)
        getattr(first, end)()
        first.go.set()
        second.given(5)
        assert second.finished() == [5]
        assert sorted(first.begun) == [1, 2]


class NothingSubmits(ThreadPoolExecutor):
    """One thread. What runs on it may not submit, because it could wait for itself forever."""

    def __init__(self, threads: int) -> None:
        super().__init__(1, thread_name_prefix="of the pool")

    def submit(self, *what: Any) -> Any:  # type: ignore[override]
        assert not threading.current_thread().name.startswith("of the pool")
        return super().submit(*what)


def test_nothing_on_the_threads_waits_for_them(tmp_path, monkeypatch):
    monkeypatch.setattr(threads, "ThreadPoolExecutor", NothingSubmits)
    path = tmp_path / "lines.txt.gz"
    path.write_bytes(gzip.compress(b"".join(b"the line %d of it\n" % n for n in range(20_000))))
    systems = ["--candidates", f"a={path}", "--candidates", f"b={path}"]
    flags = (f"--output={tmp_path}/out", "--segment_scores", "--threads=2")
    run = called("--references", str(path), *systems, *flags)
    assert run.code == 0, run.err
