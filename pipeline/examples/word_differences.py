"""Which words two texts have in common, and which ones only one of them has."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import re
from collections.abc import Sequence

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
    matcher = _matcher(of_text, of_other)
    first: list[Run] = []
    second: list[Run] = []
    for kind, begin, end, begin_other, end_other in matcher.get_opcodes():
        first.append(Run("".join(of_text[begin:end]), kind == "equal"))
        second.append(Run("".join(of_other[begin_other:end_other]), kind == "equal"))
    for runs, of_one in ((first, of_text), (second, of_other)):
        runs.append(Run("".join(of_one[_MOST_WORDS:]), is_common=True))
    return _whole(first), _whole(second)


def closest(text: str, others: Sequence[str]) -> int:
    """The number of the text that has the most in common with a text; the first one of several."""

    def likeness(number: int) -> tuple[float, int]:
        return _matcher(words(text), words(others[number])).ratio(), -number

    return max(range(len(others)), key=likeness)


def _matcher(first: Sequence[str], second: Sequence[str]) -> difflib.SequenceMatcher[str]:
    one, other = ([word.strip() for word in of[:_MOST_WORDS]] for of in (first, second))
    return difflib.SequenceMatcher(None, one, other, autojunk=False)


def _whole(runs: Sequence[Run]) -> list[Run]:
    """The runs, with those of one kind put together. A space at the end of one is not marked."""
    parts: list[Run] = []
    filled = (run for run in runs if run.text)
    for is_common, group in itertools.groupby(filled, key=lambda run: run.is_common):
        text = "".join(run.text for run in group)
        word = text if is_common else text.rstrip()
        parts += [Run(word, is_common), Run(text[len(word) :], is_common=True)]
    return [part for part in parts if part.text]
