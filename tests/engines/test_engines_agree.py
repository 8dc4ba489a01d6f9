"""scores.json has the same bytes on every engine as in-process."""

from __future__ import annotations

import dataclasses
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import (
    PROJECT,
    REFERENCES,
    SYSTEMS,
    Argument,
    Run,
    assert_equals_sacrebleu,
    called,
    read_lines,
    streams,
    typed,
    write_lines,
)
from pyarrow import parquet

from deploy.local.cluster import Cluster

LINES = 20_000
SHARDS = 8
RANGE_BYTES = 1 << 19
"""Small, so that the corpus is many ranges and portions."""

USERS_PIPELINE = Path(__file__).with_name("users_pipeline.py")


class Texts:
    """Two systems and two references: thousands of changed copies of the example's lines."""

    def __init__(self) -> None:
        generator = random.Random(20_000)
        examples = [read_lines(path) for path in (*list(SYSTEMS.values())[:2], *REFERENCES)]
        self.streams: list[list[str]] = [[] for _ in examples]
        for number in range(LINES):
            index = generator.randrange(len(examples[0]))
            for example, stream in zip(examples, self.streams, strict=True):
                words = example[index].split(" ")
                del words[generator.randrange(len(words))]
                stream.append(f"{' '.join(words)} {number}")

    @property
    def candidates(self) -> list[list[str]]:
        return self.streams[:2]

    @property
    def references(self) -> list[list[str]]:
        return self.streams[2:]


def arguments(patterns: Sequence[Argument]) -> list[Argument]:
    first, second, *references = patterns
    flags = [f"--range_bytes={RANGE_BYTES}", "--format=json"]
    return streams([f"first={first}", f"second={second}"], references, *flags)


def shards(folder: Path, texts: Sequence[str], count: int, suffixes: Sequence[str]) -> str:
    """Writes a stream in shards, with the suffixes in turn; returns its pattern."""
    for number in range(count):
        part = texts[number * len(texts) // count : (number + 1) * len(texts) // count]
        write_lines(folder / f"part-{number:02}{suffixes[number % len(suffixes)]}", part)
    return f"{folder}/part-*"


@pytest.fixture(scope="module")
def texts() -> Texts:
    return Texts()


@pytest.fixture(scope="module")
def plain(texts: Texts, tmp_path_factory: pytest.TempPathFactory) -> list[Argument]:
    folder = tmp_path_factory.mktemp("plain")
    return [write_lines(folder / f"{i}.txt", text) for i, text in enumerate(texts.streams)]


@pytest.fixture(scope="module")
def in_process(plain: list[Argument], texts: Texts) -> bytes:
    run = called(*arguments(plain))
    assert_equals_sacrebleu(run.document, texts.candidates, texts.references)
    return run.out


_OF_A_JOB = ("beam-bleu: Created job with id: [", "beam-bleu: the page of the job: ")


def typed_for(cluster: Cluster, *words: Argument) -> Run:
    """The command on an engine; its `err` is without the lines about the engine's job."""
    run = typed(*words, "--progress=off", *cluster.flags(), timeout=900)
    lines = run.err.splitlines(keepends=True)
    assert sum(line.startswith(_OF_A_JOB[0]) for line in lines) == 1, run.err
    rest = "".join(line for line in lines if not line.startswith(_OF_A_JOB))
    return dataclasses.replace(run, err=rest)


def assert_same_bytes(
    cluster: Cluster,
    patterns: Sequence[Argument],
    expected: bytes,
    out: Path,
    *flags: str,
    warnings: Sequence[str] = (),
):
    run = typed_for(cluster, *arguments(patterns), *flags, "--output", out)
    assert run.code == 0, run.err
    said = run.err.splitlines()
    assert len(said) == len(warnings), run.err
    for line, warning in zip(said, warnings, strict=True):
        assert line.startswith(f"beam-bleu: warning: {warning}")
    assert run.out == expected
    assert (out / "scores.json").read_bytes() == expected


def test_plain_and_sharded_streams(
    cluster: Cluster, texts: Texts, plain: list[Argument], in_process: bytes, tmp_path: Path
) -> None:
    patterns = [
        plain[0],
        shards(tmp_path / "second", texts.streams[1], 3, [".txt"]),
        shards(tmp_path / "third", texts.streams[2], 5, [".txt"]),
        plain[3],
    ]
    refused = typed_for(cluster, *arguments(patterns), "--output", tmp_path / "out")
    refused.assert_failed(3, "have no shard for", "--cuts any")
    # A worker's notes reach the launcher, too.
    out, said = tmp_path / "out", ["--cuts any: "]
    assert_same_bytes(cluster, patterns, in_process, out, "--cuts=any", warnings=said)


@pytest.mark.engines
def test_compressed_shards(
    cluster: Cluster, texts: Texts, plain: list[Argument], in_process: bytes, tmp_path: Path
) -> None:
    patterns = [
        shards(tmp_path / str(number), text, SHARDS, suffixes)
        for number, (text, suffixes) in enumerate(
            zip(texts.streams, [[".gz"], [".zst", ".xz"], [".bz2", ".gz"], [""]], strict=True)
        )
    ]
    assert_same_bytes(cluster, patterns, in_process, tmp_path / "out")


def segment_rows(folder: Path) -> list[dict[str, Any]]:
    table = parquet.read_table(folder / "segment_scores")
    return sorted(table.to_pylist(), key=lambda row: (row["index"], row["system"]))


def test_segment_scores(cluster: Cluster, plain: list[Argument], tmp_path: Path) -> None:
    given = [*arguments(plain), "--segment_scores", "--output"]
    here, there = tmp_path / "here", tmp_path / "there"
    expected = called(*given, here)
    for _ in range(2):
        run = typed_for(cluster, *given, there)
        assert (run.code, run.err) == (0, "")
        assert run.out == expected.out
        assert sorted(os.listdir(there)) == sorted(os.listdir(here))
        assert segment_rows(there) == segment_rows(here)
    assert len(segment_rows(here)) == 2 * LINES


def test_a_pipeline_of_the_users_own(cluster: Cluster, tmp_path: Path) -> None:
    """CorpusBleu.PerKey between the user's own steps."""

    def scores(*flags: str) -> list[str]:
        out = tmp_path / f"scores-{len(flags)}"
        command = [sys.executable, USERS_PIPELINE, str(out), *flags]
        subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, timeout=900)
        return sorted(line for path in tmp_path.glob(f"{out.name}*") for line in read_lines(path))

    expected = scores("--runner=FnApiRunner")
    assert len(expected) == 5
    assert scores(*cluster.flags()) == expected


def test_bad_input_is_named_by_its_worker(cluster: Cluster, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"fine\n\xff\n" + b"fine\n" * 70)
    run = typed_for(cluster, *streams([bad], REFERENCES, "--output", tmp_path / "out"))
    run.assert_failed(3, "candidates bad: line 2: invalid UTF-8 at byte 1", f": {bad}\n")
    assert not (tmp_path / "out" / "scores.json").exists()


def test_paths_may_be_relative(prism: Cluster, tmp_path: Path) -> None:
    """They mean paths on the launcher, wherever the workers run."""
    corpus = streams(["examples/systems/atlas.txt"], ["examples/references/a.txt"])
    run = typed_for(prism, *corpus, "--output", tmp_path / "out")
    assert (run.code, run.err) == (0, "")
    assert run.out == typed(*corpus).out
