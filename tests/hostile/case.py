"""A case of the attack: its random choices, its runs of the command, and how they must end."""

from __future__ import annotations

import random
import shlex
from pathlib import Path
from typing import Any

import pytest
from command_line import Argument, Run, called

from beam_bleu.pipeline.folder.file_names import WRITTEN


def numbers(fast: int, nightly: int) -> list[Any]:
    """The numbers of cases, of which all but the first ones run at night."""
    at_night = (pytest.param(number, marks=pytest.mark.nightly) for number in range(fast, nightly))
    return [*range(fast), *at_night]


class Case:
    """One case of the attack. All its choices come from its seed."""

    def __init__(self, seed: str, folder: Path) -> None:
        self.random = random.Random(seed)
        self.folder, self.output = folder, folder / "out"
        self.older = b'{"older": true}\n' if self.chance(0.5) else None
        if self.older is not None:
            self.output.mkdir()
            (self.output / "scores.json").write_bytes(self.older)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def run(self, *arguments: Argument) -> Run:
        """Runs the command in this process. If the case fails, pytest shows what is printed."""
        print("python -m beam_bleu.pipeline", shlex.join(map(str, arguments)))
        return called(*arguments)

    def check_output(self, expected: bytes | None) -> None:
        """Checks that scores.json has this content, and that nothing else was left beside it."""
        names = {path.name for path in self.output.iterdir()} if self.output.exists() else set()
        assert names <= {*WRITTEN}, f"files were left in the output folder: {names}"
        found = self.output / "scores.json"
        assert (found.read_bytes() if found.exists() else None) == expected


def complaints(run: Run) -> list[str]:
    """The lines on stderr that are no warnings."""
    lines = run.err.splitlines()
    return [line for line in lines if not line.startswith("beam-bleu: warning: ")]
