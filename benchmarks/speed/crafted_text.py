"""Checks that no crafted text costs the kernel much more per byte than ordinary text.

    python -m benchmarks.speed.crafted_text

prints CPU nanoseconds per byte of references and candidates, and the ratio to ordinary text, and
fails if a ratio is too large. Each input takes several turns with ordinary text; the figure is the
minimum.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Iterator

import pyarrow as pa

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import count_batch
from benchmarks.program import command_parser

_MOST = 7
"""The largest ratio to ordinary lines that passes."""

_PASSES = 7
_BYTES = 1_000_000
"""The least number of bytes of each input's references and candidates."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SYMBOLS = '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'

Segments = tuple[list[list[str]], list[list[str]]]
"""The columns of the candidates, and those of the references."""


def _ordinary(rng: random.Random, tokens: int) -> str:
    """Words with lengths as frequent as in a newspaper."""
    lengths = rng.choices(range(1, 13), [3, 17, 21, 16, 11, 9, 8, 6, 4, 3, 1, 1], k=tokens)
    words = ("".join(rng.choices(_LETTERS[: 3 + size], k=size)) for size in lengths)
    return " ".join(word + rng.choice(["", "", "", "", "", "", "", ",", "."]) for word in words)


def _changed(rng: random.Random, text: str, change: float = 0.15) -> str:
    """The text with some words replaced by others."""
    words = text.split(" ")
    return " ".join(rng.choice(words) if rng.random() < change else word for word in words)


def _pairs(text: str, other: str | None = None) -> Segments:
    """As many copies of one segment as an input needs for its size."""
    other = text if other is None else other
    copies = max(1, _BYTES // (len(text.encode()) + len(other.encode())))
    return [[text] * copies], [[other] * copies]


def _inputs() -> Iterator[tuple[str, Segments]]:
    rng = random.Random(14)
    line = _ordinary(rng, 20)
    lines = [_ordinary(rng, 20) for _ in range(4000)]
    changed = [_changed(rng, text) for text in lines]
    yield "ordinary lines of 20 words", ([changed], [lines])
    for tokens in (65, 260, 1_000, 100_000):
        text = _ordinary(rng, tokens)
        yield f"{tokens:,} words", _pairs(_changed(rng, text), text)
    for name, token in (("letter", "a "), ("symbol", "!"), ("entity", "&quot;")):
        for size in (60, 65, 1_000, 500_000):
            yield f"one {name}, {size:,} times", _pairs(token * size)
    yield "two letters at random, 500,000", _pairs(" ".join(rng.choices("ab", k=500_000)))
    for size in (60, 1_000, 500_000):
        yield f"random symbols, {size:,}", _pairs("".join(rng.choices(_SYMBOLS, k=size)))
    text = " ".join(f"{'p' * 60}{number:06}{'p' * 60}" for number in range(10_000))
    yield "10,000 long tokens with the same begin and end", _pairs(text)
    # The kernel has a fast path for 64 bytes that are all tokens, which these texts never take.
    yield "a word after 61 symbols", _pairs(("!" * 61 + "ab ") * 8_000)
    yield "points before digits", _pairs("....1" * 100_000)
    yield "wide white space", _pairs("a\u3000" * 100_000)
    yield "16 references of ordinary lines", ([changed[:500]], [lines[:500]] * 16)
    letters = " ".join(rng.choices(_LETTERS, k=64))
    for name, text in (("64", letters), ("65", letters + " a")):
        yield f"16 references of {name} letters", ([[text] * 500], [[text] * 500] * 16)
    yield "16 systems of 64 letters", ([[letters] * 500] * 16, [[letters] * 500])
    yield "empty lines and one word", ([[""] * 5_000], [[line] * 5_000])
    yield "a long candidate, a short reference", _pairs("a b " * 250_000, "a b")


def _batch(segments: Segments) -> tuple[SegmentBatch, int]:
    """The batch of the segments, and its number of bytes."""
    candidates, references = (
        tuple(pa.array(texts, pa.large_string()) for texts in side) for side in segments
    )
    size = sum(len(text.encode()) for texts in itertools.chain(*segments) for text in texts)
    names = tuple(f"system{number}" for number in range(len(candidates)))
    return SegmentBatch(candidates=candidates, references=references, systems=names), size


def _measured(passes: int, max_order: int) -> Iterator[tuple[str, float, float]]:
    """(input, its nanoseconds per byte, those of ordinary lines in turn with it), both minima."""
    text = BleuConfig().text

    def nanoseconds(batch: SegmentBatch, size: int) -> float:
        begin = time.process_time()
        count_batch(batch, text, BleuConfig(max_ngram_order=max_order))
        return (time.process_time() - begin) * 1e9 / size

    ordinary: tuple[SegmentBatch, int] | None = None
    for name, segments in _inputs():
        batch = _batch(segments)
        if ordinary is None:
            ordinary = batch
            nanoseconds(*ordinary)
        runs = [(nanoseconds(*ordinary), nanoseconds(*batch)) for _ in range(passes)]
        base, own = (min(times) for times in zip(*runs, strict=True))
        yield name, own, base


def _main() -> None:
    parser = command_parser(__doc__)
    parser.add_argument("--max_order", type=int, default=4, metavar="N", help="n-grams, default 4")
    flags = parser.parse_args()
    print(f"| input | ns per byte | ratio to ordinary lines, ≤ {_MOST}x |")
    print("| --- | ---: | ---: |")
    worst = 0.0
    for name, own, base in _measured(_PASSES, flags.max_order):
        worst = max(worst, own / base)
        print(f"| {name} | {own:.2f} | {own / base:.1f} |", flush=True)
    sys.exit(worst > _MOST)


if __name__ == "__main__":
    _main()
