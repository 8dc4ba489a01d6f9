"""Fake corpora, and runs of the two steps of a job that plan them, which return their cost.

A formula gives the place of each newline in 100 TB, so the counts are as those of a real job.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import pathlib
import pickle
import resource
import time
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from beam_bleu.transforms.pairing.files.streams import (
    FoundFile,
    Stream,
    compression,
    shards_in_order,
)
from beam_bleu.transforms.pairing.lines.correspondence import nul_notices, require_same_shards
from beam_bleu.transforms.pairing.lines.line_counting import (
    ByteRange,
    LineCounts,
    block_bytes,
    cut_corpus,
)
from beam_bleu.transforms.pairing.lines.plan import make_plan

Integers = npt.NDArray[np.int64]

_LINE_BYTES = 210
_SPREAD_OF_LINES, _SPREAD_OF_SHARDS = 0.05, 0.02
_WAVE = 1e-3
"""How far newlines can be from even spacing, as a share of the file's lines."""

Figures = Mapping[str, float]
"""The figures of a step, by the names of the report's columns."""


@dataclasses.dataclass(frozen=True)
class FakeCorpus:
    """The numbers that describe a corpus.

    Attributes:
      name: its name in the report.
      systems: the number of systems, beside one stream of references.
      shards: the number of files of each stream.
      shard_bytes: about how large each file is.
      suffix: the suffix of the files.
      aligned: whether all streams are cut at the same lines.
      range_bytes: the value of --range_bytes, if any.
    """

    name: str
    systems: int
    shards: int
    shard_bytes: int
    suffix: str = ".txt"
    aligned: bool = False
    range_bytes: int | None = None

    @property
    def streams(self) -> list[Stream]:
        """The references, then the systems."""
        names = ["references", *(f"candidates system-{i:02}" for i in range(self.systems))]
        return [Stream(name, f"{self._folder(i)}/part-*") for i, name in enumerate(names)]

    @functools.cache  # noqa: B019  (each process plans only one corpus)
    def text(self, stream: int) -> FakeText:
        """The text of a stream. All streams have the same number of lines."""
        source = np.random.default_rng([2017, stream])
        cut = np.random.default_rng(2017) if self.aligned else source
        bounds = np.cumsum(cut.normal(1, _SPREAD_OF_SHARDS, self.shards))
        mean = self.shard_bytes / _LINE_BYTES
        bounds = np.rint(bounds * (mean * self.shards / bounds[-1])).astype(np.int64)
        lines = np.diff(bounds, prepend=0)
        line_bytes = _LINE_BYTES * (1 + _SPREAD_OF_LINES * source.uniform(-1, 1))
        sizes = lines * line_bytes * source.normal(1, _SPREAD_OF_LINES / 10, self.shards)
        return FakeText(lines, sizes.astype(np.int64), waves=97 + stream)

    def found(self, stream: int) -> list[FoundFile]:
        """The files that a listing of the stream would find."""
        begin, end = f"{self._folder(stream)}/part-", f"-of-{self.shards:06}{self.suffix}"
        sizes = enumerate(self.text(stream).sizes.tolist())
        return [FoundFile(f"{begin}{i:06}{end}", size) for i, size in sizes]

    def _folder(self, stream: int) -> str:
        return f"s3://evaluation/newscrawl/2026-11-19/run-0007/stream-{stream:02}"


@dataclasses.dataclass(frozen=True)
class FakeText:
    """Where the lines of a stream are.

    Attributes:
      lines: int64, the number of lines of each file.
      sizes: int64, the number of bytes of each file.
      waves: how often lines get longer and shorter again in a file.
    """

    lines: Integers
    sizes: Integers
    waves: int

    def newlines_before(self, file: int, at: Integers) -> Integers:
        """The number of newlines before each of these bytes of a file, which never decreases."""
        lines, size = self.lines[file], self.sizes[file]
        share = at / max(size, 1)
        # The wave is 0 at both ends, and so flat that the sum never decreases.
        wave = _WAVE * np.sin(2 * np.pi * self.waves * share)
        before: Integers = np.rint(lines * (share + wave)).astype(np.int64).clip(0, lines)
        before[at >= size] = lines
        return before


