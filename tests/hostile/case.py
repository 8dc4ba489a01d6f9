"""A case of the attack: its random choices, its runs of the command, and what they must be."""

from __future__ import annotations

import dataclasses
import os
import random
import shlex
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from command_line import Argument, Run, called, without_progress

from beam_bleu.pipeline.folder.file_names import WRITTEN

PATIENCE = 120
"""Seconds after which a run of the command hangs."""


class DifferenceError(Exception):
    """The command's result is not what the oracle says."""


def check(holds: bool, difference: str) -> None:
    if not holds:
        raise DifferenceError(difference)


@dataclasses.dataclass
class Case:
    """One case of the attack. All its choices come from (seed, number).

    Attributes:
      folder: an empty folder for its files.
      what: what the case tries, for the report of a failure.
      commands: the arguments of each run so far.
    """

    seed: int
    number: int
    folder: Path
    what: str = ""
    commands: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.seed}/{self.number}")

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def run(self, *arguments: Argument) -> Run:
        """Runs the command in this process."""
        self.commands.append(shlex.join(map(str, arguments)))
        with _watched():
            return called(*arguments)


@contextmanager
def _watched() -> Iterator[None]:
    hung = []

    def stop(number: int, frame: object) -> None:
        hung.append(True)
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        check(not hung, f"the command was still running after {PATIENCE} seconds")


def complaints(run: Run) -> list[str]:
    """The lines on stderr that are neither warnings nor progress."""
    lines = without_progress(run.err).split("\n")[:-1]
    return [line for line in lines if not line.startswith("beam-bleu: warning: ")]


def check_success(run: Run) -> dict[str, Any]:
    """Checks that the run succeeded and printed only warnings; returns its document."""
    check(run.code == 0, f"exit code {run.code}, expected 0: {run.err.strip()}")
    check(complaints(run) == [], f"exit code 0, but on stderr: {run.err.strip()}")
    return run.document


def check_refusal(run: Run, codes: Sequence[int] = (3,), names: Sequence[str] = ()) -> None:
    """Checks that the run ended with one of these codes, no result, a cause and a remedy.

    The message has to contain one of the names, if there are any.
    """
    check(run.code in codes, f"exit code {run.code}, expected {codes}: {run.err.strip()}")
    check(run.out == b"", f"exit code {run.code}, but on stdout: {run.out[:200]!r}")
    lines = complaints(run)
    told = len(lines) == 2 and lines[0].startswith("beam-bleu: ") and lines[1].startswith("  ")
    check(told and bool(lines[1].strip()), f"stderr is not a cause and a remedy: {run.err!r}")
    named = not names or any(name in run.err for name in names)
    check(named, f"the message names none of {', '.join(names)}: {run.err.strip()}")


class OutputFolder:
    """A folder for --output that may hold an older result."""

    _OLD_TIME = 10**18

    def __init__(self, case: Case) -> None:
        self.path = case.folder / "out"
        self.scores = self.path / "scores.json"
        self.before: bytes | None = None
        if case.chance(0.5):
            self.path.mkdir()
            self.before = b'{"older": true}\n'
            self.scores.write_bytes(self.before)
            os.utime(self.scores, ns=(self._OLD_TIME, self._OLD_TIME))

    @property
    def now(self) -> bytes | None:
        return self.scores.read_bytes() if self.scores.exists() else None

    def check_untouched(self) -> None:
        """Checks that the older result is not changed and that there is no new one."""
        check(self.now == self.before, f"scores.json is {self.now!r}, was {self.before!r}")
        if self.before is not None:
            check(self.scores.stat().st_mtime_ns == self._OLD_TIME, "scores.json was rewritten")
        self.check_no_litter()

    def check_no_litter(self) -> None:
        """Checks that the folder contains only the result."""
        names = sorted(path.name for path in self.path.iterdir()) if self.path.exists() else []
        known = {*WRITTEN, "segment_scores"}
        litter = [name for name in names if name not in known]
        check(litter == [], f"files were left in the output folder: {', '.join(litter)}")
