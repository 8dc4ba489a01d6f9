"""Corpora that have only metadata: names, sizes, and the places of newlines.

No text is read or written. A formula gives the place of each newline, so a plan can be checked
at any byte of 100 TB: it must have each line of each stream once, in order, at its right place.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from beam_bleu.transforms.pairing.files.streams import FoundFile, Stream
from beam_bleu.transforms.pairing.lines.plan import Piece, Plan

Integers = npt.NDArray[np.int64]

_LINE_BYTES = 210
_SPREAD_OF_LINES, _SPREAD_OF_SHARDS = 0.05, 0.02
_WAVE = 1e-3
"""The largest distance of newlines from their even places, as a share of the file's lines."""


@dataclasses.dataclass(frozen=True)
class FakeCorpus:
    """The numbers that describe a corpus.

    Attributes:
      name: its name in the report.
      systems: how many systems there are; there is one stream of references.
      shards: files of each stream.
      shard_bytes: about how large each file is.
      suffix: how the files' names end.
      aligned: whether all streams are cut at the same lines.
      range_bytes: the flag --range_bytes, if it is given.
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

    def text(self, stream: int) -> FakeText:
        """The lines and sizes of a stream's files."""
        return _text(self, stream)

    def found(self, stream: int) -> list[FoundFile]:
        """The files that a listing of the stream would find."""
        sizes = self.text(stream).sizes.tolist()
        return [
            FoundFile(
                f"{self._folder(stream)}/part-{i:06}-of-{self.shards:06}{self.suffix}",
                size,
            )
            for i, size in enumerate(sizes)
        ]

    def _folder(self, stream: int) -> str:
        return f"s3://evaluation/newscrawl/2026-11-19/run-0007/stream-{stream:02}"


@dataclasses.dataclass(frozen=True)
class FakeText:
    """Where the lines of a stream are.

    Attributes:
      lines: int64, the lines of each file.
      sizes: int64, the bytes of each file.
      waves: how often the length of lines goes up and down in a file.
    """

    lines: Integers
    sizes: Integers
    waves: int

    def newlines_before(self, file: int | Integers, at: Integers) -> Integers:
        """The number of newlines before a byte of a file. It never falls from byte to byte."""
        lines, sizes = self.lines[file], self.sizes[file]
        share = at / np.maximum(sizes, 1)
        # The wave is 0 at both ends, and so flat that the sum never falls.
        wave = _WAVE * np.sin(2 * np.pi * self.waves * share)
        before = np.floor(lines * (share + wave) + 0.5).astype(np.int64)
        return np.where(at >= sizes, lines, np.clip(before, 0, lines))


@functools.cache
def _text(corpus: FakeCorpus, stream: int) -> FakeText:
    """The text of a stream. Every stream has as many lines as the first one."""
    source = np.random.default_rng([2017, stream])
    shared = np.random.default_rng(2017)
    mean = corpus.shard_bytes / _LINE_BYTES
    spread = (shared if corpus.aligned else source).normal(1, _SPREAD_OF_SHARDS, corpus.shards)
    bounds = np.cumsum(spread)
    bounds = np.rint(bounds * (mean * corpus.shards / bounds[-1])).astype(np.int64)
    lines = np.diff(bounds, prepend=0)
    line_bytes = _LINE_BYTES * (1 + _SPREAD_OF_LINES * source.uniform(-1, 1))
    sizes = lines * line_bytes * source.normal(1, _SPREAD_OF_LINES / 10, corpus.shards)
    return FakeText(lines, sizes.astype(np.int64), waves=97 + stream)


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


def require_right_plan(corpus: FakeCorpus, plan: Plan) -> float:
    """Checks a plan with the places of the newlines; returns the bytes that are read in vain.

    Raises:
      RuntimeError: the plan is wrong.
    """
    lines_of_portions = np.array([portion.lines for portion in plan.portions()])
    in_vain = 0.0
    for stream in range(len(corpus.streams)):
        pieces = [portion.pieces[stream] for portion in plan.portions()]
        in_portions = np.array([sum(piece.lines for piece in of_portion) for of_portion in pieces])
        _require(
            np.array_equal(in_portions, lines_of_portions), "a portion lacks lines of a stream"
        )
        in_vain += _check_stream(corpus, stream, [piece for each in pieces for piece in each])
    _require(lines_of_portions.sum() == plan.segments, "the portions have not all lines")
    return in_vain


def _check_stream(corpus: FakeCorpus, stream: int, pieces: Sequence[Piece]) -> float:
    """Checks that pieces have each line of a stream once, in order; returns the bytes in vain."""
    text = corpus.text(stream)
    number = {found.path: i for i, found in enumerate(corpus.found(stream))}

    def column(of: Callable[[Piece], int]) -> Integers:
        return np.array([of(piece) for piece in pieces], np.int64)

    file = column(lambda piece: number[piece.file.path])
    first, lines = column(lambda piece: piece.first_line), column(lambda piece: piece.lines)
    start, skip = column(lambda piece: piece.start), column(lambda piece: piece.skip)
    ends_file = column(lambda piece: piece.ends_file)
    last = first + lines
    _require(bool(np.all(lines > 0)), "a piece is empty")
    _require(np.array_equal(ends_file, last == text.lines[file]), "the end of a file is wrong")
    _require(np.array_equal(file, np.cumsum(ends_file) - ends_file), "the order of files is wrong")
    follows = np.where(ends_file[:-1], 0, last[:-1])
    _require(first[0] == 0 and np.array_equal(first[1:], follows), "lines are missing or twice")
    _require(file[-1] == corpus.shards - 1 and bool(ends_file[-1]), "the end is missing")
    _require(
        np.array_equal(text.newlines_before(file, start) + skip, first),
        "a piece begins at another line",
    )
    _require(bool(np.all((skip > 0) | (start == 0))), "a piece begins inside a line")
    return float(np.sum(skip * text.sizes[file] / text.lines[file]))


def _require(is_so: bool, what: str) -> None:
    if not is_so:
        raise RuntimeError(f"the plan is wrong: {what}")
