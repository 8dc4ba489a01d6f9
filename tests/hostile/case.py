"""A case of the attack: its random choices, its runs of the command, and how they must end."""

from __future__ import annotations

import dataclasses
import random
import shlex
from pathlib import Path

from command_line import Argument, Run, called

from beam_bleu.pipeline.folder.file_names import WRITTEN


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
        self.output = self.folder / "out"
        self.older = b'{"older": true}\n' if self.chance(0.5) else None
        if self.older is not None:
            self.output.mkdir()
            (self.output / "scores.json").write_bytes(self.older)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def run(self, *arguments: Argument) -> Run:
        """Runs the command in this process."""
        self.commands.append(shlex.join(map(str, arguments)))
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
