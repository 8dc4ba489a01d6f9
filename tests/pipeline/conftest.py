"""Fixtures of the tests of output folders."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder for the output, which does not exist yet."""
    return tmp_path / "out"
