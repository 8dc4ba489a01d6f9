"""Made texts with the statistics of natural ones: common and rare words, and changes of some."""

from __future__ import annotations

import random
from collections.abc import Sequence

COUNT = 400
LETTERS = "aaabcdeeefghiiklmnooprstuüwzß"


def sentences(count: int, seed: int = 1, letters: str = LETTERS, space: str = " ") -> list[str]:
    """Sentences of words, a few of which are common, with some punctuation."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(4000)]

    def sentence() -> str:
        chosen = [words[int(4000 * rng.random() ** 3)] for _ in range(rng.randint(6, 24))]
        chosen[rng.randrange(len(chosen))] += ","
        return space.join(chosen).capitalize() + "."

    return [sentence() for _ in range(count)]


def changed(texts: Sequence[str], share: float, seed: int = 2, space: str = " ") -> list[str]:
    """Texts in which this share of the words are others of the corpus."""
    rng = random.Random(seed)
    words = space.join(texts).split(space)
    return [
        space.join(
            rng.choice(words) if rng.random() < share else word for word in text.split(space)
        )
        for text in texts
    ]


REFERENCES = sentences(COUNT)
CANDIDATES = changed(REFERENCES, 0.2)
