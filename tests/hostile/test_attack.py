"""Runs the attack for several seconds, and proves that it would find faults."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import attack
import case as case_module
import process
import pytest
from case import Case
from command_line import Run, called

SEED = 8
IN_PROCESS = ["valid", "wrong", "changed"]


def first_case(kind: str, seed: int = SEED) -> int:
    return next(number for number in range(1000) if attack.kind_of(seed, number) == kind)


@pytest.mark.parametrize(
    ("seed", "seconds"),
    [(SEED, 2), pytest.param(SEED + 1, 60, marks=pytest.mark.nightly)],
)
@pytest.mark.parametrize("kind", IN_PROCESS)
def test_no_case_fails(kind: str, seed: int, seconds: float, tmp_path: Path) -> None:
    reports: list[str] = []
    tallies = attack.run(seed, seconds, [kind], tmp_path, reports.append)
    assert not reports, "\n".join(reports)
    assert tallies[kind].cases >= 1


@pytest.mark.parametrize(
    "fault",
    [
        # Each starts several processes. The fast tests of single files have the same faults.
        pytest.param(fault, marks=[pytest.mark.nightly] * (fault is not process.FAULTS[0]))
        for fault in sorted(set(process.FAULTS), key=lambda fault: fault.__name__)
    ],
)
def test_no_fault_of_a_process_fails(fault: Callable[[Case], None], tmp_path: Path) -> None:
    fault(Case(SEED, 0, tmp_path))


def with_another_score(run: Run) -> Run:
    if run.code:
        return run
    document = json.loads(run.out)
    document["scores"][0]["score"] += 1  # of whatever metric the case has
    return dataclasses.replace(run, out=json.dumps(document).encode())


def as_if_nothing_were_wrong(run: Run) -> Run:
    return Run(0, b'{"plausible": true}', "")


def with_more_to_say(run: Run) -> Run:
    return dataclasses.replace(run, err=run.err + "Traceback (most recent call last):\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "tampered", "found"),
    [
        ("valid", with_another_score, ": score: "),
        ("valid", with_more_to_say, "on stderr: "),
        ("wrong", as_if_nothing_were_wrong, "exit code 0, expected "),
        ("wrong", with_more_to_say, "a traceback"),
        ("changed", as_if_nothing_were_wrong, "scores.json is not what was printed"),
    ],
)
def test_a_command_that_is_wrong_is_found(
    kind: str,
    tampered: Callable[[Run], Run],
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(case_module, "called", lambda *given: tampered(called(*given)))
    number = first_case(kind)
    report = attack.run_case(SEED, number, tmp_path / "case")
    assert report is not None
    assert found in report
    assert f"--seed {SEED} --only {number}\n" in report
    assert f"files:  {tmp_path}/case" in report
    assert list((tmp_path / "case" / "in").iterdir()), "the files of the case were not kept"
