"""Which words two texts have in common, and which ones only one of them has."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import re
from collections.abc import Sequence, Set

_WITHOUT_SPACES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese do not put spaces between words, so each
character stands for itself."""

_WORDS = re.compile(rf"(?:[{_WITHOUT_SPACES}]|(?:(?![{_WITHOUT_SPACES}])\w)+|[^\w\s])\s*|^\s+")

_MOST_WORDS = 400
"""Comparing takes the square of this time. Longer texts are compared in their first words."""


@dataclasses.dataclass(frozen=True)
class Run:
    """Words in a row that both texts have, or only one of them.

    Attributes:
      text: the words, with the spaces between them.
      is_common: whether both texts have them, in the same order.
    """

    text: str
    is_common: bool


def words(text: str) -> list[str]:
    """The words of a text, with the spaces after them. Punctuation is a word of its own.

    >>> words("It's 5 o'clock.")
    ['It', "'", 's ', '5 ', 'o', "'", 'clock', '.']
    """
    return _WORDS.findall(text)


def compared(text: str, other: str) -> tuple[list[Run], list[Run]]:
    """The runs of two texts. Put together, those of a text are this text.

    Spaces do not count: a word is common if both texts have it, whatever spaces come after it.

    >>> first, second = compared("a black cat", "a cat sat")
    >>> [run.text for run in first if not run.is_common]
    ['black']
    >>> [run.text for run in second if not run.is_common]
    ['sat']
    """
    of_text, of_other = words(text), words(other)
    blocks = _matcher(of_text, of_other).get_matching_blocks()
    places = {place for block in blocks for place in range(block.a, block.a + block.size)}
    places_of_other = {place for block in blocks for place in range(block.b, block.b + block.size)}
    return _runs(of_text, places), _runs(of_other, places_of_other)


def closest(text: str, others: Sequence[str]) -> int:
    """The number of the text that has the most in common with a text; the first one of several."""

    def likeness(number: int) -> tuple[float, int]:
        return _matcher(words(text), words(others[number])).ratio(), -number

    return max(range(len(others)), key=likeness)


def _matcher(first: Sequence[str], second: Sequence[str]) -> difflib.SequenceMatcher[str]:
    one, other = ([word.strip() for word in of[:_MOST_WORDS]] for of in (first, second))
    return difflib.SequenceMatcher(None, one, other, autojunk=False)


def _runs(of_text: Sequence[str], common: Set[int]) -> list[Run]:
    """The words of a text, of which those at some places are common. A last space is not marked."""
    runs: list[Run] = []
    for is_common, places in itertools.groupby(
        range(len(of_text)), key=lambda place: place in common or place >= _MOST_WORDS
    ):
        text = "".join(of_text[place] for place in places)
        word = text if is_common else text.rstrip()
        runs += [Run(word, is_common), Run(text[len(word) :], is_common=True)]
    return [run for run in runs if run.text]
