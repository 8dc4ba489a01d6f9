"""Reading ahead gives the same chunks and errors, makes few of them, and leaves no thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator

import pytest

from beam_bleu.transforms.pairing.files.chunks import read_ahead

PIECES = [b"%d" % i for i in range(50)]
each_number_of_threads = pytest.mark.parametrize("threads", [1, 2])


class Pieces:
    """A text that says how much of it was made, and whether it was closed."""

    def __init__(self, error_after: int | None = None) -> None:
        self._error_after = error_after
        self.made = 0
        self.is_closed = False

    def all(self) -> Generator[bytes, None, None]:
        try:
            for piece in PIECES:
                if self.made == self._error_after:
                    raise ValueError("bad piece")
                self.made += 1
                yield piece
        finally:
            self.is_closed = True


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen in ten seconds")


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = set(threading.enumerate())
    yield
    wait_until(lambda: set(threading.enumerate()) <= before)


@each_number_of_threads
def test_it_gives_the_same_pieces_and_an_error_at_its_place(threads):
    pieces = Pieces()
    assert list(read_ahead(pieces.all(), threads)) == PIECES
    wait_until(lambda: pieces.is_closed)
    for place in (0, 2, 49):
        ahead = read_ahead(Pieces(error_after=place).all(), threads)
        assert [next(ahead) for _ in range(place)] == PIECES[:place]
        with pytest.raises(ValueError, match="bad piece"):
            next(ahead)
        assert list(ahead) == []


@each_number_of_threads
def test_few_pieces_are_made_ahead_and_closing_ends_them(threads):
    pieces = Pieces()
    ahead = read_ahead(pieces.all(), threads)
    for _ in range(10):
        next(ahead)
    time.sleep(0.05)  # more would be made now
    assert pieces.made <= 12
    ahead.close()
    wait_until(lambda: pieces.is_closed)
    assert pieces.made <= 12


def test_closing_does_not_wait_for_a_filesystem_that_is_stuck():
    goes_on, has_gone_on = threading.Event(), threading.Event()

    def stuck() -> Generator[bytes, None, None]:
        yield b"first"
        goes_on.wait(60)
        has_gone_on.set()
        yield b"second"

    ahead = read_ahead(stuck(), threads=2)
    assert next(ahead) == b"first"
    ahead.close()
    assert not has_gone_on.is_set()
    goes_on.set()
