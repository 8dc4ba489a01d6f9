"""Generates the corpus's lines from a seed: text like newswire, and systems that make errors in it.

A line is a sequence of numbers of pieces of text (words, separators, line ends). Each line contains
a name that no other line has, so all lines are different.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from benchmarks.corpus.vocabulary import NAMES, NUMBERS, WORDS, name, number_list, word_list

_SEED = 2017
_MEDIAN_WORDS, _SPREAD_OF_WORDS = 14.9, 0.55
_FEWEST_WORDS, _MOST_WORDS = 3, 100
_NUMBER_SHARE = 0.02

_SEPARATORS = (" ", ", ", " - ", " – ", "; ", ": ", "/", "’s ", "' ", "... ", " & ", " &amp; ")
_SEPARATOR_SHARES = (0.914, 0.066, 0.002, 0.002, 0.002, 0.005, 0.001, 0.003, 0.002, 0.001, 0.001)
_OPENINGS = (' "', ' "', " &quot;", " „", " „", " (", " “", " (", " ‚", " [")
_CLOSINGS = ('" ', '" ', "&quot; ", "“ ", "“ ", ") ", "” ", ") ", "‘ ", "] ")
_QUOTED_LINES = 0.16
_LINE_ENDS = (".\n", "\n", "!\n", "?\n", '."\n', ":\n", "...\n", ".&quot;\n")
_LINE_END_SHARES = (0.82, 0.11, 0.01, 0.02, 0.02, 0.005, 0.01)

# A system's errors, as shares of its words. Some lines have more errors than others.
_SUBSTITUTED, _DELETED, _INSERTED, _SWAPPED = 0.41, 0.05, 0.06, 0.04
_SPREAD_OF_LINES = 0.5
_COMMAS_DROPPED, _COMMAS_ADDED = 0.18, 0.012

Integers = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Lines:
    """Lines as numbers that stand for pieces of text.

    Attributes:
      words: the words of all lines, one line after the other.
      separators: what follows each word; after the last word of a line, it ends the line.
      firsts: the place of each line's first word.
    """

    words: Integers
    separators: Integers
    firsts: Integers


class Pieces:
    """The pieces of text, and how often each is drawn.

    They are the words, the capitalized words, the numbers, the separators, the line ends, and then
    the names of a chunk.
    """

    def __init__(self) -> None:
        words = word_list(_SEED)
        texts = [
            *words,
            *(word[0].upper() + word[1:] for word in words),
            *number_list(_SEED),
            *_SEPARATORS,
            *_OPENINGS,
            *_CLOSINGS,
            *_LINE_ENDS,
        ]
        self.texts = [text.encode() for text in texts]
        self.first_separator = 2 * WORDS + NUMBERS
        self.first_opening = self.first_separator + len(_SEPARATORS)
        self.first_closing = self.first_opening + len(_OPENINGS)
        self.first_end = self.first_closing + len(_OPENINGS)
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
        """Draws words and numbers."""
        return source.choice(self._words, count)

    def draw_separators(self, source: np.random.Generator, count: int) -> Integers:
        """Draws separators other than quotes."""
        return source.choice(self._separators, count)

    def draw_ends(self, source: np.random.Generator, count: int) -> Integers:
        """Draws what ends a line."""
        return source.choice(self._ends, count)


def _with_rest(shares: tuple[float, ...]) -> npt.NDArray[np.float64]:
    """The shares, and the remainder as one more share."""
    return np.array([*shares, 1 - sum(shares)])


def _drawing_table(shares: npt.NDArray[np.float64]) -> Integers:
    """A list with each number as often as its share, so that a random item is a random number."""
    counts = np.ceil(shares * 2**20).astype(np.int64)
    return np.repeat(np.arange(len(shares)), counts)


def reference_lines(pieces: Pieces, first_line: int, count: int) -> Lines:
    """Lines of the references, from the number `first_line` on."""
    source = np.random.default_rng([_SEED, first_line, 0])
    logarithms = source.normal(np.log(_MEDIAN_WORDS), _SPREAD_OF_WORDS, count)
    lengths = np.rint(np.exp(logarithms)).astype(np.int64).clip(_FEWEST_WORDS, _MOST_WORDS)
    firsts = np.cumsum(lengths) - lengths
    words = pieces.draw_words(source, lengths.sum())
    # A name that no other line has.
    words[firsts + source.integers(lengths)] = pieces.first_name + np.arange(count)
    separators = pieces.draw_separators(source, len(words))
    quoted = source.random(count) < _QUOTED_LINES
    begin = source.integers(lengths - 2)
    end = np.minimum(begin + source.integers(1, 8, count), lengths - 2)
    style = source.integers(len(_OPENINGS), size=count)
    separators[(firsts + begin)[quoted]] = pieces.first_opening + style[quoted]
    separators[(firsts + end)[quoted]] = pieces.first_closing + style[quoted]
    separators[firsts + lengths - 1] = pieces.draw_ends(source, count)
    return Lines(words, separators, firsts)


def candidate_lines(pieces: Pieces, references: Lines, first_line: int, system: int) -> Lines:
    """The output of a system: the references with its errors."""
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
    again = np.flatnonzero(places[1:] == places[:-1])  # where a word is inserted before another
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
    return Lines(words, separators, firsts)


def text(pieces: Pieces, lines: Lines, stream: int, first_line: int) -> bytes:
    """The bytes of lines, each of which begins with a capital; each stream has its own names."""
    words = lines.words.copy()
    begin = words[lines.firsts]
    words[lines.firsts] = np.where(begin < WORDS, begin + WORDS, begin)
    both = np.empty(2 * len(words), np.int64)
    both[0::2], both[1::2] = words, lines.separators
    # Multiplying by an odd number keeps them different, and neighbours then do not look alike.
    numbers = (first_line + np.arange(len(lines.firsts))) * 7_368_787 % NAMES
    texts = pieces.texts + [name(number, stream).encode() for number in numbers.tolist()]
    return b"".join(map(texts.__getitem__, both.tolist()))
