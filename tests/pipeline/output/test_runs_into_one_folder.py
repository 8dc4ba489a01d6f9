"""Several runs with one --output: scores.json and segment scores always belong to the same run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import EXAMPLE, PROJECT, called
from memory_filesystem import OBJECTS
from result_folder import (
    assert_files,
    assert_is_of,
    documents,
    is_marked,
    manifest_run,
    part_file_runs,
    publish,
    published,
    scores_run,
    staged,
)

import beam_bleu.pipeline.graph
import beam_bleu.pipeline.output.locking
from beam_bleu.pipeline.output import publication, storage
from beam_bleu.pipeline.output.locking import LOCK, locked
from beam_bleu.pipeline.output.publication import discard, in_place, prepare, write_documents
from beam_bleu.transforms.errors import JobError

ASKED = [*EXAMPLE, "--segment_scores", "--format=json"]


@pytest.fixture
def out(tmp_path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


# One after the other


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("second", [0, 3])
def test_the_result_is_that_of_the_run_that_ends_last(out, first, second):
    long, short = staged(out, "long", first), staged(out, "short", second)
    publish(out, "short", short)
    publish(out, "long", long)
    assert_is_of(out, "long", first)


@pytest.mark.parametrize("flags", [[], ["--segment_scores"]], ids=["plain", "segment scores"])
def test_a_short_run_ends_while_a_long_one_runs(out, monkeypatch, flags):
    check_rows, short = beam_bleu.pipeline.graph.check_rows, []

    def meanwhile(*arguments):
        if not short:
            short.append(None)
            short[0] = called(*EXAMPLE, *flags, "--max_ngram_order=2", "--output", out)
        check_rows(*arguments)

    monkeypatch.setattr(beam_bleu.pipeline.graph, "check_rows", meanwhile)
    long = called(*ASKED, "--output", out)
    assert (long.code, long.err) == (0, "")
    assert (short[0].code, short[0].err) == (0, "")
    assert (out / "scores.json").read_bytes() == long.out
    assert_files(out, "segment_scores")
    assert len(set(part_file_runs(out))) == 1


def test_a_run_that_fails_leaves_what_others_have_staged_and_published(out):
    published(out, "former")
    staged(out, "failed")
    other = staged(out, "other")
    discard(str(out), "failed")
    assert os.listdir(out / ".segment_scores") == ["other"]
    publish(out, "other", other)
    assert_is_of(out, "other")


def test_stdout_shows_the_runs_own_result_even_if_another_run_has_replaced_it(out, monkeypatch):
    def then_another(output, *arguments):
        with in_place(output, *arguments):
            yield
        publish(out, "another", [])

    monkeypatch.setattr(
        beam_bleu.pipeline.graph, "in_place", publication.contextlib.contextmanager(then_another)
    )
    run = called(*EXAMPLE, "--format=json", "--output", out)
    assert len(run.document["scores"]) == 3
    assert_is_of(out, "another", 0)


# At the same time

MANY = """
import sys
from result_folder import publish, staged
for number in range(6):
    run = f"{sys.argv[2]}x{number}"
    publish(sys.argv[1], run, staged(sys.argv[1], run, number % 3))
