"""totals.json: its format, and files that are damaged, of other versions or of other programs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import called
from hypothesis import given, settings, strategies
from saved_parts import lines_in, run_into

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


def changed(data: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(data), **fields}).encode()


DAMAGED = "it is damaged or made by another program"

BAD = {
    "truncated": (lambda data: data[: len(data) // 2], DAMAGED),
    "a list": (lambda data: b"[]", DAMAGED),
    "another file": (lambda data: b'{"scores": []}', DAMAGED),
    "one digit": (lambda data: data.replace(b'"read":72', b'"read":73'), DAMAGED),
    "a later version": (lambda data: changed(data, version=99), "version 99 of the format"),
    "NaN": (lambda data: data.replace(b'"read":72', b'"read":NaN'), DAMAGED),
}


@pytest.mark.parametrize(("spoil", "cause"), BAD.values(), ids=BAD)
def test_a_bad_file_is_named(spoil, cause, data, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(spoil(data))
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


@pytest.mark.parametrize("largest", [2**63 - 1, 2**70])
def test_arrays_are_exact(largest):
    array = np.zeros((2, 3, 4), object if largest >= 2**63 else np.int64)
    array[:] = 0
    array[1, 2, 3], array[0, 0, 1] = largest, 5
    found = json.loads(json.dumps(encoded(array)))
    assert found["columns"] == [1, 3]
    again = decoded(Integers, found)
    assert again.dtype == array.dtype
    assert (again == array).all()


def test_a_run_without_the_flag_removes_the_old_one(folder, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(folder, out)
    run = called(
        out / "texts" / "ref.txt", "-i", out / "texts" / "atlas.txt", "--output", out, "--quiet"
    )
    assert run.code == 0, run.err
    assert not (out / "totals.json").exists()
    assert (out / "_SUCCESS").exists()
