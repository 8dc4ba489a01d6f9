"""Files that change while they are read: the old result, the new one, or an error, no mixture."""

from __future__ import annotations

import builtins
import contextlib
import io
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from case import Case, OutputFolder, check, check_refusal, check_success
from corpora import make_corpus, make_definition
from shards import ShardFile, encoded, make_layout, plain_layout

_OTHER_LETTERS = str.maketrans("acehimnorst", "cehimnorsta")


def attack(case: Case) -> None:
    """Changes one file at a random moment of the reading."""
    chooser = case.random
    corpus = make_corpus(chooser, chooser.choice([20, 60, 200, 600]), plain=True, streams=4)
    change = chooser.choice(CHANGES)
    case.what = (change.__doc__ or "").rstrip(".").lower()
    same_size = change in (_in_place, _renamed)
    if same_size and case.chance(0.6):  # one file, which is opened for each unit of work
        layout = plain_layout(case.folder / "in", corpus)
    else:
        suffixes = ("",) if same_size else ("", "", ".gz", ".zst")
        layout = make_layout(case, corpus, suffixes=suffixes)
    stream = chooser.choice(layout.streams)
    shard = chooser.choice([shard for shard in stream.shards if shard.lines])
    shard.write()
    if case.chance(0.3):
        os.utime(shard.path, ns=(0, 0))  # a file without a date
    size = sum(file.path.stat().st_size for file in layout.files)
    flags = [
        *("--format=json", f"--threads={chooser.choice([1, 1, 3])}"),
        f"--range_bytes={max(16, size // chooser.choice([1, 10, 40]))}",
        *make_definition(chooser).flags,
    ]

    counting = _Reading(case.folder)
    with counting.watched():
        old = case.run(*layout.arguments(*flags))
    check_success(old)
    assert counting.steps, "the attack does not see the command read its files"

    # Lines are counted first, then read to be scored. A mixture can come from the second half.
    at = chooser.randrange(counting.steps // 2 if case.chance(0.7) else 0, counting.steps)
    case.what += f" at step {at} of {counting.steps}"
    output = OutputFolder(case)
    reading = _Reading(case.folder, at, lambda: change(case, shard))
    with reading.watched():
        run = case.run(*layout.arguments(*flags, "--output", output.path))
    if run.code:
        check_refusal(run, names=[str(shard.path), stream.pattern])
        output.check_untouched()
        return
    check(output.now == run.out, "scores.json is not what was printed")
    if run.out != old.out:
        now = case.run(*layout.arguments(*flags))
        check(run.out == now.out, "exit code 0 with a result of neither the old text nor the new")


class _Reading:
    """Counts the steps in which files of a folder are opened and read, and acts before one.

    Attributes:
      steps: how many there were.
    """

    def __init__(
        self, folder: Path, at: int | None = None, act: Callable[[], None] = lambda: None
    ) -> None:
        self.steps = 0
        self._folder = f"{folder}/in/"
        self._at = at
        self._act = act
        self._lock = threading.Lock()
        self._open = io.open

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """While the body runs, counts each time that a file is opened or read."""

        def watching(file: Any, *arguments: Any, **keywords: Any) -> Any:
            if not str(file).startswith(self._folder):
                return self._open(file, *arguments, **keywords)
            self.step()
            return _WatchedFile(self._open(file, *arguments, **keywords), self)

        io.open = builtins.open = watching  # type: ignore[assignment]
        try:
            yield
        finally:
            io.open = builtins.open = self._open

    def step(self) -> None:
        with self._lock:
            if self.steps == self._at:
                io.open = builtins.open = self._open  # for what acts
                self._act()
            self.steps += 1


class _WatchedFile:
    def __init__(self, file: Any, reading: _Reading) -> None:
        self._file = file
        self._reading = reading

    def read(self, *size: int) -> bytes:
        self._reading.step()
        return self._file.read(*size)

    def __enter__(self) -> _WatchedFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


# Changes


def _other_text(case: Case, shard: ShardFile) -> bytes:
    """Other words with the same number of bytes and lines."""
    data = shard.path.read_bytes()
    text = data.decode().translate(_OTHER_LETTERS)
    if case.chance(0.3):  # lines of other lengths, too
        lines = text.split("\n")
        lines[:-1] = lines[-2::-1]
        text = "\n".join(lines)
    return text.encode()


def _in_place(case: Case, shard: ShardFile) -> None:
    """A file overwritten with the same number of bytes, with its date set back."""
    status, text = shard.path.stat(), _other_text(case, shard)
    with open(shard.path, "r+b") as file:
        file.write(text)
    if case.chance(0.8):
        os.utime(shard.path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _renamed(case: Case, shard: ShardFile) -> None:
    """A file replaced by another of the same size and date."""
    status, other = shard.path.stat(), case.folder / "other"
    other.write_bytes(_other_text(case, shard))
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(other, shard.path)


def _replaced(case: Case, shard: ShardFile) -> None:
    """A file replaced by one with other lines."""
    other = ShardFile(case.folder / f"other{shard.suffix}", ["other", *shard.lines[::-1]])
    other.write()
    os.replace(other.path, shard.path)


def _truncated(case: Case, shard: ShardFile) -> None:
    """A file truncated."""
    os.truncate(shard.path, case.random.randrange(shard.path.stat().st_size))


def _appended(case: Case, shard: ShardFile) -> None:
    """A file that grows."""
    with open(shard.path, "ab") as file:
        file.write(case.random.choice([b"more", b"a line\n", encoded(shard.lines)]))


def _deleted(case: Case, shard: ShardFile) -> None:
    """A file deleted."""
    shard.path.unlink()


CHANGES = [_in_place, _in_place, _renamed, _renamed, _replaced, _truncated, _appended, _deleted]
