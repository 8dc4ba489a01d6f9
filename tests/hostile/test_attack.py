"""Runs the attack for several seconds, and each fault of a process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attack
import process
import pytest
from case import Case

SEED = 8


@pytest.mark.parametrize(
    ("seed", "seconds"), [(SEED, 2), pytest.param(SEED + 1, 60, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("kind", ["right", "wrong", "changed"])
def test_no_case_fails(kind: str, seed: int, seconds: float, tmp_path: Path) -> None:
    _, failures = attack.run(seed, seconds, [kind], tmp_path)
    assert not failures


@pytest.mark.parametrize(
    "fault", [process.stopped, pytest.param(process.two_at_once, marks=pytest.mark.nightly)]
)
def test_no_fault_of_a_process_fails(fault: Callable[[Case], None], tmp_path: Path) -> None:
    fault(Case(SEED, 0, tmp_path))
