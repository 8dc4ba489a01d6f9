"""Files of other programs in the output folder stay as they are, and are never mixed in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, streams, write_lines
from memory_filesystem import OBJECTS
from result_folder import RECORDS, assert_files, assert_is_of, publish, published
from test_document import files_no_larger_than

import beam_bleu.pipeline.graph
from beam_bleu.pipeline.folder.publication import prepare
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
CASES = [
    *((name, data, []) for name, data in FOREIGN.items()),
    # The run fails before it looks at the folder.
    ("_SUCCESS", b"", ["--references=missing.txt"]),
]


@pytest.fixture
def out(tmp_path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def scored(out: Path) -> None:
    run = called(*ONE, "--output", out)
    assert (run.code, run.err) == (0, "")


@pytest.mark.parametrize(("name", "data", "flags"), CASES)
def test_a_file_of_another_program_stays(out, name, data, flags):
    (out / name).write_bytes(data)
    (out / "scores.json").write_bytes(b"{}")
    before = content(out)
    run = called(*ONE, *flags, "--output", out)
    run.assert_failed(1, name, "is not beam-bleu's", "name another folder with --output")
    assert content(out) == before


def test_a_pipe_and_a_folder_are_not_opened(out):
    name = "scores.json"
    os.mkfifo(out / name)
    called(*ONE, "--output", out).assert_failed(1, name)
    (out / name).unlink()
    (out / name).mkdir()
    called(*ONE, "--output", out).assert_failed(1, name)
    assert (out / name).is_dir()


@pytest.mark.parametrize("data", [b"", b"\0" * 4096], ids=["empty", "zero bytes"])
def test_files_that_a_crash_of_the_machine_has_emptied_are_replaced(out, data):
    for name in (*RECORDS, "manifest.json", "scores.json"):
        (out / name).write_bytes(data if name != "metrics.prom" else data[:0])
    scored(out)
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


def bytes_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder, except those that also a run that fails writes or removes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    return {name: data for name, data in found.items() if name not in ("_SUCCESS", *RECORDS)}


def assert_refused(out: Path, *fragments: str) -> None:
    """Checks that the command ends before it scores anything, and changes nothing."""
    before = bytes_of(out)

    def scored(*arguments):
        raise AssertionError("the job was started")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(beam_bleu.pipeline.graph, "build", scored)
        called(*ASKED, "--output", out).assert_failed(1, *fragments)
    assert bytes_of(out) == before


def test_other_files_stay(out):
    names = ["segment_scores/lang=de/part-0.parquet", "segment_scores/_old", "rejected-x.jsonl"]
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(b"users")
    for flags in (ASKED, EXAMPLE):
        assert called(*flags, "--output", out).code == 0
        assert [(out / name).read_bytes() for name in names] == [b"users"] * 3


def test_a_folder_of_segment_scores_that_is_a_link(out, tmp_path):
    published(tmp_path / "elsewhere", "other")
    before = bytes_of(tmp_path / "elsewhere")
    (out / "segment_scores").symlink_to(tmp_path / "elsewhere" / "segment_scores")
    assert_refused(out, "segment_scores is a link")
    assert bytes_of(tmp_path / "elsewhere") == before


def test_a_full_disk_leaves_only_the_previous_result(out, tmp_path):
    texts = [write_lines(tmp_path / name, ["a b c"] * 2000) for name in ("a.txt", "b.txt")]
    given = streams([*texts], REFERENCES[:0] + texts[:1], "--segment_scores", "--output", out)
    published(out, "former")
    before = bytes_of(out)
    with files_no_larger_than(900):
        called(*given).assert_failed(1, "cannot be written: ", "File too large")
    assert bytes_of(out) == before
    assert_is_of(out, "former", marked=False)
    assert called(*given).code == 0
    assert (out / "_SUCCESS").exists()
