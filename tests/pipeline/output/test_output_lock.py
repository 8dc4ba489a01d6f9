"""The lock on an output folder: a run never ignores it silently, and always stops quickly."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path

import pytest
from command_line import EXAMPLE, called
from result_folder import (
    RECORDS,
    assert_is_of,
    publish,
    published,
    scores_run,
    staged,
)

import beam_bleu.pipeline.graph
import beam_bleu.pipeline.output.locking
from beam_bleu.pipeline.output.locking import LOCK, locked
from beam_bleu.transforms.errors import JobError


@pytest.fixture
def out(tmp_path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def refuse_to_open(monkeypatch, path: Path, code: int) -> None:
    real = os.open

    def refusing(given, *arguments, **named):
        if isinstance(given, str) and given == str(path):
            raise OSError(code, os.strerror(code), given)
        return real(given, *arguments, **named)

    monkeypatch.setattr(os, "open", refusing)


def test_a_lock_file_of_another_user_that_cannot_be_opened(out, monkeypatch):
    published(out, "former")
    names = staged(out, "run")
    (out / LOCK).touch()
    with monkeypatch.context() as patched:
        refuse_to_open(patched, out / LOCK, errno.EACCES)
        with pytest.raises(JobError, match=rf"{LOCK} cannot be written: .*Permission denied"):
            publish(out, "run", names)
    assert scores_run(out) == "former"
    publish(out, "run", names)
    assert_is_of(out, "run")


@pytest.mark.parametrize("target", ["nowhere", "file"])
def test_a_lock_file_that_is_a_link(out, target, monkeypatch):
    monkeypatch.setattr(beam_bleu.pipeline.graph, "build", None)  # nothing is scored
    (out / "file").touch()
    (out / LOCK).symlink_to(target)
    run = called(*EXAMPLE, "--output", out)
    run.assert_failed(1, f"{out / LOCK} cannot be written: ")
    assert sorted(os.listdir(out)) == sorted([LOCK, "file", *RECORDS])


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
