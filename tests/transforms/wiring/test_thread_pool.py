"""The threads that steps share: who uses them, and what a failed step leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from apache_beam.transforms import window
from command_line import called
from compressing import COMPRESS

from beam_bleu.transforms.wiring import threads
from beam_bleu.transforms.wiring.threads import ThreadedDoFn, shared_pool


class Worked(ThreadedDoFn):
    """Gives each number, and fails for negative ones. It waits before it works on a number."""

    def __init__(self) -> None:
        super().__init__(2)
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


@pytest.fixture
def two() -> tuple[Worked, Worked]:
    """Two steps that are set up."""
    first, second = Worked(), Worked()
    first.setup()
    second.setup()
    return first, second


def test_a_failed_bundle_fails_no_other_step(two: tuple[Worked, Worked]) -> None:
    first, second = two
    first.given(-1, 5)
    second.given(1, 2)
    with pytest.raises(ValueError, match="negative"):
        first.finished()
    first.given(6)
    assert (first.finished(), second.finished()) == ([6], [1, 2])


@pytest.mark.parametrize("end", ["start_bundle", "teardown"])
def test_what_waits_of_a_failed_bundle_is_never_begun(two: tuple[Worked, Worked], end: str) -> None:
    first, second = two
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


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_nothing_on_the_threads_waits_for_them(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(threads, "ThreadPoolExecutor", NothingSubmits)
    path = tmp_path / f"lines.txt{suffix}"
    text = "".join(f"the line {number} of the text\n" for number in range(20_000)).encode()
    path.write_bytes(COMPRESS[suffix](text) if suffix else text)
    arguments = ["--references", path, "--candidates", f"a={path}", "--candidates", f"b={path}"]
    run = called(
        *map(str, arguments), f"--output={tmp_path}/out", "--segment_scores", "--threads=2"
    )
    assert run.code == 0, run.err
