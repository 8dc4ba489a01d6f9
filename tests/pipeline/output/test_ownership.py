"""Files of other programs in the output folder stay as they are, and inputs too."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, streams, write_lines
from memory_filesystem import OBJECTS
from result_folder import RECORDS, assert_files, assert_is_of, publish, published

from beam_bleu.pipeline.folder.file_names import DATA_KINDS, new_data_file
from beam_bleu.pipeline.folder.publication import prepare
from beam_bleu.pipeline.folder.storage import write_atomically
from beam_bleu.transforms.errors import JobError

ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])

FOREIGN = {
    "manifest.json": b"\xff",
    "totals.json": b'{"total": 3}',
    "report.html": b"<!doctype html>\n",
    "run.json": b'{"last_success": null}',
    "metrics.prom": b"# HELP beam_bleu_run_exit_codes",
    "_SUCCESS": b"",
}


@pytest.fixture
def out(tmp_path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def bytes_in(folder: Path) -> dict[Path, bytes]:
    """All files below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_file_of_another_program_stays(out):
    (out / "scores.json").write_bytes(b"{}")
    for name, data in FOREIGN.items():
        (out / name).write_bytes(data)
        before = bytes_in(out)
        # The second run fails before it looks at the folder.
        for flags in [], ["--references=missing.txt"]:
            run = called(*ONE, *flags, "--output", out)
            run.assert_failed(1, name, "is not beam-bleu's", "name another folder with --output")
        assert bytes_in(out) == before
        (out / name).unlink()


def test_a_pipe_and_a_folder_are_not_opened(out):
    name = "scores.json"
    os.mkfifo(out / name)
    called(*ONE, "--output", out).assert_failed(1, name)
    (out / name).unlink()
    (out / name).mkdir()
    called(*ONE, "--output", out).assert_failed(1, name)
    assert (out / name).is_dir()


def test_files_that_a_crash_of_the_machine_has_emptied_are_replaced(out):
    names = (*RECORDS, "manifest.json", "scores.json")
    for name, data in zip(names, (b"", b"\0" * 4096, b"\0" * 4096, b""), strict=True):
        (out / name).write_bytes(data)
    run = called(*ONE, "--output", out)
    assert (run.code, run.err) == (0, "")
    assert_files(out)


def test_a_file_of_another_program_that_comes_during_the_job_stays(out):
    prepare(str(out))
    (out / "_SUCCESS").touch()
    with pytest.raises(JobError, match="_SUCCESS is not beam-bleu's"):
        publish(out, "run", [])
    assert os.listdir(out) == ["_SUCCESS"]


def test_an_object_store():
    OBJECTS.clear()
    OBJECTS["mem://out/x/_SUCCESS"] = b"", 1.0
    for flags in [], ["--references=missing.txt"]:
        called(*ONE, *flags, "--output=mem://out/x").assert_failed(1, "_SUCCESS")
        assert list(OBJECTS) == ["mem://out/x/_SUCCESS"]
    OBJECTS.clear()


# Data files

ASKED = [*EXAMPLE, "--segment_scores"]


def test_other_files_stay(out):
    names = ["segment_scores/lang=de/part-0.parquet", "segment_scores/_old", "rejected-x.jsonl"]
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(b"users")
    for flags in (ASKED, EXAMPLE):
        assert called(*flags, "--output", out).code == 0
        assert [(out / name).read_bytes() for name in names] == [b"users"] * 3


def test_a_folder_of_segment_scores_that_is_a_link(out, tmp_path, monkeypatch):
    published(tmp_path / "elsewhere", "other")
    before = bytes_in(tmp_path / "elsewhere")
    (out / "segment_scores").symlink_to(tmp_path / "elsewhere" / "segment_scores")
    monkeypatch.setattr("beam_bleu.pipeline.graph.build", None)  # it is noticed before the job
    called(*ASKED, "--output", out).assert_failed(1, "segment_scores is a link")
    assert os.listdir(out) == ["segment_scores"]
    assert bytes_in(tmp_path / "elsewhere") == before