"""


def test_processes_that_end_at_the_same_time(out):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen([sys.executable, "-c", MANY, out, str(i)], cwd=PROJECT, env=environment)
        for i in range(3)
    ]
    looks = 0
    while any(process.poll() is None for process in processes):
        before = scores_run(out)
        try:
            runs = set(part_file_runs(out))
        except FileNotFoundError:
            continue  # replaced while it was read
        if before is not None and scores_run(out) == before:
            assert runs <= {before}
            looks += 1
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert looks > 0
    run = scores_run(out)
    assert run is not None
    assert_is_of(out, run, int(run.partition("x")[2]) % 3)


def test_a_folder_that_another_run_removes_meanwhile_is_made_again(out, monkeypatch):
    mkdir, removed = os.mkdir, []

    def raced(path, *arguments):
        if Path(path).name == "mine" and not removed:
            removed.append(path)
            (out / ".segment_scores").rmdir()  # as a run does that ends now
        mkdir(path, *arguments)

    monkeypatch.setattr(os, "mkdir", raced)
    publish(out, "mine", staged(out, "mine"))
    assert removed
    assert_is_of(out, "mine")


# Killed


class Killed(BaseException):
    """Imitates SIGKILL: the run does nothing after it."""


@pytest.fixture
def killed(monkeypatch):
    """Publishes a run that is killed before it changes a file for the n-th time."""

    def publish_until(out: Path, run: str, names: list[str], changes: int) -> bool:
        left = [changes]

        def counted(function):
            def changing(*arguments):
                if left[0] == 0:
                    raise Killed
                left[0] -= 1
                return function(*arguments)

            return changing

        with monkeypatch.context() as patched:
            patched.setattr(storage.FileSystems, "rename", counted(storage.FileSystems.rename))
            for name in ("mkdir", "replace", "unlink", "rmdir"):
                patched.setattr(os, name, counted(getattr(os, name)))
            patched.setattr(publication, "_settle", lambda *arguments: None)
            patched.setattr(beam_bleu.pipeline.output.locking, "_remove", lambda path: None)
            try:
                publish(out, run, names)
            except (Killed, JobError):
                return True
        return False

    return publish_until


@pytest.mark.parametrize("former", [None, 0, 3])
@pytest.mark.parametrize("part_files", [0, 3])
@pytest.mark.parametrize("then", ["a run that fails", "a run", "a run with segment scores"])
def test_a_run_that_is_killed_at_any_moment(out, killed, monkeypatch, former, part_files, then):
    monkeypatch.setattr(storage, "_AT_ONCE", 1)
    changes, was_killed = 0, True
    while was_killed:
        folder = out / str(changes)
        folder.mkdir()
        if former is not None:
            published(folder, "former", former)
        was_killed = killed(folder, "run", staged(folder, "run", part_files), changes)
        changes += 1
        # Either there is a scores.json and all files belong to its run, or there is no scores.json.
        run = scores_run(folder)
        if run is not None:
            assert part_file_runs(folder) == [run] * (former if run == "former" else part_files)
        if is_marked(folder):
            assert run is not None
            assert manifest_run(folder) == run
        if then == "a run that fails":
            prepare(str(folder), asked=True)
            staged(folder, "failed")
            discard(str(folder), "failed")
            run = scores_run(folder)
            assert run in (("run", None) if former is None else ("former", "run"))
            expected = {"former": former, "run": part_files, None: 0}[run]
            assert part_file_runs(folder) == [run] * expected
            if run is not None:
                assert manifest_run(folder) == run
            assert not is_marked(folder)
        else:
            count = 2 if then == "a run with segment scores" else 0
            publish(folder, "next", staged(folder, "next", count))
            assert scores_run(folder) == manifest_run(folder) == "next"
            assert is_marked(folder)
            assert part_file_runs(folder) == ["next"] * count
    assert changes > (5 if part_files else 1)


def test_sigkill_while_files_are_moved(out):
    before = called(*ASKED, "--max_ngram_order=2", "--output", out)
    part_files = sorted(os.listdir(out / "segment_scores"))
    program = (
        "import os, sys\n"
        "from beam_bleu.pipeline import main\n"
        "from beam_bleu.pipeline.output import publication\n"
        "move = publication.storage.move\n"
        "def moving(names, source, to, *more):\n"
        "    move(names, source, to, *more)\n"
        "    if to.endswith('segment_scores'): os.kill(os.getpid(), 9)\n"
        "publication.storage.move = moving\n"
        "sys.exit(main.main(sys.argv[1:]))"
    )
    process = subprocess.run([sys.executable, "-c", program, *ASKED, "--output", out], cwd=PROJECT)
    assert process.returncode == -signal.SIGKILL
    assert not (out / "scores.json").exists()
    assert sorted(os.listdir(out / "segment_scores")) != part_files
    called(*ASKED, "--references=missing", "--output", out).assert_failed(3)
    assert (out / "scores.json").read_bytes() == before.out
    assert sorted(os.listdir(out / "segment_scores")) == part_files


OLD = time.time() - 15 * 24 * 3600


@pytest.mark.parametrize("age", ["new", "old"])
def test_staged_files_of_a_killed_run_are_removed_when_it_is_certainly_dead(out, age):
    staged(out, "killed")
    left = out / ".segment_scores" / "killed" / "handover"
    temporary = out / f".scores.json.{'0' * 32}"
    for path in (left, temporary):
        path.write_bytes(b"{")
    for path in [*left.parent.rglob("*"), temporary]:
        if age == "old":
            os.utime(path, (OLD, OLD))
    published(out, "run")
    assert (out / ".segment_scores").exists() == temporary.exists() == (age == "new")
    assert len(list(left.parent.rglob("*.parquet"))) == (3 if age == "new" else 0)


def test_a_run_that_wrote_recently_is_not_dead(out):
    names = staged(out, "long", 10)
    for name in names[:-1]:
        os.utime(out / ".segment_scores" / "long" / "staged" / name, (OLD, OLD))
    published(out, "short")
    publish(out, "long", names)
    assert_is_of(out, "long", 10)


# The lock


def test_a_run_waits_for_the_lock_and_leaves_no_file(out, monkeypatch):
    with locked(str(out)) as held:
        assert held
        monkeypatch.setattr(beam_bleu.pipeline.output.locking, "_PATIENCE", 0.05)
        with pytest.raises(JobError, match="another run has been writing its result"):
            published(out, "run")
        assert scores_run(out) is None
    assert LOCK not in os.listdir(out)
    published(out, "run")


def test_a_killed_process_holds_no_lock(out):
    program = (
        "import os, sys; from beam_bleu.pipeline.output.locking import locked\n"
        "with locked(sys.argv[1]): os.kill(os.getpid(), 9)"
    )
    process = subprocess.run([sys.executable, "-c", program, out], cwd=PROJECT)
    assert process.returncode == -signal.SIGKILL
    assert os.listdir(out) == [LOCK]
    published(out, "run")
    assert_is_of(out, "run")


def test_a_file_with_the_name_of_the_lock_stays(out):
    (out / LOCK).write_bytes(b"users")
    published(out, "run")
    assert (out / LOCK).read_bytes() == b"users"


# Filesystems without locks


@pytest.fixture
def store():
    OBJECTS.clear()
    yield "mem://out/folder"
    OBJECTS.clear()


def runs_of_objects() -> set[str]:
    return {path.split("part-")[1].split("-")[0] for path in OBJECTS if "/segment_scores/" in path}


def publish_with_another(store: str, run: int, other: int, moment: str) -> None:
    names, others = staged(store, "run", run), staged(store, "other", other)
    if moment == "before scores.json":
        with in_place(store, "run", names, documents("run")):
            publish(store, "other", others)
            write_documents(store, documents("run"))
    else:
        with in_place(store, "run", names, documents("run")):
            write_documents(store, documents("run"))
            publish(store, "other", others)


@pytest.mark.parametrize("run", [0, 2])
@pytest.mark.parametrize("other", [0, 2])
def test_a_mixture_of_two_runs_is_an_error(store, run, other):
    publish(store, "former", staged(store, "former"))
    if run or other:
        with pytest.raises(JobError, match="at the same time: the folder has files of both"):
            publish_with_another(store, run, other, "before scores.json")
    else:
        publish_with_another(store, run, other, "before scores.json")
        assert json.loads(OBJECTS[f"{store}/scores.json"][0]) == "run"
    publish(store, "next", staged(store, "next"))
    assert json.loads(OBJECTS[f"{store}/scores.json"][0]) == "next"
    assert runs_of_objects() == {"next"}


@pytest.mark.parametrize("moment", ["manifest.json", "scores.json"])
@pytest.mark.parametrize("part_files", [0, 2])
def test_a_document_that_cannot_be_written_leaves_the_former_result(
    out, monkeypatch, moment, part_files
):
    write = storage.write_atomically

    def full(path, data):
        if path.endswith(moment) and b"former" not in data:
            raise JobError("No space left", "check the folder")
        write(path, data)

    monkeypatch.setattr(storage, "write_atomically", full)
    for former in (False, True):
        if former:
            published(out, "former", part_files)
        with pytest.raises(JobError, match="No space left"):
            publish(out, "run", staged(out, "run", part_files))
        discard(str(out), "run")
        if former:
            assert_is_of(out, "former", part_files, marked=False)
        else:
            assert scores_run(out) is manifest_run(out) is None
            assert not is_marked(out)
            assert part_file_runs(out) == []


def test_the_manifest_of_another_run_is_an_error(store):
    mixed = documents("run") | {"manifest.json": documents("other")["manifest.json"]}
    with (
        pytest.raises(JobError, match="at the same time: the folder has files of both"),
        in_place(store, "run", [], documents("run")),
    ):
        write_documents(store, mixed)
    assert f"{store}/_SUCCESS" not in OBJECTS


@pytest.mark.parametrize("run", [0, 2])
@pytest.mark.parametrize("other", [0, 2])
def test_a_run_whose_result_is_replaced_at_once_has_not_failed(store, run, other):
    publish_with_another(store, run, other, "after scores.json")
    assert json.loads(OBJECTS[f"{store}/scores.json"][0]) == "other"
    assert runs_of_objects() == ({"other"} if other else set())


def test_files_that_other_runs_have_staged_in_an_object_store_stay(store):
    names = staged(store, "long")
    publish(store, "short", [])
    publish(store, "long", names)
    assert runs_of_objects() == {"long"}
    assert not [path for path in OBJECTS if "/.segment_scores/" in path]
