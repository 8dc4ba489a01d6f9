"""manifest.json: what was read. Digests depend only on the lines."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from command_line import COMPRESS, EXAMPLE, called, streams, write_lines

import beam_bleu.pipeline.graph
from beam_bleu.pipeline.folder.manifest import belongs_to
from beam_bleu.transforms.pairing.files.listing import local_version

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


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> tuple[list[Path], dict[str, Any]]:
    """The texts as single files, and their manifest."""
    folder = tmp_path_factory.mktemp("plain")
    files = [write_lines(folder / f"{i}.txt", text) for i, text in enumerate(TEXTS)]
    return files, manifest(folder / "out", *given(files))


def test_it_says_what_was_read(plain):
    files, found = plain
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
        size = file.stat().st_size
        assert stream == {
            "role": role,
            "system": system,
            "pattern": str(file),
            "digest": stream["digest"],
            "lines": LINES,
            "bytes": size,
            "files": [
                {
                    "path": str(file),
                    "bytes": size,
                    "lines": LINES,
                    "version": local_version(str(file)),
                }
            ],
        }
    assert len({*digests(found)}) == 3


def test_the_division_of_the_work_does_not_matter(plain, tmp_path):
    files, found = plain
    assert manifest(tmp_path, *given(files, "--range_bytes=2000", "--threads=5")) == found


def shards(folder: Path, cuts: int, suffixes: list[str]) -> list[str]:
    """Writes each text in several files; returns the patterns."""
    draw = random.Random(cuts)
    for stream, text in enumerate(TEXTS):
        bounds = [0, *sorted(draw.choices(range(LINES), k=cuts - 1)), LINES]
        for i, (first, last) in enumerate(itertools.pairwise(bounds)):
            path = folder / str(stream) / f"part-{i:02}{draw.choice(suffixes)}"
            write_lines(path, text[first:last])
    return [f"{folder}/{stream}/part-*" for stream in range(3)]


@pytest.mark.parametrize(("cuts", "suffixes"), [(7, [""]), (20, list(COMPRESS))])
def test_the_division_into_files_and_their_compression_do_not_matter(
    plain, tmp_path, cuts, suffixes
):
    patterns = shards(tmp_path, cuts, suffixes)
    found = manifest(tmp_path / "out", *given(patterns, "--cuts=any", "--range_bytes=500"))
    assert digests(found) == digests(plain[1])
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


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"scores_sha256": 1}', b"\xff"])
def test_another_programs_manifest_belongs_to_no_result(data):
    assert not belongs_to(data, b"")
