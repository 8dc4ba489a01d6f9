"""The lock on an output folder: a run never ignores it silently, and always stops quickly."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path

import pytest

from beam_bleu.pipeline.output.locking import LOCK, locked


@pytest.fixture
def out(tmp_path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def test_a_filesystem_without_locks(out, monkeypatch):
    def flock(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(str(out)) as lock:
        assert not lock.is_held
    assert os.listdir(out) == []


def test_other_users_can_open_the_lock_file(out):
    umask = os.umask(0o077)
    try:
        with locked(str(out)) as lock:
            assert lock.is_held
            assert stat.S_IMODE((out / LOCK).stat().st_mode) == 0o666
    finally:
        os.umask(umask)
