"""A small corpus with its right results, to find out whether this machine computes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from beam_bleu.transforms.text.tokenizers import TokenizerName

SAMPLE = (
    (
        "He said: &quot;It costs $3.50, or 4-5 euros.&quot;",
        ['He said: "It costs $3.50, or 4-5 euros!"', "She said that it costs 3.50 dollars."],
    ),
    (
        "The “naïve” café’s menu isn’t 100\u00a0% vegan, is it?",
        [
            "The “naïve” café’s menu is not 100\u00a0% vegan – is it?",
            "The café is not vegan, is it?",
        ],
    ),
    ("我们在2024年去了北京。", ["我们于2024年去了北京。", "我们在二〇二四年去过北京。"]),
)
"""Segments: a candidate and two references. Each kernel tokenizer finds other tokens in them:
entities, decimals, hyphens, Unicode punctuation, a no-break space, Chinese characters."""


@dataclasses.dataclass(frozen=True)
class Recorded:
    """The right result of the sample, with all other choices as in the default definition.

    Attributes:
      matches: clipped matches of each n-gram order.
      totals: n-grams of each order in the candidates.
      lengths: the tokens of the candidates, and of the closest references.
      score: BLEU.
    """

    matches: tuple[int, ...]
    totals: tuple[int, ...]
    lengths: tuple[int, float]
    score: float


RESULTS: Mapping[TokenizerName, Recorded] = {
    "13a": Recorded((27, 22, 18, 14), (29, 26, 24, 22), (29, 30), 75.65188566957578),
    "intl": Recorded((28, 22, 17, 12), (38, 35, 32, 30), (38, 33), 56.01082910487982),
    "zh": Recorded((39, 32, 25, 18), (48, 45, 42, 39), (48, 43), 63.11969078225887),
    "char": Recorded((85, 77, 70, 64), (96, 93, 90, 87), (96, 86), 80.47628691337553),
    "none": Recorded((15, 10, 5, 2), (19, 16, 14, 12), (19, 21), 37.26163349520731),
    "ascii-space": Recorded((14, 9, 5, 2), (18, 15, 13, 11), (18, 16), 42.50281413416977),
}
"""The results of the kernel's tokenizers. sacreBLEU 2.6 gives the same, and for `ascii-space`,
which it does not have, the brute force of the tests does."""
