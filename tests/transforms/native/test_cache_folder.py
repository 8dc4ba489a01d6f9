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


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, None])
def test_a_folder_that_others_can_write_is_not_used(
    mode: int | None,
    chosen: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if mode is None and os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    package = tmp_path / "package"
    monkeypatch.setattr(folders, "__file__", str(package / "native" / "cache_folder.py"))
    before = os.umask(0o000)  # what is made is safe whatever it is
    try:
        made = choose()
    finally:
        os.umask(before)
    folder = made.path
    assert folder is not None
    assert folder.parent == chosen
    assert choose() == made
    if mode is None:
        os.chown(folder, 12345, -1)
    else:
        folder.chmod(mode)
    place = choose()
    assert place.path is not None
    assert place.path.parent == package / "__pycache__"
    assert place.warning is not None
    assert f"NUMBA_CACHE_DIR is not used ({chosen}: " in place.warning
    assert str(folder) in place.warning
