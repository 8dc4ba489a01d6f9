"""Attacks the whole command with random corpora, files and faults; see the README here."""

from __future__ import annotations

import argparse
import dataclasses
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

if __name__ == "__main__":
    _TESTS = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(_TESTS), str(_TESTS.parent)]

import changed
import conftest  # noqa: F401  # sacreBLEU has to add as it did on Python 3.11
import process
import valid
import wrong
from case import Case
from checks import DifferenceError

KINDS: dict[str, tuple[Callable[[Case], None], int]] = {
    # what attacks, and its share of all cases
    "valid": (valid.attack, 45),
    "wrong": (wrong.attack, 38),
    "changed": (changed.attack, 13),
    "process": (process.attack, 4),
}


@dataclasses.dataclass
class Tally:
    """The results of the cases of one kind."""

    cases: int = 0
    failures: int = 0
    seconds: float = 0.0


def kind_of(seed: int, number: int) -> str:
    """The kind of a case."""
    weights = [weight for _, weight in KINDS.values()]
    return random.Random(f"kind {seed}/{number}").choices(list(KINDS), weights)[0]


def run_case(seed: int, number: int, folder: Path) -> str | None:
    """Runs a case in a new folder; returns None, or the report of its failure."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kind = kind_of(seed, number)
    case = Case(seed, number, folder)
    try:
        KINDS[kind][0](case)
    except DifferenceError as difference:
        found = str(difference)
    except Exception:
        found = "the attack itself failed\n" + traceback.format_exc()
    else:
        shutil.rmtree(folder)
        return None
    ran = "".join(
        f"\n  ran:    python -m beam_bleu.pipeline {command}" for command in case.commands
    )
    return (
        f"FAILED case {number}, {kind}: {case.what}\n  {found}\n"
        f"  repeat: python tests/hostile/attack.py --seed {seed} --only {number}\n"
        f"  files:  {folder}{ran}"
    )


def run(
    seed: int,
    seconds: float,
    kinds: Sequence[str] = tuple(KINDS),
    keep: Path | None = None,
    report: Callable[[str], None] = print,
) -> dict[str, Tally]:
    """Runs cases, from number 0 on, until the time is up and there was a case of each kind.

    Args:
      seed: the seed of all cases.
      seconds: no case starts later than this, except the first one of a kind.
      kinds: the kinds to run; cases of others are left out.
      keep: the folder that gets the folders of the cases that fail.
      report: gets the report of each failure.

    Returns:
      A tally for each kind.
    """
    keep = keep or Path(tempfile.mkdtemp(prefix="beam-bleu-attack-"))
    tallies = {kind: Tally() for kind in kinds}
    start, number = time.monotonic(), 0
    while time.monotonic() - start < seconds or not all(each.cases for each in tallies.values()):
        tally = tallies.get(kind_of(seed, number))
        if tally is not None:
            began = time.monotonic()
            failure = run_case(seed, number, keep / f"case-{seed}-{number}")
            tally.seconds += time.monotonic() - began
            tally.cases += 1
            if failure:
                tally.failures += 1
                report(failure)
        number += 1
    if not any(keep.iterdir()):
        keep.rmdir()
    return tallies


def table(tallies: dict[str, Tally]) -> str:
    """The tallies as lines of text."""
    total = Tally(*map(sum, zip(*map(dataclasses.astuple, tallies.values()), strict=True)))
    lines = [f"{'kind':10} {'cases':>7} {'failures':>9} {'seconds':>8}"]
    for name, tally in [*tallies.items(), ("all", total)]:
        lines.append(f"{name:10} {tally.cases:7} {tally.failures:9} {tally.seconds:8.0f}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long; default 60")
    parser.add_argument("--seed", type=int, default=0, help="of all cases; default 0")
    parser.add_argument("--only", type=int, metavar="N", help="run this one case")
    parser.add_argument("--kinds", default=",".join(KINDS), help="default %(default)s")
    parser.add_argument("--keep", type=Path, help="the folder for the files of failures")
    arguments = parser.parse_args()
    kinds = arguments.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"--kinds: there is no {', '.join(unknown)}; choose of {', '.join(KINDS)}")
    if arguments.only is not None:
        keep = arguments.keep or Path(tempfile.mkdtemp(prefix="beam-bleu-attack-"))
        failure = run_case(
            arguments.seed, arguments.only, keep / f"case-{arguments.seed}-{arguments.only}"
        )
        print(failure or f"case {arguments.only} passed")
        return failure is not None
    tallies = run(arguments.seed, arguments.seconds, kinds, arguments.keep)
    print(table(tallies))
    return any(tally.failures for tally in tallies.values())


if __name__ == "__main__":
    sys.exit(main())
