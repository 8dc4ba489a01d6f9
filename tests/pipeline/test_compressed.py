"""Compressed corpora: they are read once if possible, and no output and no error shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import COMPRESS, REFERENCES, SYSTEMS, called, streams

from beam_bleu.transforms.pairing.files import chunks
from beam_bleu.transforms.pairing.line_parallel import source

ATLAS = SYSTEMS["atlas"].read_bytes().splitlines(keepends=True)
HUMAN = REFERENCES[0].read_bytes().splitlines(keepends=True)
OTHER = REFERENCES[1].read_bytes().splitlines(keepends=True)


def written(folder: Path, shards: int, suffix: str, **texts: list[bytes]) -> list[str | Path]:
    """Writes each text in shards; returns the arguments that name them."""
    folder.mkdir()
    for name, lines in texts.items():
        for shard in range(shards):
            part = lines[shard * 30 : (shard + 1) * 30 if shard < shards - 1 else None]
            (folder / f"{name}-{shard}.txt{suffix}").write_bytes(COMPRESS[suffix](b"".join(part)))
    patterns = [f"{folder}/{name}-*.txt{suffix}" for name in texts]
    return streams([f"atlas={patterns[0]}"], patterns[1:])


@pytest.fixture
def opened(monkeypatch):
    """The number of times that a file is decompressed."""
    found = []

    def counting(*arguments):
        found.append(arguments)
        return decompressed(*arguments)

    decompressed = chunks.decompressed
    monkeypatch.setattr(chunks, "decompressed", counting)
    return found


@pytest.mark.parametrize(
    ("shards", "flags"),
    [
        (1, ["--resample=bootstrap", "--segment_scores"]),
        (3, ["--on_bad_record=reject", "--max_rejected=1.0", "--expect_segments=72"]),
    ],
)
def test_the_result_has_the_same_bytes_and_each_file_is_read_once(
    tmp_path, shards, flags, opened, monkeypatch
):
    def results(suffix: str, name: str) -> dict[str, bytes]:
        arguments = written(
            tmp_path / name, shards, suffix, atlas=ATLAS, human=HUMAN, other=[*OTHER[:-1], b"end"]
        )
        out = tmp_path / f"out-{name}"
        run = called(*arguments, "--output", out, *flags)
        assert run.code == 0, run.err
        # Numbers of segments are in the digests, the replicates and the segments' scores.
        digests = (out / "manifest.json").read_bytes().split(b'"digest"')[1:]
        return {
            "scores": (out / "scores.json").read_bytes(),
            "digests": b"".join(each.split(b",")[0] for each in digests),
        }

    plain = results("", "plain")
    assert opened == []
    assert results(".gz", "once") == plain
    assert len(opened) == 3 * shards
    monkeypatch.setattr(source, "read_once", lambda *_: None)
    assert results(".gz", "twice") == plain
    assert len(opened) == 3 * shards + 2 * 3 * shards


def test_shards_of_a_large_corpus_are_counted_first_so_that_workers_share_them(tmp_path, opened):
    arguments = written(tmp_path / "in", 3, ".gz", atlas=ATLAS, human=HUMAN)
    assert called(*arguments, "--range_bytes=256").code == 0
    assert len(opened) == 2 * 2 * 3


def with_line(lines: list[bytes], number: int, line: bytes) -> list[bytes]:
    return [*lines[: number - 1], line, *lines[number:]]


DEFECTS = {
    "a line less in a shard": (3, ATLAS[:29] + ATLAS[30:], HUMAN),
    "bad UTF-8, and a line more": (3, with_line(ATLAS, 5, b"\xff\n"), [*HUMAN, b"x\n"]),
    "bad UTF-8 at both ends": (
        1,
        with_line(with_line(ATLAS, 2, b"\xff\n"), 72, b"\xff\n"),
        HUMAN,
    ),
    "UTF-16": (3, ["".join(map(bytes.decode, ATLAS)).encode("utf-16-le")], HUMAN),
    "a long line": (1, with_line(ATLAS, 70, b"x" * 5000 + b"\n"), with_line(HUMAN, 2, b"\xff\n")),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_an_error_names_the_line_that_it_names_if_lines_are_counted_first(
    tmp_path, defect, monkeypatch
):
    shards, atlas, human = DEFECTS[defect]
    arguments = written(tmp_path / "in", shards, ".gz", atlas=atlas, human=human)
    flags = ["--output", tmp_path / "out", "--segment_scores", "--max_line_bytes=4096"]
    once = called(*arguments, *flags)
    assert not list(tmp_path.rglob("*.parquet"))
    monkeypatch.setattr(source, "read_once", lambda *_: None)
    twice = called(*arguments, *flags)
    for run in (once, twice):
        assert (run.code, run.out) == (3, b"")
    first, again = (run.err.partition("\n")[0].partition(";")[0] for run in (once, twice))
    assert first == again
