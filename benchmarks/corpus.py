"""Makes the benchmark's corpus: text like newswire, every line of every file different.

Repeated lines would make a scorer that caches lines look faster than it is.

    python benchmarks/corpus.py FOLDER --pairs N

writes FOLDER/ref-NN.txt and FOLDER/system01-NN.txt in shards; systems 2 to 16
have the first shard only. The same numbers give the same bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import pathlib
import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from vocabulary import NAMES, NUMBERS, WORDS, Names, number_list, word_list

SHARDS = 10
SYSTEMS = 16

_SEED = 2017
_CHUNK = 16_384
"""Lines that are made at a time."""

_MEDIAN_WORDS, _SPREAD_OF_WORDS = 14.9, 0.55
_FEWEST_WORDS, _MOST_WORDS = 3, 100
_NUMBER_SHARE = 0.02

_SEPARATORS = (" ", ", ", " - ", " – ", "; ", ": ", "/", "’s ", "' ", "... ", " & ", " &amp; ")
_SEPARATOR_SHARES = (0.914, 0.066, 0.002, 0.002, 0.002, 0.005, 0.001, 0.003, 0.002, 0.001, 0.001)
_QUOTES = (
    ('"', '"'),
    ('"', '"'),
    ("&quot;", "&quot;"),
    ("„", "“"),
    ("„", "“"),
    ("(", ")"),
    ("“", "”"),
    ("(", ")"),
    ("‚", "‘"),
    ("[", "]"),
)
_QUOTED_LINES = 0.16
_LINE_ENDS = (".\n", "\n", "!\n", "?\n", '."\n', ":\n", "...\n", ".&quot;\n")
_LINE_END_SHARES = (0.82, 0.11, 0.01, 0.02, 0.02, 0.005, 0.01)

# How a system errs: shares of its words. The errors of a line come together.
_SUBSTITUTED, _DELETED, _INSERTED, _SWAPPED = 0.41, 0.05, 0.06, 0.04
_SPREAD_OF_LINES = 0.5
_COMMAS_DROPPED, _COMMAS_ADDED = 0.18, 0.012

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclasses.dataclass(frozen=True)
class _Lines:
    """Lines as numbers of pieces of text.

    Attributes:
      words: the word at each place, all lines one after the other.
      separators: what follows each word; what follows the last one ends the line.
      firsts: the place of each line's first word.
    """

    words: Integers
    separators: Integers
    firsts: Integers


class _Pieces:
    """The pieces of text, and how often each one is drawn.

    The pieces are the words, the words with a capital, the numbers, the
    separators, the line ends, and then the names of a chunk.
    """

    def __init__(self) -> None:
        words = word_list(_SEED)
        openings = [" " + opening for opening, _ in _QUOTES]
        closings = [closing + " " for _, closing in _QUOTES]
        texts = [
            *words,
            *(word[0].upper() + word[1:] for word in words),
            *number_list(_SEED),
            *_SEPARATORS,
            *openings,
            *closings,
            *_LINE_ENDS,
        ]
        self.texts = [text.encode() for text in texts]
        self.first_separator = 2 * WORDS + NUMBERS
        self.first_opening = self.first_separator + len(_SEPARATORS)
        self.first_closing = self.first_opening + len(_QUOTES)
        self.first_end = self.first_closing + len(_QUOTES)
        self.first_name = len(texts)
        self._words = _drawing_table(self._word_shares())
        self._separators = self.first_separator + _drawing_table(_with_rest(_SEPARATOR_SHARES))
        self._ends = self.first_end + _drawing_table(_with_rest(_LINE_END_SHARES))

    def _word_shares(self) -> npt.NDArray[np.float64]:
        # Zipf's law in Mandelbrot's form.
        shares = np.zeros(self.first_separator)
        shares[:WORDS] = (np.arange(WORDS) + 6) ** -1.11
        shares[:WORDS] *= (1 - _NUMBER_SHARE) / shares.sum()
        shares[2 * WORDS :] = 1 / (np.arange(NUMBERS) + 50)
        shares[2 * WORDS :] *= _NUMBER_SHARE / shares[2 * WORDS :].sum()
        return shares

    def draw_words(self, source: np.random.Generator, count: int) -> Integers:
        return self._words[source.integers(len(self._words), size=count)]

    def draw_separators(self, source: np.random.Generator, count: int) -> Integers:
        return self._separators[source.integers(len(self._separators), size=count)]

    def draw_ends(self, source: np.random.Generator, count: int) -> Integers:
        return self._ends[source.integers(len(self._ends), size=count)]


def _with_rest(shares: tuple[float, ...]) -> npt.NDArray[np.float64]:
    """The shares, and what they leave as the last one."""
    return np.array([*shares, 1 - sum(shares)])


def _drawing_table(shares: npt.NDArray[np.float64]) -> Integers:
    """Numbers, each as often as its share: a random place in it is a random number."""
    counts = np.ceil(shares * 2**20).astype(np.int64)
    return np.repeat(np.arange(len(shares)), counts)


def _references(pieces: _Pieces, first_line: int, count: int) -> _Lines:
    source = np.random.default_rng([_SEED, first_line, 0])
    lengths = source.normal(np.log(_MEDIAN_WORDS), _SPREAD_OF_WORDS, count)
    lengths = np.rint(np.exp(lengths)).astype(np.int64).clip(_FEWEST_WORDS, _MOST_WORDS)
    firsts = np.cumsum(lengths) - lengths
    words = pieces.draw_words(source, lengths.sum())
    # The name that no other line has.
    words[firsts + source.integers(lengths)] = pieces.first_name + np.arange(count)
    separators = pieces.draw_separators(source, len(words))
    quoted = source.random(count) < _QUOTED_LINES
    begin = source.integers(lengths - 2)
    end = np.minimum(begin + source.integers(1, 8, count), lengths - 2)
    style = source.integers(len(_QUOTES), size=count)
    separators[(firsts + begin)[quoted]] = pieces.first_opening + style[quoted]
    separators[(firsts + end)[quoted]] = pieces.first_closing + style[quoted]
    separators[firsts + lengths - 1] = pieces.draw_ends(source, count)
    return _Lines(words, separators, firsts)


def _candidates(pieces: _Pieces, references: _Lines, first_line: int, system: int) -> _Lines:
    source = np.random.default_rng([_SEED, first_line, system])
    words = references.words.copy()
    lengths = np.diff(references.firsts, append=len(words))
    lasts = references.firsts + lengths - 1
    is_name = words >= pieces.first_name
    badness = np.exp(source.normal(-(_SPREAD_OF_LINES**2) / 2, _SPREAD_OF_LINES, len(lengths)))
    badness = np.repeat(badness, lengths)

    wrong = (source.random(len(words)) < _SUBSTITUTED * badness) & ~is_name
    words[wrong] = pieces.draw_words(source, int(wrong.sum()))

    swapped = source.random(len(words)) < _SWAPPED * badness
    swapped[lasts] = False
    swapped[1:] &= ~swapped[:-1]
    at = np.flatnonzero(swapped)
    words[at], words[at + 1] = words[at + 1], words[at]
    is_name = words >= pieces.first_name

    kept = np.ones(len(words), np.int64)
    kept[source.random(len(words)) < _DELETED * badness] = 0
    kept[is_name] = kept[lasts] = 1
    inserted = source.random(len(words)) < _INSERTED * badness
    kept[inserted] += 1
    places = np.repeat(np.arange(len(words)), kept)
    words, separators = words[places], references.separators[places]
    again = np.flatnonzero(places[1:] == places[:-1])  # a word is put before the one that is there
    words[again] = pieces.draw_words(source, len(again))
    separators[again] = pieces.first_separator
    line = np.repeat(np.arange(len(lengths)), lengths)[places]
    firsts = np.searchsorted(line, np.arange(len(lengths)))

    comma, space = pieces.first_separator + 1, pieces.first_separator
    chance = source.random(len(words))
    dropped = (separators == comma) & (chance < _COMMAS_DROPPED)
    added = (separators == space) & (chance < _COMMAS_ADDED)
    separators[dropped] = space
    separators[added] = comma
    return _Lines(words, separators, firsts)


def _text(pieces: _Pieces, lines: _Lines, names: Names, first_line: int) -> bytes:
    words = lines.words.copy()
    begin = words[lines.firsts]
    words[lines.firsts] = np.where(begin < WORDS, begin + WORDS, begin)
    both = np.empty(2 * len(words), np.int64)
    both[0::2], both[1::2] = words, lines.separators
    texts = pieces.texts + list(_line_names(names, first_line, len(lines.firsts)))
    return b"".join(map(texts.__getitem__, both.tolist()))


def _line_names(names: Names, first_line: int, count: int) -> Iterator[bytes]:
    # Multiplied by an odd number, which keeps them apart, so that neighbours do not look alike.
    numbers = (first_line + np.arange(count)) * 7_368_787 % NAMES
    tails = len(names.tails)
    for head, tail in zip((numbers // tails).tolist(), (numbers % tails).tolist(), strict=True):
        yield names.heads[head] + names.tails[tail]


def make_corpus(folder: pathlib.Path, pairs: int) -> None:
    """Writes the shards of a corpus into a new folder, which appears when it is complete."""
    partial = folder.with_name(folder.name + ".partial")
    partial.mkdir(parents=True, exist_ok=True)
    pieces = _Pieces()
    names = [Names(stream) for stream in range(SYSTEMS + 1)]
    for shard in range(SHARDS):
        first, stop = pairs * shard // SHARDS, pairs * (shard + 1) // SHARDS
        systems = range(1, (SYSTEMS if shard == 0 else 1) + 1)
        with contextlib.ExitStack() as stack:
            files = [
                stack.enter_context(open(partial / _file_name(stream, shard), "wb"))
                for stream in (0, *systems)
            ]
            for line in range(first, stop, _CHUNK):
                references = _references(pieces, line, min(_CHUNK, stop - line))
                files[0].write(_text(pieces, references, names[0], line))
                for system in systems:
                    candidates = _candidates(pieces, references, line, system)
                    files[system].write(_text(pieces, candidates, names[system], line))
        print(f"corpus: {stop} of {pairs} pairs", file=sys.stderr)
    _check_unique(partial)
    partial.rename(folder)


def _file_name(stream: int, shard: int) -> str:
    """The name of a shard of the references (stream 0) or of a system."""
    return f"system{stream:02}-{shard:02}.txt" if stream else f"ref-{shard:02}.txt"


def _check_unique(folder: pathlib.Path) -> None:
    """Raises an error if two lines of the corpus are the same (by a 64-bit hash)."""
    hashes = []
    for path in sorted(folder.iterdir()):
        with open(path, "rb") as file:
            hashes.append(np.fromiter(map(hash, file), np.int64))
    lines = np.concatenate(hashes)
    same = len(lines) - len(np.unique(lines))
    if same:
        raise ValueError(f"{same} of {len(lines)} lines in {folder} are not unique")


def _main() -> None:
    parser = argparse.ArgumentParser(description="Makes the benchmark's corpus.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, required=True)
    flags = parser.parse_args()
    if not SHARDS <= flags.pairs <= NAMES:
        parser.error(f"--pairs must be {SHARDS} to {NAMES}, got {flags.pairs}")
    make_corpus(flags.folder, flags.pairs)


if __name__ == "__main__":
    _main()
