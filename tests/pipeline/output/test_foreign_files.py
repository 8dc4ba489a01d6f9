"""Files in the places of data files that are not beam-bleu's stay, and are never mixed in."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from command_line import EXAMPLE, REFERENCES, called, streams, write_lines
from result_folder import RECORDS, assert_is_of, published, scores_run, staged
from test_document import files_no_larger_than

import beam_bleu.pipeline.graph
from beam_bleu.pipeline.output.publication import prepare
from beam_bleu.transforms.errors import JobError

ASKED = [*EXAMPLE, "--segment_scores"]


@pytest.fixture
def out(tmp_path) -> Path:
    (tmp_path / "out" / "segment_scores").mkdir(parents=True)
    return tmp_path / "out"


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
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(b"users")
    for flags in (ASKED, EXAMPLE):
        assert called(*flags, "--output", out).code == 0
        assert [(out / name).read_bytes() for name in names] == [b"users"] * 3


def test_a_folder_of_segment_scores_that_is_a_link(out, tmp_path):
    published(tmp_path / "elsewhere", "other")
    before = bytes_of(tmp_path / "elsewhere")
    (out / "segment_scores").rmdir()
    (out / "segment_scores").symlink_to(tmp_path / "elsewhere" / "segment_scores")
    assert_refused(out, "segment_scores is a link")
    assert bytes_of(tmp_path / "elsewhere") == before


# What cannot be read or written


def fail(monkeypatch, module, name: str, path: Path, code: int) -> None:
    """Makes the system refuse access to a path, as for users other than root."""
    real = getattr(module, name)

    def refusing(given, *arguments, **named):
        if isinstance(given, str) and given == str(path):
            raise OSError(code, os.strerror(code), given)
        return real(given, *arguments, **named)

    monkeypatch.setattr(module, name, refusing)


def test_a_folder_that_cannot_be_listed_at_the_end(out, monkeypatch):
    published(out, "former", 2)
    prepare(str(out))
    names = staged(out, "run")
    with monkeypatch.context() as patched:
        fail(patched, os, "scandir", out / "segment_scores", errno.ESTALE)
        with pytest.raises(JobError, match="cannot be read: "):
            published(out, "run", 0)
    assert scores_run(out) == "former"
    assert len(names) == 3
    published(out, "next")
    assert_is_of(out, "next")


@pytest.mark.parametrize("flags", [[], ["--segment_scores"]], ids=["plain", "segment scores"])
def test_a_full_disk_leaves_only_the_previous_result(out, tmp_path, flags):
    texts = [write_lines(tmp_path / name, ["a b c"] * 2000) for name in ("a.txt", "b.txt")]
    given = streams([*texts], REFERENCES[:0] + texts[:1], *flags, "--output", out)
    published(out, "former")
    before = bytes_of(out)
    with files_no_larger_than(900):
        called(*given).assert_failed(1, "cannot be written: ", "File too large")
    assert bytes_of(out) == before
    assert_is_of(out, "former", marked=False)
    assert called(*given).code == 0
    assert (out / "_SUCCESS").exists()
