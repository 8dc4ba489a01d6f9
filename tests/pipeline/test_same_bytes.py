"""scores.json has the same bytes for every way to cut, compress, read and count a corpus."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import COMPRESS, Run, assert_equals_sacrebleu, called, streams, typed, write_lines
from scoring import score_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.statistics.batch_steps import CountMatches

WORDS = [
    *("the", "a", "of", "to", "in", "it's", "3.14", "1,000", "well-known", "“quoted”", "(so)"),
    *("&amp;", "naïve", "北京", "Łódź", "über", "😀", "A.B.", "end.", ".", ",", "-", "'", ""),
    *("e\u0301", "no\u00a0break", "next\u0085line"),
]


class Corpus:
    """Line-parallel texts, and the result of scoring them as plain single files."""

    def __init__(self, folder: Path, segments: int) -> None:
        generator = random.Random(segments)
        self.references = [[], []]
        self.candidates = [[], []]
        for _ in range(segments):
            words = generator.choices(WORDS, k=generator.randrange(12))
            for text in (*self.references, *self.candidates):
                kept = [word for word in words if generator.random() < 0.8]
                text.append(" ".join(kept))
        self.files = [
            write_lines(folder / f"stream{i}.txt", text) for i, text in enumerate(self.texts)
        ]
        self.run = score(self.files)

    @property
    def texts(self) -> list[list[str]]:
        return [*self.references, *self.candidates]

    @property
    def bytes(self) -> list[int]:
        return [file.stat().st_size for file in self.files]


def score(patterns: Sequence[Path | str], *flags: str, run=called) -> Run:
    first, second, *references = [patterns[i] for i in (2, 3, 0, 1)]
    candidates = [f"first={first}", f"second={second}"]
    return run(*streams(candidates, references, "--format", "json", *flags))


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("small"), 300)


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("large"), 37_000)


def assert_same(run: Run, corpus: Corpus) -> None:
    # Of 37,000 random lines, more than 100 end in " .".
    known = ("the candidates look tokenized", "--cuts any: ")
    assert all(any(each in line for each in known) for line in run.err.splitlines())
    assert (run.code, run.out) == (corpus.run.code, corpus.run.out)


def test_the_plain_run_equals_sacrebleu(small):
    assert_equals_sacrebleu(small.run.document, small.candidates, small.references)
    assert small.run.document["counters"] == {
        "segments": 300,
        "empty_candidates": sum(not text.split() for text in itertools.chain(*small.candidates)),
        "bytes": sum(small.bytes) - sum(map(len, small.texts)),  # without the newlines
    }


@pytest.mark.parametrize(
    ("range_bytes", "threads"),
    [(16, 5), (1 << 40, 2), pytest.param(16, 1, marks=pytest.mark.slow)],
)
def test_any_range_size_and_number_of_threads(small, range_bytes, threads):
    run = score(small.files, f"--range_bytes={range_bytes}", f"--threads={threads}")
    assert_same(run, small)


def test_the_large_corpus_has_more_than_one_batch_and_unit(large, monkeypatch):
    """The kernel, which the tests of metrics compare with sacreBLEU, counts it in one batch."""
    references = map(list, zip(*large.references, strict=True))
    expected = score_of([*zip(large.candidates[0], references, strict=True)], BleuConfig())
    (first, _) = large.run.document["scores"]
    assert (first["score"], first["segments"]) == (expected.score, 37_000)
    assert (first["matches"], first["totals"]) == ([*expected.matches], [*expected.totals])
    work, rows = CountMatches.work, []

    def watched(self, batch):
        rows.append(len(batch))
        return work(self, batch)

    monkeypatch.setattr(CountMatches, "work", watched)
    assert_same(score(large.files, "--threads=1"), large)
    assert len(rows) >= 3  # one unit, in batches
    assert sum(rows) == 37_000
    rows.clear()
    assert_same(score(large.files, "--range_bytes=100000", "--threads=1"), large)
    assert len(rows) >= sum(large.bytes) // 100_000 >= 10  # as many units
    assert sum(rows) == 37_000


WHOLE = 1 << 26  # a range holds any of these files


def write_shards(
    folder: Path, texts: Sequence[Sequence[str]], shards: Sequence[int], suffixes: Sequence[str]
) -> list[str]:
    """Writes each text in this number of shards, in random order; returns the patterns."""
    generator = random.Random(str((shards, suffixes)))
    files = []
    for stream, (text, number) in enumerate(zip(texts, shards, strict=True)):
        cuts = sorted(generator.choices(range(len(text) + 1), k=number - 1))
        bounds = itertools.pairwise([0, *cuts, len(text)])
        for i, (first, last) in enumerate(bounds):
            suffix = generator.choice(suffixes)
            files.append((folder / f"stream{stream}" / f"part-{i:03}{suffix}", text[first:last]))
    generator.shuffle(files)
    for path, lines in files:
        write_lines(path, lines)
    return [f"{folder}/stream{stream}/part-*" for stream in range(len(texts))]


@pytest.mark.parametrize(
    ("shards", "suffixes", "range_bytes"),
    [
        ((40, 2, 1, 25), [""], 100),
        ((3, 1, 7, 2), [".zst"], 100),
        ((3, 7, 1, 3), [".bz2", ".xz"], WHOLE),
        ((20, 1, 9, 1), list(COMPRESS), 100),
    ],
)
def test_any_shards_and_compressions(small, tmp_path, shards, suffixes, range_bytes):
    patterns = write_shards(tmp_path, small.texts, shards, suffixes)
    # The streams are cut at different lines.
    assert_same(score(patterns, f"--range_bytes={range_bytes}", "--cuts=any"), small)


def test_any_shards_of_more_than_one_batch(large, tmp_path):
    patterns = write_shards(tmp_path, large.texts, (5, 2, 7, 1), list(COMPRESS))
    assert_same(score(patterns, "--range_bytes=50000", "--cuts=any"), large)


@pytest.mark.parametrize("seed", ["0", pytest.param("1", marks=pytest.mark.slow)])
def test_commands_in_separate_processes(large, monkeypatch, seed):
    monkeypatch.setenv("PYTHONHASHSEED", seed)  # the order of sets differs
    assert_same(score(large.files, "--range_bytes=100000", run=typed), large)
