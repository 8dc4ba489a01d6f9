"""Attacks the whole command with random corpora and files; see the README here."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

if __name__ == "__main__":
    _TESTS = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(_TESTS), str(_TESTS.parent)]

import conftest  # noqa: F401  # sacreBLEU has to add as it did on Python 3.11
import right
import wrong
from case import Case, DifferenceError

KINDS = {"right": right.attack, "wrong": wrong.attack}


def run_case(kind: str, seed: int, number: int, keep: Path) -> bool:
    """Runs a case in a new folder; if it fails, prints why, keeps the folder and returns False."""
    folder = keep / f"{kind}-{seed}-{number}"
    folder.mkdir(parents=True)
    case = Case(seed, number, folder)
    try:
        KINDS[kind](case)
    except Exception as error:
        print(f"FAILED case {number}, {kind}: {case.what}")
        print(error if isinstance(error, DifferenceError) else traceback.format_exc())
        print(f"repeat: python tests/hostile/attack.py {kind} --seed {seed} --only {number}")
        print(f"files: {folder}", *case.commands, sep="\nran: python -m beam_bleu.pipeline ")
        return False
    shutil.rmtree(folder)
    return True


def run(kind: str, seed: int, seconds: float, keep: Path) -> int:
    """Runs cases until the time is up; returns how many failed."""
    start, number, failures = time.monotonic(), 0, 0
    while number == 0 or time.monotonic() - start < seconds:
        failures += not run_case(kind, seed, number, keep)
        number += 1
    print(f"{kind}: {number} cases, {failures} failed")
    return failures


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seconds", type=float, default=60, help="how long; default 60")
    parser.add_argument("--seed", type=int, default=0, help="of all cases; default 0")
    parser.add_argument("--only", type=int, metavar="N", help="run this one case")
    given = parser.parse_args()
    keep = Path(tempfile.mkdtemp(prefix="beam-bleu-attack-"))
    if given.only is not None:
        return not run_case(given.kind, given.seed, given.only, keep)
    return run(given.kind, given.seed, given.seconds, keep) > 0


if __name__ == "__main__":
    sys.exit(main())