CORPORA = (
    FakeCorpus("1 TB", 1, 500, 10**9),
    FakeCorpus("10 TB", 1, 5_000, 10**9),
    FakeCorpus("100 TB", 1, 50_000, 10**9),
    FakeCorpus("100 TB, streams cut at the same lines", 1, 50_000, 10**9, aligned=True),
    FakeCorpus("100 TB, 16 systems", 16, 5_882, 10**9),
    FakeCorpus("100 TB in 10 files", 1, 5, 10**13),
    FakeCorpus("100 TB, `--range_bytes 67108864`", 1, 50_000, 10**9, range_bytes=1 << 26),
    FakeCorpus("30 TB of `.gz`, cut at the same lines", 1, 50_000, 3 * 10**8, ".gz", aligned=True),
    FakeCorpus("30 TB of `.gz`, cut at other lines", 1, 50_000, 3 * 10**8, ".gz"),
    FakeCorpus("1 GB in tiny files", 1, 50_000, 10**4),
    FakeCorpus("1 PB in a million files", 1, 500_000, 10**9),
)


def list_files(corpus: FakeCorpus, file: pathlib.Path) -> Figures:
    """Runs the step "List their files", and writes to a file what "Count lines" would return."""
    found = [corpus.found(stream) for stream in range(len(corpus.streams))]
    start = time.perf_counter()
    by_stream = [
        shards_in_order(number, stream, found[number])
        for number, stream in enumerate(corpus.streams)
    ]
    require_same_shards(corpus.streams, by_stream)
    shards = list(itertools.chain.from_iterable(by_stream))
    ranges = list(cut_corpus(shards, corpus.range_bytes))
    sent = sum(len(pickle.dumps(each)) for each in ranges)
    figures = {"list s": time.perf_counter() - start, "list peak MB": _peak_megabytes()}
    counts = [pickle.dumps(each) for each in _counts(corpus, ranges)]
    file.write_bytes(pickle.dumps(counts))
    return {
        **figures,
        "TB": sum(shard.file.size for shard in shards) / 1e12,
        "files": len(shards),
        "range MiB": ranges[0].range_bytes >> 20,
        "ranges": len(ranges),
        "ranges MB": sent / 1e6,
        "counts MB": sum(map(len, counts)) / 1e6,
    }


def plan_portions(corpus: FakeCorpus, file: pathlib.Path) -> Figures:
    """Runs the step "Plan portions", and the shuffle of its portions."""
    start = time.perf_counter()
    # Like an engine, which sends all counts as one message; the step gets them as a list.
    counts = [pickle.loads(each) for each in pickle.loads(file.read_bytes())]
    nul_notices(corpus.streams, counts)
    plan = make_plan(corpus.streams, counts, "same" if corpus.aligned else "any")
    sent = [len(pickle.dumps(portion)) for portion in plan.portions()]
    figures = {"plan s": time.perf_counter() - start, "plan peak MB": _peak_megabytes()}
    size = sum(corpus.text(stream).sizes.sum() for stream in range(len(corpus.streams)))
    pieces = (piece for portion in plan.portions() for piece in portion.pieces)
    skipped = sum(sum(piece.skip for piece in of_stream) for of_stream in pieces)
    longest = max(portion.lines for portion in plan.portions())
    return {
        **figures,
        "portions": len(sent),
        "longest portion / mean": longest * len(sent) / plan.segments,
        "in vain": skipped * _LINE_BYTES / size,
        "portions MB": sum(sent) / 1e6,
        "largest portion KB": max(sent) / 1e3,
    }


def _peak_megabytes() -> float:
    """The peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def _counts(corpus: FakeCorpus, ranges: Iterable[ByteRange]) -> Iterator[LineCounts]:
    for part in ranges:
        shard = part.shard
        size = shard.file.size
        block = size if compression(shard.file.path) else block_bytes(part.range_bytes)
        at = np.append(np.arange(part.start, part.stop, block), part.stop)
        newlines = np.diff(corpus.text(shard.stream).newlines_before(shard.number, at))
        yield LineCounts(
            part,
            newlines.astype(np.min_scalar_type(newlines.max())),
            tail=b"\n",
            text_bytes=part.stop - part.start,
            version=f"{shard.number:032x}",  # as long as an ETag
        )
