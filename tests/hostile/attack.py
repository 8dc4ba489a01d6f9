"""Attacks the whole command with random corpora, files and faults; see the README here."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

if __name__ == "__main__":
    _TESTS = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(_TESTS), str(_TESTS.parent)]

import changed
import conftest  # noqa: F401  # sacreBLEU has to add as it did on Python 3.11
import process
import right
import wrong
from case import Case, DifferenceError

KINDS: dict[str, tuple[Callable[[Case], None], int]] = {
    # what attacks, and its share of all cases
    "right": (right.attack, 45),
    "wrong": (wrong.attack, 38),
    "changed": (changed.attack, 13),
    "process": (process.attack, 4),
}


def kind_of(seed: int, number: int) -> str:
    """The kind of a case."""
    weights = [weight for _, weight in KINDS.values()]
    return random.Random(f"kind {seed}/{number}").choices(list(KINDS), weights)[0]


def run_case(seed: int, number: int, folder: Path) -> str | None:
    """Runs a case in a new folder; returns None, or the report of its failure."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kind, case = kind_of(seed, number), Case(seed, number, folder)
    try:
        KINDS[kind][0](case)
    except DifferenceError as difference:
        found = str(difference)
    except Exception:
        found = "the attack itself failed\n" + traceback.format_exc()
    else:
        shutil.rmtree(folder)
        return None
    ran = [f"\n  ran:    python -m beam_bleu.pipeline {command}" for command in case.commands]
    return (
        f"FAILED case {number}, {kind}: {case.what}\n  {found}\n"
        f"  repeat: python tests/hostile/attack.py --seed {seed} --only {number}\n"
        f"  files:  {folder}{''.join(ran)}"
    )


def run(seed: int, seconds: float, kinds: Sequence[str], keep: Path) -> tuple[Counter[str], int]:
    """Runs cases, from number 0 on, until the time is up and there was a case of each kind.

    Args:
      seed: the seed of all cases.
      seconds: no case starts later than this, except the first one of a kind.
      kinds: the kinds to run; cases of others are left out.
      keep: the folder that gets the folders of the cases that fail.

    Returns:
      How many cases of each kind ran, and how many of all failed; each failure is printed.
    """
    cases: Counter[str] = Counter()
    start, number, failures = time.monotonic(), 0, 0
    while time.monotonic() - start < seconds or cases.keys() != {*kinds}:
        kind = kind_of(seed, number)
        if kind in kinds:
            cases[kind] += 1
            if failure := run_case(seed, number, keep / f"case-{seed}-{number}"):
                failures += 1
                print(failure)
        number += 1
    return cases, failures


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long; default 60")
    parser.add_argument("--seed", type=int, default=0, help="of all cases; default 0")
    parser.add_argument("--only", type=int, metavar="N", help="run this one case")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS], help="default all")
    given = parser.parse_args()
    keep = Path(tempfile.mkdtemp(prefix="beam-bleu-attack-"))
    if given.only is not None:
        failure = run_case(given.seed, given.only, keep / f"case-{given.seed}-{given.only}")
        print(failure or f"case {given.only} passed")
        return failure is not None
    cases, failures = run(given.seed, given.seconds, given.kinds, keep)
    print(", ".join(f"{name}: {number}" for name, number in cases.items()), f"failed: {failures}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
