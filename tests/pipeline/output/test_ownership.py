"""Files of other programs in the output folder stay as they are."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import REFERENCES, SYSTEMS, called, streams
from memory_filesystem import OBJECTS
from result_folder import RECORDS, assert_files, publish

from beam_bleu.pipeline.output.publication import prepare
from beam_bleu.transforms.errors import JobError

ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])

FOREIGN = {
    "manifest.json": [b'{"name": "my app"}', b"\xff"],
    "totals.json": [b'{"total": 3}'],
    "report.html": [b"<!doctype html>\n"],
    "run.json": [b'{"name": "my app"}', b'{"last_success": null}'],
    "metrics.prom": [b"\n", b"# HELP beam_bleu_run_exit_codes"],
    "_SUCCESS": [b"", b"{}"],
}
MISSING = ["--references=missing.txt"]
CASES = [
    *((name, data, []) for name, those in FOREIGN.items() for data in those),
    # The run fails before it looks at the folder.
    ("run.json", FOREIGN["run.json"][0], MISSING),
    ("_SUCCESS", FOREIGN["_SUCCESS"][0], MISSING),
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


def test_the_folder_of_the_texts_keeps_its_success(out):
    # The first run fails, and leaves its record. Then the texts are complete.
    called(*ONE, "--references=missing.txt", "--output", out).assert_failed(3)
    (out / "_SUCCESS").touch()
    called(*ONE, "--output", out).assert_failed(1, "_SUCCESS is not beam-bleu's")
    assert (out / "_SUCCESS").exists()
    assert json.loads((out / "run.json").read_bytes())["exit_code"] == 1
    called(*ONE, "--output", out).assert_failed(1, "_SUCCESS is not beam-bleu's")
    (out / "_SUCCESS").unlink()
    scored(out)
    assert_files(out)


@pytest.mark.parametrize("name", ["run.json", "scores.json"])
def test_a_pipe_and_a_folder_are_not_opened(out, name):
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
