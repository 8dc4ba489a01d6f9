"""The vocabulary of the benchmark's corpus: pronounceable words, numbers and names."""

from __future__ import annotations

import random

WORDS = 60_000
"""Types that are words; the most frequent ones are the shortest."""

NUMBERS = 4_000


def _parts(*texts: str) -> list[str]:
    return " ".join(texts).split()


# What occurs more often stands there more often.
_ONSETS = _parts(
    "b d f g h k l m n p r s t v w z",
    "br dr fl gr kl kr pl pr sch sp st str schl tr zw qu",
)
_VOWELS = [*"aaaaaaeeeeeeeeeeeeeeiiiiiiiooouuu", *_parts("ei ei ie ie au au eu ä ü")]
_CODAS = _parts(
    "b d g k l m n n n p r r s s t t",
    "ch ck ft ll lt ld nd ng nk nn nt rd rk rt rt sch ss st st ß",
)
_ENDINGS = _parts("e en er es em ung heit lich isch keit te ten chen st t n s")

_NAME_SYLLABLES = [onset + vowel for onset in "bdfghjklmnprstvz" for vowel in "aeiou"][:64]
NAMES = len(_NAME_SYLLABLES) ** 4
"""How many names there are for each ending of a name."""

_NAME_ENDINGS = _parts(
    "ck nd lt rn sk witz ng x ff gg ld mp nn pp rd ss tt",
    "berg dorf feld hof lund mann quist rup sen stedt ström",
)


def word_list(seed: int) -> list[str]:
    """The words, most frequent first, all different."""
    source = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < WORDS:
        words[_word(source, len(words))] = None
    return list(words)


def number_list(seed: int) -> list[str]:
    """Numbers, dates, times and amounts, all different."""
    source = random.Random(seed)
    numbers: dict[str, None] = {}
    while len(numbers) < NUMBERS:
        numbers[_number(source)] = None
    return list(numbers)


class Names:
    """Names that are different for every (number, ending).

    Attributes:
      heads: the first two syllables of a name, by its number's high digits.
      tails: the last two and the ending, by its number's low digits.
    """

    def __init__(self, ending: int) -> None:
        pairs = [first + second for first in _NAME_SYLLABLES for second in _NAME_SYLLABLES]
        self.heads = [pair.capitalize().encode() for pair in pairs]
        self.tails = [(pair + _NAME_ENDINGS[ending]).encode() for pair in pairs]


def _word(source: random.Random, rank: int) -> str:
    """A new word for a rank; it may be one that is there already."""
    if rank < 60:
        return _function_word(source)
    if rank < 1_500:
        word = _stem(source, 1) + source.choice(("", "", "e", "en", "t", "er", "es"))
        return word.capitalize() if source.random() < 0.3 else word
    if source.random() < 0.012:
        return "".join(source.choice("ABCDEFGHKLMNOPRSTUVWZ") for _ in range(source.randint(2, 4)))
    if source.random() < 0.008:
        return "-".join(_stem(source, source.randint(1, 2)).capitalize() for _ in range(2))
    if source.random() < 0.003:
        return f"{source.randint(2, 99)}-{_stem(source, 2)}{source.choice(_ENDINGS)}"
    syllables = (1, 1, 2) if rank < 6_000 else (1, 2, 2, 2, 3, 4)
    word = _stem(source, source.choice(syllables)) + source.choice(_ENDINGS)
    return word.capitalize() if source.random() < 0.5 else word


def _function_word(source: random.Random) -> str:
    vowel = source.choice("aeiou")
    return source.choice(
        (
            source.choice("dwszmn") + vowel + source.choice("rsnmt"),
            source.choice("dwsznv") + source.choice(("ie", "ei", "o", "u")),
            vowel + source.choice(("n", "s", "m", "uf", "ch", "nd", "b", "us", "ls", "st")),
            source.choice("dwesmn") + "e" + source.choice(("r", "n", "s", "m")),
            "f" + source.choice("üouae") + "r",
        )
    )


def _stem(source: random.Random, syllables: int) -> str:
    stem = ""
    for _ in range(syllables):
        stem += source.choice(_ONSETS) + source.choice(_VOWELS)
        if source.random() < 0.6:
            stem += source.choice(_CODAS)
    return stem


def _number(source: random.Random) -> str:
    whole, part = source.randint(1, 999), source.randint(0, 99)
    day, month, year = source.randint(1, 28), source.randint(1, 12), source.randint(1900, 2030)
    return source.choice(
        (
            str(year),
            str(whole),
            f"{whole % 32}.",
            f"{whole},{part % 10}",
            f"{whole}.{part:02}",
            f"{whole}.{source.randint(0, 999):03}",
            f"{whole % 90},{source.randint(0, 999):03}.{part:02}",
            f"{whole % 100}%",
            f"${whole}.{part % 10}",
            f"{day:02}.{month:02}.{year}",
            f"{year}-{month:02}-{day:02}",
            f"{day % 24}:{part % 60:02}",
            f"{whole}-{whole + part}",
        )
    )
