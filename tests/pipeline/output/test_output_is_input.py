"""A run that would overwrite what it reads is refused before it reads anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, streams
from memory_filesystem import OBJECTS

from beam_bleu.pipeline.folder.file_names import DATA_KINDS, new_data_file

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


FILES = ["data/below/.././scores.json", "link/scores.json", "linked.txt"]
CANDIDATES, REFERENCE = "--candidates=x={}", "--references={}"
PATTERNS = ["link/*.json", "linked*"]


@pytest.mark.parametrize("name", ["manifest.json", "_SUCCESS"])
def test_each_file_that_a_run_writes_is_looked_at(data, monkeypatch, name):
    monkeypatch.chdir(data.parent)
    for path in (f"data/{name}", f"data/{name[:3]}*"):
        run = called(*EXAMPLE, f"--references={path}", "--output=data")
        run.assert_failed(2, f"would read {data / name}, where results are written")
    (data / name).write_bytes(TEXT)
    os.symlink(data / name, "another.txt")
    run = called(*EXAMPLE, "--references=another.txt", "--output=data")
    run.assert_failed(2, f"would read {data / name}, where results are written")


@pytest.mark.parametrize(
    ("flags", "path", "output"),
    [
        *(([CANDIDATES], path, "data") for path in [*FILES, *PATTERNS]),
        ([REFERENCE], PATTERNS[0], "link"),
        ([CANDIDATES], PATTERNS[0], "data/below/.."),
    ],
    ids=str,
)
def test_an_input_that_the_result_would_replace(data, monkeypatch, flags, path, output):
    monkeypatch.chdir(data.parent)
    given = [flag.format(path) for flag in flags]
    run = called(*EXAMPLE, *given, "--output", output)
    run.assert_failed(2, f"--output {output}: ", "scores.json, where results are written")
    assert (data / "scores.json").read_bytes() == TEXT
    assert sorted(os.listdir(data)) == ["below", "other.json", "scores.json"]


def test_a_pattern_that_would_read_the_result_at_the_next_run(data, monkeypatch):
    monkeypatch.chdir(data)
    os.unlink("scores.json")
    given = streams(["x=*.json"], REFERENCES)
    called(*given, "--output=.").assert_failed(2, "candidates x (*.json) would read")
    assert called(*given, "--output=below").code == 0
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


@pytest.mark.parametrize(
    "pattern",
    ["mem://out/data/below/..//./scores.json", "mem://out/*/s*"],
)
def test_objects_are_compared_by_path_and_pattern(pattern):
    OBJECTS["mem://out/data/scores.json"] = TEXT, 1.0
    run = called(*EXAMPLE, f"--candidates=x={pattern}", "--output=mem://out/data/")
    OBJECTS.clear()
    run.assert_failed(2, f"candidates x ({pattern}) would read mem://out/data/scores.json")
