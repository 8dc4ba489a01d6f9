"""Streams of several files, as users name them: the shards must correspond."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from command_line import (
    REFERENCES,
    SYSTEMS,
    Run,
    assert_equals_sacrebleu,
    called,
    read_lines,
    streams,
    write_lines,
)

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


def test_a_different_shard_lost_in_each_stream(tmp_path):
    of_hyp, of_ref = shards(CANDIDATE, NAMES), shards(CANDIDATE, NAMES)
    del of_hyp["part-01"], of_ref["part-03"]
    hyp, ref = write(tmp_path / "h", of_hyp), write(tmp_path / "r", of_ref)
    score(hyp, ref).assert_failed(
        3,
        f"beam-bleu: candidates x have no shard for 1 of references: {tmp_path}/r/part-01; "
        f"references have no shard for 1 of candidates x: {tmp_path}/h/part-03\n",
    )


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
    del of_hyp["part-05"], of_ref["part-05"]
    hyp, ref = write(tmp_path / "h", of_hyp), write(tmp_path / "r", of_ref)
    run = score(hyp, ref)
    failed = score(hyp, ref, "--expect_segments", str(len(CANDIDATE)))
    failed.assert_failed(3, f"{len(CANDIDATE)}", "--expect_segments", "the corpus has")
    expected = score(hyp, ref, "--expect_segments", str(run.document["segments"]))
    assert expected.out == run.out
