"""A file in the output folder that cannot be read is an error: it may be ours."""

from __future__ import annotations

import errno
import io
import os
import resource
from pathlib import Path

import pytest
from command_line import EXAMPLE, called
from result_folder import assert_is_of, document, publish, published, scores_run, staged
from test_foreign_files import bytes_of

import beam_bleu.pipeline.graph
from beam_bleu.pipeline.output import storage
from beam_bleu.transforms.errors import JobError

ASKED = [*EXAMPLE, "--segment_scores"]
BOTH = pytest.mark.parametrize("flags", [EXAMPLE, ASKED], ids=["plain", "segment scores"])


@pytest.fixture
def out(tmp_path) -> Path:
    """The output folder of an earlier run."""
    published(tmp_path / "out", "former")
    return tmp_path / "out"


def a_part_file(out: Path) -> Path:
    return min((out / "segment_scores").iterdir())


def fail(monkeypatch, module, name: str, path: Path, code: int) -> None:
    """Makes the system refuse access to a path, as for users other than root."""
    real = getattr(module, name)

    def refusing(given, *arguments, **named):
        if isinstance(given, str) and given == str(path):
            raise OSError(code, os.strerror(code), given)
        return real(given, *arguments, **named)

    monkeypatch.setattr(module, name, refusing)


def assert_refused(out: Path, flags, *fragments: str, failing=None) -> None:
    """Checks that the command ends before it scores anything, and changes nothing."""
    before = bytes_of(out)

    def scored(*arguments):
        raise AssertionError("the job was started")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(beam_bleu.pipeline.graph, "build", scored)
        if failing is not None:
            fail(patched, *failing)
        called(*flags, "--output", out).assert_failed(1, *fragments)
    assert bytes_of(out) == before


@BOTH
@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_previous_part_file_that_cannot_be_opened(out, flags, code):
    part_file = a_part_file(out)
    cause = f"{part_file} cannot be read: {os.strerror(code)}"
    assert_refused(out, flags, cause, "or remove it", failing=(io, "open", part_file, code))
    assert called(*flags, "--output", out).code == 0


@BOTH
def test_a_previous_part_file_that_is_truncated(out, flags):
    part_file = a_part_file(out)
    part_file.write_bytes(part_file.read_bytes()[:-5])
    assert_refused(out, flags, f"{part_file} cannot be read: ", "or remove it")
    part_file.unlink()
    assert called(*flags, "--output", out).code == 0


@BOTH
@pytest.mark.parametrize("name", ["segment_scores", "segment_scores/below"])
@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_folder_that_cannot_be_listed(out, flags, name, code):
    (out / name).mkdir(exist_ok=True)
    cause = f"{out / name} cannot be read: {os.strerror(code)}"
    assert_refused(out, flags, cause, failing=(os, "scandir", out / name, code))


def test_a_hidden_folder_that_cannot_be_listed_does_not_matter(out, monkeypatch):
    (out / "segment_scores" / ".snapshot").mkdir()
    fail(monkeypatch, os, "scandir", out / "segment_scores" / ".snapshot", errno.EACCES)
    assert called(*ASKED, "--output", out).code == 0


@BOTH
def test_the_limit_of_open_files_at_the_previous_part_files(tmp_path, flags, monkeypatch):
    out = tmp_path / "crowded"
    published(out, "former", 64)
    before = bytes_of(out)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    each = storage.each

    def without_files(*arguments):
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
        try:
            return each(*arguments)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    with monkeypatch.context() as patched:
        patched.setattr(storage, "each", without_files)
        run = called(*flags, "--output", out)
    run.assert_failed(1, "beam-bleu: too many open files: ", "ulimit -n")
    assert bytes_of(out) == before


@pytest.mark.parametrize("part_files", [0, 2])
@pytest.mark.parametrize("what", ["a part file", "the folder"])
def test_a_file_that_becomes_unreadable_while_the_job_runs(out, part_files, what, monkeypatch):
    names = staged(out, "run", part_files)
    with monkeypatch.context() as patched:
        if what == "a part file":
            fail(patched, io, "open", a_part_file(out), errno.EACCES)
        else:
            fail(patched, os, "scandir", out / "segment_scores", errno.ESTALE)
        with pytest.raises(JobError, match="cannot be read: "):
            publish(out, "run", names)
    assert scores_run(out) == "former"
    publish(out, "run", names)
    assert_is_of(out, "run", part_files)


def test_one_failure_while_part_files_are_put_in_place_mixes_nothing(out, monkeypatch):
    """Each access to the folders fails in one of the runs."""
    real, failed, number = os.scandir, True, 0
    while failed:
        calls, failed = [0], False

        def once(path, calls=calls, number=number):
            calls[0] += 1
            if calls[0] == number + 1:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)
            return real(path)

        run = f"run{number}"
        names = staged(out, run, 2)
        with monkeypatch.context() as patched:
            patched.setattr(os, "scandir", once)
            try:
                publish(out, run, names)
            except JobError:
                failed = True
        if not failed:
            present = {path.name.split("-")[1] for path in (out / "segment_scores").iterdir()}
            assert (scores_run(out), present) == (run, {run})
        failed |= calls[0] > number  # steps after scores.json is written may fail without an error
        publish(out, "next", staged(out, "next"))
        part_files = [path.name.split("-")[1] for path in (out / "segment_scores").iterdir()]
        assert (scores_run(out), set(part_files)) == ("next", {"next"})
        number += 1
    assert number > 5


def test_a_scores_json_that_cannot_be_checked_is_not_a_missing_one(out, monkeypatch):
    names = staged(out, "run")
    with monkeypatch.context() as patched:
        fail(patched, os, "stat", out / "scores.json", errno.ESTALE)
        with pytest.raises(JobError, match=r"scores\.json cannot be read"):
            publish(out, "run", names)
    assert scores_run(out) == "former"
    publish(out, "run", names)
    assert_is_of(out, "run")


def test_the_private_folder_of_another_users_run(out, monkeypatch):
    former = out / ".segment_scores" / "other" / "former"
    former.mkdir(parents=True)
    fail(monkeypatch, os, "stat", former, errno.EACCES)
    assert called(*EXAMPLE, "--output", out).code == 0
    (out / "scores.json").unlink()  # it may have been killed while it replaced the result
    called(*EXAMPLE, "--output", out).assert_failed(1, f"{former} cannot be read: Permission")


def test_a_file_that_is_not_ours_and_cannot_be_read(out, monkeypatch):
    notes = out / "segment_scores" / "notes"
    notes.write_bytes(document("users"))
    failing = io, "open", notes, errno.EACCES
    assert_refused(out, ASKED, f"{notes} cannot be read: Permission denied", failing=failing)
    fail(monkeypatch, *failing)
    assert called(*EXAMPLE, "--output", out).code == 0
