"""The folder of compiled code: never one that another user can write to."""

from __future__ import annotations

import os
import pathlib

import pytest

from beam_bleu.transforms.native import cache_folder as folders


def choose() -> folders.CacheFolder:
    """The choice of a new process."""
    folders.cache_folder.cache_clear()
    return folders.cache_folder()


def test_numbas_own_setting_is_kept_and_honoured(
    chosen: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        folders, "__file__", str(tmp_path / "package" / "native" / "cache_folder.py")
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    place = choose()
    assert place.path is not None
    assert place.path.name.startswith("beam-bleu-")
    assert list(chosen.iterdir()) == [place.path]
    assert [path.name for path in tmp_path.iterdir()] == ["chosen"], "no other folder is made"
    assert place.warning is None
    assert str(chosen) == os.environ["NUMBA_CACHE_DIR"]


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_a_folder_that_is_made_is_safe_whatever_the_umask(mask: int, chosen: pathlib.Path) -> None:
    before = os.umask(mask)
    try:
        place = choose()
    finally:
        os.umask(before)
    assert place.path is not None
    assert place.path.parent == chosen
    assert choose() == place


def give_away(path: pathlib.Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    os.chown(path, 12345, -1)


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, "given away"])
def test_a_folder_that_others_can_write_is_not_used(
    mode: int | str,
    chosen: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        folders, "__file__", str(tmp_path / "package" / "native" / "cache_folder.py")
    )
    folder = choose().path
    assert folder is not None
    assert folder.parent == chosen
    if isinstance(mode, int):
        folder.chmod(mode)
    else:
        give_away(folder)
    place = choose()
    assert place.path is not None
    assert place.path.parent == tmp_path / "package" / "__pycache__"
    assert place.warning is not None
    assert f"NUMBA_CACHE_DIR is not used ({chosen}: " in place.warning
    assert str(folder) in place.warning
