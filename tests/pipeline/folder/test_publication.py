"""A run's result in its folder: one commit, and only files of one run where _SUCCESS is."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from command_line import PROJECT
from memory_filesystem import OBJECTS
from result_folder import (
    Killed,
    assert_is_of,
    assert_readable,
    document,
    is_marked,
    killed_after,
    manifest_run,
    part_file_runs,
    publish,
    published,
    scores_run,
    staged,
)

from beam_bleu.pipeline.folder import locking, publication, storage
from beam_bleu.pipeline.folder.file_names import DOCUMENTS, EXAMPLES, TOTALS
from beam_bleu.pipeline.folder.locking import LOCK, locked
from beam_bleu.pipeline.folder.publication import discard, prepare
from beam_bleu.transforms.errors import JobError


@pytest.fixture
def out(tmp_path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


# One after the other


def test_a_run_whose_files_another_run_has_removed_fails(out):
    names = staged(out, "long")
    published(out, "short")
    with pytest.raises(JobError, match=r"3 of 3 data files .* are not in .*segment_scores/part-lo"):
        publish(out, "long", names)
    assert_is_of(out, "short", marked=False)


def test_a_failed_run_removes_only_its_own_files(out):
    published(out, "former")
    staged(out, "failed")
    other = staged(out, "other")
    for run in ("failed", "never was", "former"):
        discard(str(out), run)
    assert set(part_file_runs(out)) == {"former", "other"}
    publish(out, "other", other)
    assert_is_of(out, "other")


# At the same time


def test_runs_that_end_at_the_same_time_beside_a_reader(out):
    def publish_several(of: int) -> None:
        for number in range(4):
            run = f"{of}x{number}"
            with contextlib.suppress(JobError):  # another run has removed its files
                publish(out, run, staged(out, run, number))

    threads = [threading.Thread(target=publish_several, args=(of,)) for of in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert_readable(out)
    published(out, "last", 2)
    assert_is_of(out, "last", 2)


# Killed


def is_killed(out: Path, run: str, names: list[str], changes: int) -> bool:
    """Publishes a run that is killed before it changes a file for the n-th time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(locking._FileLock, "release", lambda lock: os.close(lock._descriptor))
        try:
            with killed_after(changes, os, "mkdir", "replace", "unlink", "rmdir"):
                publish(out, run, names, totals=True)
        except Killed:
            return True
    return False


def assert_one_of_three_states(out: Path, counts: dict[str | None, int]) -> None:
    """Checks that a result is whole. Before _SUCCESS, files that are not its own can be there.

    Args:
      out: the folder.
      counts: how many part files the results of each run have that can be in place.
    """
    run = scores_run(out)
    assert run in counts
    assert part_file_runs(out).count(run) == counts[run]
    if manifest_run(out) == run is not None:
        named = json.loads((out / "manifest.json").read_bytes())["data_files"]
        assert len(named) == counts[run]
        assert all((out / name).exists() for name in named)
    if is_marked(out):
        assert run == manifest_run(out)
        assert {*part_file_runs(out)} <= {run}
        if (out / TOTALS).exists():
            totals = json.loads((out / TOTALS).read_bytes())
            manifest = (out / "manifest.json").read_text()
            assert totals["scores_sha256"] in manifest
            assert hashlib.sha256((out / EXAMPLES).read_bytes()).hexdigest() in manifest


@pytest.mark.parametrize(("former", "part_files"), [(None, 3), (0, 0), (3, 3)])
def test_a_run_that_is_killed_at_any_moment(out, former, part_files):
    changes, was_killed = 0, True
    counts = {("former" if former is not None else None): former or 0, "run": part_files}
    while was_killed:
        folder = out / str(changes)
        folder.mkdir()
        if former is not None:
            published(folder, "former", former, totals=True)
        prepare(str(folder))
        was_killed = is_killed(folder, "run", staged(folder, "run", part_files), changes)
        assert_one_of_three_states(folder, counts)
        assert is_marked(folder) or was_killed
        published(folder, "next", 2)
        visible = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
        assert visible == {"_SUCCESS", "manifest.json", "scores.json", "segment_scores"}
        assert_one_of_three_states(folder, {"next": 2})
        changes += 1
    assert changes > 4


# Files that cannot be written


@pytest.mark.parametrize("name", ["manifest.json", "scores.json", "_SUCCESS"])
def test_a_file_that_cannot_be_written(out, monkeypatch, name):
    published(out, "former", 2, totals=True)
    write = storage.write_atomically

    def full(path, data):
        if path.endswith(name):
            raise JobError("No space left", "check the folder")
        write(path, data)

    with monkeypatch.context() as patched:
        patched.setattr(storage, "write_atomically", full)
        with pytest.raises(JobError, match="No space left"):
            publish(out, "run", staged(out, "run", 3), totals=True)
    discard(str(out), "run")
    assert not is_marked(out)
    run = "run" if name == "_SUCCESS" else "former"
    assert scores_run(out) == run
    assert part_file_runs(out) == [run] * {"run": 3, "former": 2}[run]
    published(out, "next", 1)
    assert_is_of(out, "next", 1)


# The lock


def test_a_run_waits_for_the_lock_and_leaves_no_file(out, monkeypatch):
    with locked(str(out)) as lock:
        assert lock.is_held
        monkeypatch.setattr(locking, "PATIENCE", 0.05)
        with pytest.raises(JobError, match="another run has been writing its result"):
            published(out, "run")
        assert scores_run(out) is None
    assert LOCK not in os.listdir(out)
    published(out, "run")


def test_a_killed_process_holds_no_lock(out):
    program = (
        "import os, sys; from beam_bleu.pipeline.folder.locking import locked\n"
        "with locked(sys.argv[1]): os.kill(os.getpid(), 9)"
    )
    process = subprocess.run([sys.executable, "-c", program, out], cwd=PROJECT)
    assert process.returncode == -signal.SIGKILL
    assert os.listdir(out) == [LOCK]
    published(out, "run")
    assert_is_of(out, "run")


# Filesystems without locks


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


@pytest.fixture
def store():
    OBJECTS.clear()
    yield "mem://out/folder"
    OBJECTS.clear()


@pytest.mark.parametrize(("part_files", "moment"), [(0, DOCUMENTS[2]), (2, DOCUMENTS[3])])
def test_another_run_that_commits_at_the_same_time_is_noticed(
    store, monkeypatch, part_files, moment
):
    publish(store, "former", staged(store, "former"))
    names, write = staged(store, "run", part_files), storage.write_atomically

    def and_another(path, data):
        write(path, data)
        if path.endswith(moment) and data != document("other") and b'"other"' not in data:
            publish(store, "other", [])

    monkeypatch.setattr(storage, "write_atomically", and_another)
    with pytest.raises(JobError, match=r"at the same time|are not in"):
        publish(store, "run", names)
    monkeypatch.undo()
    publish(store, "next", staged(store, "next"))
    assert json.loads(OBJECTS[f"{store}/scores.json"][0]) == "next"
    parts = [path for path in OBJECTS if "/segment_scores/" in path]
    assert len(parts) == 3
    assert all("/part-next-" in path for path in parts)
    assert publication.result_in(store) is not None
