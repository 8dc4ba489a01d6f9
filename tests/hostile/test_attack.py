"""Runs the attack for several seconds."""

from __future__ import annotations

from pathlib import Path

import attack
import pytest

SEED = 8


@pytest.mark.parametrize(
    ("seed", "seconds"), [(SEED, 2), pytest.param(SEED + 1, 60, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("kind", ["right", "wrong"])
def test_no_case_fails(kind: str, seed: int, seconds: float, tmp_path: Path) -> None:
    assert attack.run(kind, seed, seconds, tmp_path) == 0
