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
    part_file_runs,
    publish,
    published,
    scores_run,
    staged,
)

import beam_bleu.pipeline.graph
import beam_bleu.pipeline.output.locking
from beam_bleu.pipeline.output.locking import LOCK, locked
from beam_bleu.pipeline.output.publication import discard
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
        with pytest.raises(JobError, match=rf"{LOCK} cannot be locked: Permission denied"):
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
    run.assert_failed(1, f"{out / LOCK} cannot be locked: ", "remove it")
    assert sorted(os.listdir(out)) == sorted([LOCK, "file", *RECORDS])


def test_a_lock_at_the_limit_of_open_files(out, monkeypatch):
    refuse_to_open(monkeypatch, out / LOCK, errno.EMFILE)
    with pytest.raises(JobError, match="too many open files: ") as error, locked(str(out)):
        pass
    assert "ulimit -n" in error.value.remedy


@pytest.mark.parametrize("code", [errno.EBADF, errno.EIO])
def test_a_lock_file_that_cannot_be_locked(out, code, monkeypatch):
    def flock(*arguments):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(JobError, match="cannot be locked"), locked(str(out)):
        pass
    assert os.listdir(out) == [LOCK]


def test_a_filesystem_without_locks(out, monkeypatch):
    def flock(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(str(out)) as lock:
        assert not lock.is_held
    assert os.listdir(out) == []


def test_a_folder_that_is_missing_or_cannot_be_written_has_no_lock(out, monkeypatch):
    with locked(str(out / "missing")) as lock:
        assert not lock.is_held

    def refusing(path, flags, *arguments):
        code = errno.EACCES if flags & os.O_CREAT else errno.ENOENT
        raise OSError(code, os.strerror(code), path)

    monkeypatch.setattr(os, "open", refusing)
    with locked(str(out)) as lock:
        assert not lock.is_held


def test_other_users_can_open_the_lock_file(out):
    umask = os.umask(0o077)
    try:
        with locked(str(out)) as lock:
            assert lock.is_held
            assert stat.S_IMODE((out / LOCK).stat().st_mode) == 0o666
    finally:
        os.umask(umask)


# A run that is stopped while another has the lock


class Clock:
    """In place of the module `time`: only sleeping takes time."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_stopped_run_does_not_wait_for_another_run(out, monkeypatch):
    published(out, "former")
    staged(out, "run")
    clock = Clock()
    monkeypatch.setattr(beam_bleu.pipeline.output.locking, "time", clock)
    with locked(str(out)):
        discard(str(out), "run")
    assert 0 < clock.now < 10
    assert set(part_file_runs(out)) == {"former", "run"}
    published(out, "next")
    assert_is_of(out, "next")
