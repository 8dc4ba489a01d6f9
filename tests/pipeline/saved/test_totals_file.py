"""totals.json: its format, and files that are damaged, of other versions or of other programs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import called, write_lines
from hypothesis import given, settings, strategies
from saved_parts import NAMES, TEXTS, lines_in, ranges, run_into

from beam_bleu.pipeline.result.document import document_of
from beam_bleu.pipeline.saved.saved_result import ResultFile
from beam_bleu.pipeline.saved.totals_file import (
    _digest,
    decoded,
    encoded,
    read_totals,
    totals_bytes,
    totals_in,
)
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.native.arrays import Integers


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out: Path = tmp_path_factory.mktemp("out")
    flags = ("--slice_by=domain,length", "--compare_presets", "--segment_scores")
    flags += ("--resample=bootstrap", "--resamples=20")
    run_into(out, *lines_in(out / "texts", slice(None), *flags))
    return out


@pytest.fixture(scope="module")
def data(folder) -> bytes:
    return (folder / "totals.json").read_bytes()


def test_it_is_read_as_it_was_written(folder, data):
    saved = read_totals(str(folder / "totals.json"))
    scores = (folder / "scores.json").read_bytes()
    assert totals_bytes(saved, scores) == data


def test_the_digest_does_not_depend_on_the_layout(data):
    found = json.loads(data)
    assert _digest(found["content"]) == found["sha256"]
    pretty, plain = (
        totals_in(ResultFile("x", each, "")).result
        for each in (json.dumps(found, indent=2).encode(), data)
    )
    assert document_of(pretty) == document_of(plain)


def test_a_bad_file_is_named(data, tmp_path):
    damaged, path = "it is damaged or made by another program", tmp_path / "bad.json"
    for content, cause in (
        (data[: len(data) // 2], damaged),
        (b"[]", damaged),
        (b'{"scores": []}', damaged),
        (data.replace(b'"read":72', b'"read":73'), damaged),
        (data.replace(b'"read":72', b'"read":NaN'), damaged),
        (json.dumps({**json.loads(data), "version": 99}).encode(), "version 99 of the format"),
    ):
        path.write_bytes(content)
        called("merge", path).assert_failed(3, str(path), cause)


@settings(max_examples=40)
@given(strategies.integers(0, 10**9), strategies.integers(1, 255))
def test_any_changed_byte_is_refused_unless_it_changes_nothing(folder, data, place, change):
    other = bytearray(data)
    other[place % len(data)] ^= change
    with contextlib.suppress(InputError):
        totals_in(ResultFile(str(folder / "totals.json"), bytes(other), str(folder)))
        assert json.loads(other) == json.loads(data)  # white space became another one


def test_tokens_of_other_libraries_are_refused(folder, tmp_path):
    saved = read_totals(str(folder / "totals.json"))
    other = dataclasses.replace(saved, versions={"unicode": "3.0"})
    path = tmp_path / "other.json"
    path.write_bytes(totals_bytes(other, b""))
    with pytest.raises(InputError, match=r"made with unicode 3\.0"):
        read_totals(str(path))


def test_arrays_are_exact():
    for largest, dtype in ((2**63 - 1, np.int64), (2**70, object)):
        array = np.zeros((2, 3, 4), dtype)
        array[1, 2, 3], array[0, 0, 1] = largest, 5
        found = json.loads(json.dumps(encoded(array)))
        assert found["columns"] == [1, 3]
        again = decoded(Integers, found)
        assert again.dtype == array.dtype
        assert (again == array).all()


# Folders: which ones are read, and which ones a result can be written to


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The folders of two runs, `one` and `two`."""
    folder: Path = tmp_path_factory.mktemp("made")
    for name, rows in zip(("two", "one"), reversed(ranges()), strict=True):
        run_into(folder / name, *lines_in(folder / "texts", rows))
    return folder


@pytest.fixture
def folders(made, tmp_path) -> tuple[Path, Path]:
    """Copies of both folders."""
    for name in ("one", "two"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path / "one", tmp_path / "two"


def test_the_totals_of_an_earlier_run_are_refused_but_by_the_run_that_replaces_it(folders, made):
    old, good = folders
    short = write_lines(made / "short.txt", TEXTS["atlas"][:9])
    reference, *systems = (made / "texts" / f"{each}.txt" for each in ("ref", *NAMES))
    for name in ("", "totals.json"):
        run = called(reference, "-i", short, "--output", old, "--save_totals")
        run.assert_failed(3, "have 9 lines")
        assert (old / "totals.json").exists()
        for words in (
            ["merge", good, old / name],
            ["compare", good, old / name],
            ["gate", good, "--max_drop=99", "--against", old / name],
        ):
            run = called(*words)
            run.assert_failed(3, f"{old} has no _SUCCESS", "failed, or is under way")
        flags = ["--max_drop=0", "--drop=proven", "--against", old / name]
        run = called(reference, "-i", *systems, *flags, "--output", old, "--save_totals")
        assert run.code == 0, run.err


def test_totals_beside_the_scores_of_another_result_are_refused(folders):
    one, two = folders
    shutil.copy(two / "scores.json", one)
    for words in (["merge", one], ["gate", one, "--fail_under=1"], ["compare", two, one]):
        called(*words).assert_failed(3, "does not belong to the scores.json beside it")
    # The file itself is right.
    assert called("merge", one / "totals.json", "-b").code == 0

    (two / "manifest.json").write_text("[]")
    run = called("gate", two, "--fail_under=1")
    run.assert_failed(3, f"{two / 'manifest.json'} does not belong")


def test_an_input_is_not_overwritten(folders):
    one, two = folders
    before = {each.name: each.read_bytes() for each in one.iterdir()}
    for words in (["merge", f"{one}/../one/totals.json", two], ["rescore", one, "-s=floor"]):
        run = called(*words, "--output", one)
        run.assert_failed(2, f"--output {one}", "name another folder")
    assert {each.name: each.read_bytes() for each in one.iterdir()} == before
