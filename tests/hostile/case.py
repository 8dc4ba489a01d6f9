"""A case: its random choices, its files, and its runs of the command."""

from __future__ import annotations

import dataclasses
import random
import shlex
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from checks import DifferenceError
from command_line import Argument, Run, called

_PATIENCE = 120
"""Seconds after which a run of the command hangs."""


@dataclasses.dataclass
class Case:
    """One case of the attack. All its choices come from (seed, number).

    Attributes:
      seed: the seed of the whole attack.
      number: which case it is.
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
        """Runs the command in this process.

        Raises:
          DifferenceError: it hangs.
        """
        self.noted(arguments)
        with _watched():
            return called(*arguments)

    def noted(self, arguments: Sequence[Argument]) -> None:
        self.commands.append(shlex.join(map(str, arguments)))


@contextmanager
def _watched() -> Iterator[None]:
    hung = []

    def stop(number: int, frame: object) -> None:
        hung.append(True)
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if hung:
            raise DifferenceError(f"the command was still running after {_PATIENCE} seconds")