@contextlib.contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """The system refuses to write more than this number of bytes to a file, like a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_only_the_previous_result(out, tmp_path):
    texts = [write_lines(tmp_path / name, ["a b c"] * 2000) for name in ("a.txt", "b.txt")]
    given = streams([*texts], REFERENCES[:0] + texts[:1], "--segment_scores", "--output", out)
    published(out, "former")
    before = bytes_in(out)
    with files_no_larger_than(900):
        called(*given).assert_failed(1, "cannot be written: ", "File too large")
        with pytest.raises(JobError, match=f"{out}/scores.json cannot be written: "):
            write_atomically(f"{out}/scores.json", b"x" * 1000)
    after = {path: data for path, data in bytes_in(out).items() if path.name not in RECORDS}
    assert after == {path: data for path, data in before.items() if path.name != "_SUCCESS"}
    assert_is_of(out, "former", marked=False)
    assert called(*given).code == 0
    assert (out / "_SUCCESS").exists()


# Runs that would overwrite what they read


ATLAS, BIRCH, _ = SYSTEMS.values()
TEXT = ATLAS.read_bytes()


@pytest.fixture
def data(tmp_path) -> Path:
    """A folder of texts. One of them has the name scores.json."""
    folder = tmp_path / "data"
    (folder / "below").mkdir(parents=True)
    (folder / "scores.json").write_bytes(TEXT)
    (folder / "other.json").write_bytes(TEXT)
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "linked.txt").symlink_to(folder / "scores.json")
    return folder


def test_an_input_that_a_run_would_replace(data, monkeypatch):
    monkeypatch.chdir(data.parent)
    for path in ("data/manifest.js*", "data/man*"):  # before there is such a file
        run = called(*EXAMPLE, f"--references={path}", "--output=data")
        run.assert_failed(2, f"would read {data}/manifest.json, where results are written")
    for given, output in (
        ("--candidates=x=data/below/.././scores.js*", "data"),
        ("--candidates=x=link/scores.js*", "data"),
        ("--candidates=x=linked.txt", "data"),
        ("--candidates=x=link/*.js*", "data"),
        ("--candidates=x=linked*", "data"),
        ("--references=link/*.js*", "link"),
        ("--candidates=x=link/*.js*", "data/below/.."),
    ):
        run = called(*EXAMPLE, given, "--output", output)
        run.assert_failed(2, f"--output {output}: ", "scores.json, where results are written")
    assert (data / "scores.json").read_bytes() == TEXT
    assert sorted(os.listdir(data)) == ["below", "other.json", "scores.json"]


def test_a_pattern_that_would_read_the_result_at_the_next_run(data, monkeypatch):
    monkeypatch.chdir(data)
    os.unlink("scores.json")
    given = streams(["x=*.js*"], REFERENCES)
    called(*given, "--output=.").assert_failed(2, "candidates x (*.js*) would read")
    assert called(*given, "--output=below").code == 0


def test_data_files_that_are_read(data, monkeypatch):
    monkeypatch.chdir(data)
    (data / "segment_scores").mkdir()
    names = [new_data_file(kind, "run") for kind in DATA_KINDS]
    for number, name in enumerate(names):
        (data / name).write_bytes(TEXT)
        (data / f"linked{number}").symlink_to(name)
        run = called(*streams([f"x=linked{number}"], REFERENCES), "--output=.")
        run.assert_failed(2, f"{name}, where results are written")
    run = called(*streams(["x=b*/*"], REFERENCES), "--output=.")
    run.assert_failed(3, "nothing matches b*/*")  # another folder
    run = called(*streams(["x=rejected-*"], REFERENCES), "--output=.")
    run.assert_failed(2, "candidates x (rejected-*) would read")


def test_objects_are_compared_by_path_and_pattern():
    OBJECTS["mem://out/data/scores.json"] = TEXT, 1.0
    for pattern in ("mem://out/data/below/..//./scores.js*", "mem://out/*/s*"):
        run = called(*EXAMPLE, f"--candidates=x={pattern}", "--output=mem://out/data/")
        run.assert_failed(2, f"candidates x ({pattern}) would read mem://out/data/scores.json")
    OBJECTS.clear()
