"""Fixtures of the tests of compiled code: each test chooses the folder of its cache again."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from beam_bleu.transforms.native import machine_code as folders


@pytest.fixture(autouse=True)
def _fresh_choice_of_folder() -> Iterator[None]:
    folders.cache_folder.cache_clear()
    yield
    folders.cache_folder.cache_clear()


@pytest.fixture
def chosen(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """What the user has chosen as NUMBA_CACHE_DIR."""
    folder = tmp_path / "chosen"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    return folder
