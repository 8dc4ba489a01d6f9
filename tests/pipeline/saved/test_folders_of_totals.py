"""Folders with saved totals: which ones are read, and which ones a result can be written to."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from command_line import called, write_lines
from saved_parts import TEXTS, lines_in, ranges, run_into

PARTS = {"one": "part1", "two": "part2"}
"""The folders of the texts."""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The folders of two runs, `one` and `two`."""
    folder: Path = tmp_path_factory.mktemp("made")
    for name, rows in zip(("one", "two"), ranges(), strict=True):
        run_into(folder / name, *lines_in(folder / "texts" / PARTS[name], rows))
    return folder


@pytest.fixture
def folders(made, tmp_path) -> tuple[Path, Path]:
    """Copies of both folders."""
    for name in ("one", "two"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path / "one", tmp_path / "two"


@pytest.fixture
def failed(folders, tmp_path) -> Path:
    """The first folder, after a run into it that has failed."""
    one, _ = folders
    short = write_lines(tmp_path / "short.txt", TEXTS["atlas"][:9])
    reference = write_lines(tmp_path / "ref.txt", TEXTS["ref"])
    called(reference, "-i", short, "--output", one, "--save_totals").assert_failed(3, "72")
    assert (one / "totals.json").exists()
    return one


# The result of an earlier run


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["merge", "GOOD", "OLD"], "totals.json"),
        (["compare", "GOOD", "OLD"], ""),
        (["gate", "GOOD", "--max_drop=99", "--against", "OLD"], "totals.json"),
    ],
)
def test_the_totals_of_an_earlier_run_are_refused(words, name, failed, folders):
    paths = {"OLD": failed / name, "GOOD": folders[1]}
    run = called(*(paths.get(word, word) for word in words))
    run.assert_failed(3, f"{failed} has no _SUCCESS", "failed, or is under way")


@pytest.mark.parametrize("name", ["", "totals.json"])
def test_a_run_is_compared_with_what_it_replaces(name, failed, made):
    texts = [
        made / "texts" / PARTS["one"] / f"{each}.txt"
        for each in ("ref", "atlas", "birch", "cobalt")
    ]
    flags = ["--max_drop=0", "--drop=proven", "--against"]
    words = [texts[0], "-i", *texts[1:], "-b", *flags]
    run = called(*words, failed / name, "--output", failed)
    assert run.code == 0, run.err


# A folder with files of several results


def test_totals_beside_the_scores_of_another_result_are_refused(folders):
    one, two = folders
    shutil.copy(two / "scores.json", one)
    for words in (["merge", one], ["gate", one, "--fail_under=1"], ["compare", two, one]):
        called(*words).assert_failed(3, "does not belong to the scores.json beside it")
    # The file itself is right.
    assert called("merge", one / "totals.json", "-b").code == 0


def test_a_wrong_manifest_is_refused_by_gates(folders):
    (folders[0] / "manifest.json").write_text("[]")
    run = called("gate", folders[0], "--fail_under=1")
    run.assert_failed(3, f"{folders[0] / 'manifest.json'} does not belong")


# Where a result is written


@pytest.mark.parametrize(("subcommand", "name"), [("merge", "../one/totals.json"), ("rescore", "")])
def test_an_input_is_not_overwritten(subcommand, name, folders):
    one, two = folders
    before = {each.name: each.read_bytes() for each in one.iterdir()}
    others = [two] if subcommand == "merge" else ["-s=floor"]
    run = called(subcommand, os.path.join(one, name), *others, "--output", one)
    run.assert_failed(2, f"--output {one}", "name another folder")
    assert {each.name: each.read_bytes() for each in one.iterdir()} == before


def test_nothing_of_an_earlier_run_stays(folders, made, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(made / "two", out)
    assert (out / "metrics.prom").exists()
    assert called("merge", *folders, "--output", out).code == 0
    names = sorted(each.name for each in out.iterdir())
    assert names == ["_SUCCESS", "manifest.json", "scores.json", "totals.json"]
