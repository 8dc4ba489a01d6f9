"""Attacks the whole command with random corpora and files; see the README here."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

import pytest

if __name__ == "__main__":
    _TESTS = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(_TESTS), str(_TESTS.parent)]
    import conftest  # noqa: F401  # sacreBLEU has to add as it did on Python 3.11

import wrong
from case import Case, complaints
from corpora import assert_right, flags_of, make_corpus, make_definition
from shards import make_layout, plain_layout, run_flags


def right_input(case: Case) -> None:
    """Right input in any form: the scores are sacreBLEU's, with the same bytes as plain files."""
    chooser = case.random
    corpus, choices = make_corpus(chooser), make_definition(chooser)
    case.what = chooser.choice(["plain", "shards", "shards", "shards", "other cuts"])
    more = run_flags(case, corpus)
    if case.what == "plain":
        layout = plain_layout(case.folder / "in", corpus)
    elif case.what == "other cuts":
        layout, more = make_layout(case, corpus, same_cuts=False), [*more, "--cuts=any"]
    else:
        layout = make_layout(case, corpus)
    document = ["--format=json", *flags_of(choices)]
    run = case.run(*layout.arguments(*document, *more, "--output", case.output))
    assert (run.code, complaints(run)) == (0, []), run.err
    assert_right(run.document, corpus, choices)
    case.check_output(run.out)
    if case.chance(0.4):
        plain = case.run(*plain_layout(case.folder / "plain", corpus).arguments(*document))
        assert plain.out == run.out, "the plain files give other bytes than the shards"


KINDS = {"right": right_input, "wrong": wrong.wrong_input}


def run_case(kind: str, seed: int, number: int, keep: Path) -> bool:
    """Runs a case in a new folder; if it fails, prints why, keeps the folder and returns False."""
    folder = keep / f"{kind}-{seed}-{number}"
    folder.mkdir(parents=True)
    case = Case(seed, number, folder)
    try:
        KINDS[kind](case)
    except Exception:
        print(f"FAILED case {number}, {kind}: {case.what}\n{traceback.format_exc()}")
        print(f"repeat: python tests/hostile/test_attack.py {kind} --seed {seed} --only {number}")
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


@pytest.mark.parametrize(
    ("seed", "seconds"), [(8, 2), pytest.param(9, 60, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_no_case_fails(kind, seed, seconds, tmp_path):
    assert run(kind, seed, seconds, tmp_path) == 0


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
