"""Checks that a plan has each line of each stream once, in order, and at its right place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from beam_bleu.transforms.pairing.lines.plan import Piece, Plan
from benchmarks.plans.fake_corpora import FakeCorpus, Integers


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
