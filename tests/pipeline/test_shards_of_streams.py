"""Streams of several files, plain and compressed: shards must correspond, and are read once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest import mock

import pytest
from command_line import (
    COMPRESS,
    REFERENCES,
    SYSTEMS,
    Run,
    assert_equals_sacrebleu,
    called,
    read_lines,
    streams,
    write_lines,
)

from beam_bleu.transforms.pairing.files import chunks
from beam_bleu.transforms.pairing.line_parallel import source

CANDIDATE = read_lines(SYSTEMS["birch"])
REFERENCE = read_lines(REFERENCES[0])
NAMES = [f"part-{i:02}" for i in range(10)]


def shards(lines: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """The lines of each shard, some shards shorter than others."""
    bounds = [len(lines) * i // len(names) for i in range(len(names) + 1)]
    parts = (list(lines[a:b]) for a, b in itertools.pairwise(bounds))
    return dict(zip(names, parts, strict=True))


def write(folder: Path, of_shards: Mapping[str, Sequence[str]], suffix: str = "") -> str:
    """Writes the shards; returns their pattern."""
    for name, lines in of_shards.items():
        write_lines(folder / f"{name}{suffix}", lines)
    return f"{folder}/*"


def score(candidates: str, references: str, *flags: str) -> Run:
    return called(*streams([f"x={candidates}"], [references], "--format", "json", *flags))


def assert_right(run: Run) -> None:
    assert_equals_sacrebleu(run.document, [CANDIDATE], [REFERENCE])


def test_the_same_shards_are_paired_for_all_forms_of_names(tmp_path):
    hyp = write(tmp_path / "h", shards(CANDIDATE, [f"p{i}" for i in range(12)]), ".txt")
    ref = write(tmp_path / "r", shards(REFERENCE, [f"r-{i:03}" for i in range(12)]), ".bz2")
    assert_right(score(hyp, ref))
    assert_right(score(hyp, str(REFERENCES[0])))  # one file pairs with any shards


def test_a_different_line_lost_in_each_stream(tmp_path):
    of_hyp, of_ref = shards(CANDIDATE, NAMES), shards(REFERENCE, NAMES)
    del of_hyp["part-04"][3], of_ref["part-07"][2]
    hyp, ref = write(tmp_path / "h", of_hyp), write(tmp_path / "r", of_ref)
    score(hyp, ref).assert_failed(
        3,
        "beam-bleu: 2 of 10 shards do not have the same number of lines in all streams: "
        f"shard 5 has 7 lines in candidates x, 8 in references: {tmp_path}/h/part-04, "
        f"{tmp_path}/r/part-04\n",
        "--cuts any",
    )


def test_other_cuts_are_read_if_allowed_and_the_output_says_so(tmp_path):
    hyp = write(tmp_path / "h", shards(CANDIDATE, NAMES))
    ref = write(tmp_path / "r", shards(REFERENCE, NAMES[:3]))
    score(hyp, ref).assert_failed(3, "references have no shard for 7 of candidates x: ")
    run = score(hyp, ref, "--cuts", "any")
    assert_right(run)
    said = "--cuts any: the streams were compared only by their total numbers of lines"
    assert f"beam-bleu: warning: {said}" in run.err
    # Another split of the same texts must give the same scores.json.
    assert run.document["warnings"] == []


def test_a_shard_lost_everywhere_is_found_by_the_expected_segments(tmp_path):
    of_hyp, of_ref = shards(CANDIDATE, NAMES), shards(REFERENCE, NAMES)
    lost = len(of_hyp.pop("part-05"))
    del of_ref["part-05"]
    hyp, ref = write(tmp_path / "h", of_hyp), write(tmp_path / "r", of_ref)
    failed = score(hyp, ref, f"--expect_segments={len(CANDIDATE)}")
    failed.assert_failed(3, f"{len(CANDIDATE)}", "--expect_segments", "the corpus has")
    assert score(hyp, ref, f"--expect_segments={len(CANDIDATE) - lost}").code == 0


# Compressed corpora are read once if possible, and no output and no error shows it.

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
def decompressed(monkeypatch):
    """Counts how often a file is decompressed."""
    counting = mock.Mock(side_effect=chunks.decompressed)
    monkeypatch.setattr(chunks, "decompressed", counting)
    return counting


@pytest.mark.parametrize(
    ("shards", "flags"),
    [
        (1, ["--resample=bootstrap", "--segment_scores"]),
        (3, ["--on_bad_record=reject", "--max_rejected=1.0", "--expect_segments=72"]),
    ],
)
def test_the_result_has_the_same_bytes_and_each_file_is_read_once(
    tmp_path, shards, flags, decompressed, monkeypatch
):
    def results(suffix: str, name: str) -> tuple[bytes, list[bytes]]:
        texts = {"atlas": ATLAS, "human": HUMAN, "other": [*OTHER[:-1], b"end"]}
        out = tmp_path / f"out-{name}"
        run = called(*written(tmp_path / name, shards, suffix, **texts), "--output", out, *flags)
        assert run.code == 0, run.err
        # Numbers of segments are in the digests, the replicates and the segments' scores.
        digests = (out / "manifest.json").read_bytes().split(b'"digest"')[1:]
        return (out / "scores.json").read_bytes(), [each.partition(b",")[0] for each in digests]

    plain = results("", "plain")
    assert decompressed.call_count == 0
    assert results(".gz", "once") == plain
    assert decompressed.call_count == 3 * shards
    monkeypatch.setattr(source, "read_once", lambda *_: None)
    assert results(".gz", "twice") == plain
    assert decompressed.call_count == 3 * shards + 2 * 3 * shards


def test_shards_of_a_large_corpus_are_counted_first_so_that_workers_share_them(
    tmp_path, decompressed
):
    arguments = written(tmp_path / "in", 3, ".gz", atlas=ATLAS, human=HUMAN)
    assert called(*arguments, "--range_bytes=256").code == 0
    assert decompressed.call_count == 2 * 2 * 3


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
