"""What the command gains by each trick: a private name of another package, or a patch of one.

    python -m benchmarks.speed.tricks --references 'DIR/ref-*' --candidates 'a=DIR/system01-*'

It runs the command as it is and without each trick, in turns: on the bundled example (a start), and
on the texts that are named. It prints the CPU of the program and of all it has started, and the
time until its end, in milliseconds: medians, and the gain in percent of the run without the trick.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

_COMMAND = "from beam_bleu.pipeline import main; {patch}; main.command()"

# Some patches need modules that import Beam. They wait until the command has imported it itself.
_BEFORE_LAUNCH = """exec('''
launch = main._launch
def patched(*arguments):
    {patch}
    return launch(*arguments)
main._launch = patched
''')"""

_NEVER = "lambda *_: None"


@dataclasses.dataclass(frozen=True)
class Trick:
    """A row of `TRICKS`.

    Attributes:
      name: what it does.
      patch: Python that switches it off, before the command begins.
      late: Python that switches it off, before the job is built.
    """

    name: str
    patch: str = "pass"
    late: str = ""

    @property
    def program(self) -> str:
        """The command without the trick."""
        patch = _BEFORE_LAUNCH.format(patch=self.late) if self.late else f"exec({self.patch!r})"
        return _COMMAND.format(patch=patch)


_STARTING = "beam_bleu.pipeline.starting"

TRICKS = (
    Trick("no garbage collection before the job runs", "main.gc.disable = lambda: None"),
    Trick("`gc.freeze`", "main.gc.freeze = lambda: None"),
    Trick(
        "packages that no run uses are left out",
        f"import {_STARTING}.unused_packages as unused; "
        "unused._UNUSED = unused._OF_OTHER_MACHINES = ()",
    ),
    Trick(
        "packages that few runs use are deferred",
        f"import {_STARTING}.unused_packages as unused; unused._SELDOM_USED = {{}}",
    ),
    Trick("freed memory is kept", f"main.keep_freed_memory = {_NEVER}"),
    Trick(
        "steps by `Map` look for state only in their function",
        late=f"import {_STARTING}.plain_steps as plain; "
        f"plain.look_only_where_state_can_be = {_NEVER}",
    ),
    Trick(
        "our steps look for state only in `process`",
        late=f"import {_STARTING}.plain_steps as plain; del plain.PlainDoFn.__dir__",
    ),
    Trick(
        "views of options are kept",
        late="import beam_bleu.pipeline.command_line.beam_flags as flags; "
        "del flags.KeptViews.view_as",
    ),
    Trick(
        "no thread samples the steps",
        late="import beam_bleu.pipeline.engines.in_process as runner; "
        "runner._NoSampler = runner.statesampler.StateSampler",
    ),
)
"""The tricks that can be switched off from outside."""


def measured(program: str, arguments: Sequence[str]) -> tuple[float, float]:
    """The CPU of a run and the time that it takes, in milliseconds.

    Raises:
      RuntimeError: it failed.
    """
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    after = os.times()
    if done.returncode:
        raise RuntimeError(done.stderr)
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    return 1000 * used, 1000 * (after.elapsed - before.elapsed)


def gains(arguments: Sequence[str], repeats: int) -> dict[str, tuple[float, float]]:
    """For each trick, and for the command with all of them (""), medians of runs in turns.

    They are the CPU and the time without the trick.
    """
    usual = _COMMAND.format(patch="pass")
    programs = {"": usual, **{trick.name: trick.program for trick in TRICKS}}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    for _ in range(repeats + 1):
        for name, program in programs.items():
            found[name].append(measured(program, arguments))
    # The first round warms caches up.
    return {
        name: (
            statistics.median(cpu for cpu, _ in runs[1:]),
            statistics.median(time for _, time in runs[1:]),
        )
        for name, runs in found.items()
    }


def main() -> int:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--references", required=True)
    parser.add_argument("--candidates", required=True)
    parser.add_argument("--repeats", type=int, default=9)
    flags = parser.parse_args()
    start = [str(EXAMPLES / "references/a.txt"), "-i", str(EXAMPLES / "systems/atlas.txt")]
    large = ["--references", flags.references, "--candidates", flags.candidates]
    runs = [gains([*each, "-q"], flags.repeats) for each in (start, large)]
    usual = ", ".join(f"{cpu:.0f} and {time:.0f}" for cpu, time in (each[""] for each in runs))
    print(f"CPU and time of a start, and of the texts, with all tricks: {usual} ms\n")
    print("| trick | start: CPU | start: time | texts: CPU | texts: time |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for trick in TRICKS:
        cells = [
            f"{100 * (1 - with_it / without):+.0f} %"
            for each in runs
            for with_it, without in zip(each[""], each[trick.name], strict=True)
        ]
        print(f"| {trick.name} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
