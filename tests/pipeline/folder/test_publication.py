"""A run's result in its folder: one commit, and only files of one run where _SUCCESS is."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import hashlib
import itertools
import json
import os
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import COMPRESS, EXAMPLE, PROJECT, called, streams, write_lines
from memory_filesystem import OBJECTS
from result_folder import (
    Killed,
    assert_is_of,
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

import beam_bleu.pipeline.graph
from beam_bleu.pipeline.folder import locking, publication, storage
from beam_bleu.pipeline.folder.file_names import DOCUMENTS, EXAMPLES, TOTALS
from beam_bleu.pipeline.folder.locking import LOCK, locked
from beam_bleu.pipeline.folder.manifest import belongs_to
from beam_bleu.pipeline.folder.publication import discard, prepare
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.files.listing import local_version


@pytest.fixture
def out(tmp_path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


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


def test_an_empty_folder_of_segment_scores_is_removed(out):
    published(out, "former", 2)
    other = out / "segment_scores" / "notes"
    other.touch()
    published(out, "run", 0)
    assert list(out.glob("segment_scores/*")) == [other]
    other.unlink()
    published(out, "next", 0)
    assert not (out / "segment_scores").exists()


def assert_one_of_three_states(out: Path, counts: dict[str | None, int]) -> None:
    """Checks that a result is whole, and has as many part files as `counts` says of its run.

    Before _SUCCESS, files that are not its own can be there.
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


@pytest.mark.parametrize(("former", "part_files"), [(None, 3), (0, 0), (3, 2)])
def test_a_run_that_is_killed_at_any_moment(out, former, part_files, monkeypatch):
    changes, was_killed = 0, True
    counts = {("former" if former is not None else None): former or 0, "run": part_files}
    while was_killed:
        folder = out / str(changes)
        folder.mkdir()
        if former is not None:
            published(folder, "former", former, totals=True)
        prepare(str(folder))
        names, was_killed = staged(folder, "run", part_files), True
        with contextlib.suppress(Killed), monkeypatch.context() as patched:
            patched.setattr(locking._FileLock, "release", lambda lock: os.close(lock._descriptor))
            with killed_after(changes, os, "mkdir", "replace", "unlink", "rmdir"):
                publish(folder, "run", names, totals=True)
                was_killed = False
        assert_one_of_three_states(folder, counts)
        assert is_marked(folder) or was_killed
        published(folder, "next", 2)
        visible = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
        assert visible == {"_SUCCESS", "manifest.json", "scores.json", "segment_scores"}
        assert_one_of_three_states(folder, {"next": 2})
        changes += 1
    assert changes > 4


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


def test_a_run_waits_for_the_lock_and_leaves_no_file(out, monkeypatch):
    umask = os.umask(0o077)
    with locked(str(out)) as lock:
        os.umask(umask)
        assert lock.is_held
        assert stat.S_IMODE((out / LOCK).stat().st_mode) == 0o666  # for other users, too
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


def test_a_filesystem_without_locks(out, monkeypatch):
    def flock(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(str(out)) as lock:
        assert not lock.is_held
    assert os.listdir(out) == []


@pytest.mark.parametrize(("part_files", "moment"), [(0, DOCUMENTS[-2]), (2, DOCUMENTS[-1])])
def test_another_run_that_commits_at_the_same_time_is_noticed(monkeypatch, part_files, moment):
    OBJECTS.clear()
    store = "mem://out/folder"
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
    OBJECTS.clear()


# manifest.json: what was read. Digests depend only on the lines


LINES = 300
TEXTS = [[f"{name} line {i} {'word ' * (i % 13)}" for i in range(LINES)] for name in "abc"]
"""Two systems and one reference."""


def manifest(out: Path | str, *arguments: Any) -> dict[str, Any]:
    """The manifest of a run that must succeed."""
    run = called(*arguments, "--format=json", "--output", out)
    assert run.code == 0, run.err
    found = json.loads((Path(out) / "manifest.json").read_bytes())
    assert found["scores_sha256"] == hashlib.sha256(run.out).hexdigest()
    return found


def given(patterns: list[Any], *flags: str) -> list[Any]:
    first, second, reference = patterns
    return streams([f"one={first}", f"two={second}"], [reference], *flags)


def digests(found: dict[str, Any]) -> list[str]:
    return [stream["digest"] for stream in found["streams"]]


def test_it_says_what_was_read_and_not_how_the_work_was_divided(tmp_path):
    files = [write_lines(tmp_path / f"{i}.txt", text) for i, text in enumerate(TEXTS)]
    found = manifest(tmp_path / "plain", *given(files))
    assert list(found) == [*("scores_sha256", "request_sha256", "request", "streams", "data_files")]
    assert [line for line in found["request"] if line.startswith("input ")][:6] == [
        "input form = LineParallel",
        "input systems 1 = one",
        "input systems 2 = two",
        *(
            f"input {name} = {file}"
            for name, file in zip(
                ("candidates 1", "candidates 2", "references 1"), files, strict=True
            )
        ),
    ]
    named = [("candidates", "one"), ("candidates", "two"), ("references", None)]
    for stream, file, (role, system) in zip(found["streams"], files, named, strict=True):
        same = {"bytes": file.stat().st_size, "lines": LINES}
        assert stream == {
            **{"role": role, "system": system, "pattern": str(file), "digest": stream["digest"]},
            **same,
            "files": [{"path": str(file), **same, "version": local_version(str(file))}],
        }
    assert len({*digests(found)}) == 3

    assert manifest(tmp_path / "same", *given(files, "--range_bytes=2000", "--threads=5")) == found
    draw, patterns = random.Random(20), []
    for stream, text in enumerate(TEXTS):
        bounds = [0, *sorted(draw.choices(range(LINES), k=19)), LINES]
        for i, (first, last) in enumerate(itertools.pairwise(bounds)):
            path = tmp_path / str(stream) / f"part-{i:02}{draw.choice(list(COMPRESS))}"
            write_lines(path, text[first:last])
        patterns.append(f"{tmp_path}/{stream}/part-*")
    before = digests(found)
    found = manifest(tmp_path / "out", *given(patterns, "--cuts=any", "--range_bytes=500"))
    assert digests(found) == before
    for stream, pattern in zip(found["streams"], patterns, strict=True):
        paths = sorted(str(path) for path in Path(pattern).parent.iterdir())
        assert stream["pattern"] == pattern
        assert [file["path"] for file in stream["files"]] == paths
        assert [file["bytes"] for file in stream["files"]] == [*map(os.path.getsize, paths)]
        assert stream["bytes"] == sum(map(os.path.getsize, paths))
        assert sum(file["lines"] for file in stream["files"]) == stream["lines"] == LINES


def test_digests_of_other_segments_are_an_error(tmp_path, monkeypatch):
    score_and_write = beam_bleu.pipeline.graph._score_and_write

    def losing(ends):
        (found,) = ends["digests"]
        score_and_write({**ends, "digests": [dataclasses.replace(found, segments=71)]})

    monkeypatch.setattr(beam_bleu.pipeline.graph, "_score_and_write", losing)
    run = called(*EXAMPLE, "--output", tmp_path)
    run.assert_failed(1, "digests", "the runner lost or repeated data")
    assert not (tmp_path / "scores.json").exists()


def test_another_programs_manifest_belongs_to_no_result():
    for data in (b"[]", b"{}", b'{"scores_sha256": 1}', b"\xff"):
        assert not belongs_to(data, b"")
