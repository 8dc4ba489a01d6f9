"""The folder of compiled code: never one that another user can write to."""

from __future__ import annotations

import logging
import os
import pathlib

import pytest

from beam_bleu.transforms.native import machine_code as folders


def choose() -> pathlib.Path | None:
    """The choice of a new process."""
    folders._warnings.clear()
    folders.cache_folder.cache_clear()
    return folders.cache_folder()


def test_numbas_own_setting_is_kept_and_honoured(
    chosen: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "__file__", str(tmp_path / "package" / "native" / "folders.py"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    folder = choose()
    assert folder is not None
    assert folder.name.startswith("beam-bleu-")
    assert list(chosen.iterdir()) == [folder]
    assert [path.name for path in tmp_path.iterdir()] == ["chosen"], "no other folder is made"
    assert str(chosen) == os.environ["NUMBA_CACHE_DIR"]


@pytest.mark.parametrize("mode", [0o775, 0o757, None])
def test_a_folder_that_others_can_write_is_not_used(
    mode: int | None, chosen: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    if mode is None and os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    before = os.umask(0o000)  # what is made is safe whatever it is
    try:
        folder = choose()
    finally:
        os.umask(before)
    assert folder is not None
    assert folder.parent == chosen
    assert choose() == folder
    if mode is None:
        os.chown(folder, 12345, -1)
    else:
        folder.chmod(mode)
    with caplog.at_level(logging.WARNING, "beam_bleu"):
        assert choose() is None
    assert str(folder) in caplog.text


def test_without_a_choice_the_users_cache_is_used_if_the_package_cannot_be_written(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(folders, "__file__", str(package / "native" / "folders.py"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    first = choose()
    assert first is not None
    assert first.parent == package / "__pycache__"
    assert not (tmp_path / "own").exists()
    first.chmod(0o777)
    second = choose()
    assert second is not None
    assert second.parent == tmp_path / "own"
