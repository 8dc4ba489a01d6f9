"""Generates the vocabulary of the benchmarks' corpus: pronounceable words, numbers and names."""

from __future__ import annotations

import random
from collections.abc import Callable

WORDS = 60_000
"""How many different words there are; the most frequent ones are the shortest."""

NUMBERS = 4_000


def _parts(text: str) -> list[str]:
    return text.split()


# More frequent parts are listed more often.
_ONSETS = _parts("b d f g h k l m n p r s t v w z br dr fl gr kl kr pl pr sch sp st str tr zw qu")
_VOWELS = [*"aaaaaaeeeeeeeeeeeeeeiiiiiiiooouuu", *_parts("ei ei ie ie au au eu ä ü")]
_CODAS = _parts(
    "b d g k l m n n n p r r s s t t ch ck ft ll lt ld nd ng nk nn nt rd rt sch ss st ß"
)
_ENDINGS = _parts("e en er es em ung heit lich isch keit te ten chen st t n s")

_NAME_SYLLABLES = [onset + vowel for onset in "bdfghjklmnprstvz" for vowel in "aeiou"][:64]
NAMES = len(_NAME_SYLLABLES) ** 4
"""How many names there are with each ending."""

_NAME_ENDINGS = _parts(
    "ck nd lt rn sk witz ng x ff gg ld mp nn pp rd ss tt berg dorf feld hof lund mann quist rup sen"
)


def word_list(seed: int) -> list[str]:
    """Different words, the most frequent first."""
    return _different(seed, WORDS, _word)


def number_list(seed: int) -> list[str]:
    """Different numbers, dates, times and amounts."""
    return _different(seed, NUMBERS, _number)


def _different(seed: int, count: int, make: Callable[[random.Random, int], str]) -> list[str]:
    source = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < count:
        made[make(source, len(made))] = None
    return list(made)


def name(number: int, ending: int) -> str:
    """A name, different for every (number, ending)."""
    syllables = (_NAME_SYLLABLES[number >> bits & 63] for bits in (18, 12, 6, 0))
    return ("".join(syllables) + _NAME_ENDINGS[ending]).capitalize()


def _word(source: random.Random, rank: int) -> str:
    """A word for a rank, which may not be a new one."""
    if rank < 60:
        parts: list[list[str]] = [[*"dwszmnf", "", ""], [*"aeiou"], [*"nsmrnsrb", "uf", "ch"]]
        return "".join(map(source.choice, parts))
    if rank < 1_500:
        word = _stem(source, 1) + source.choice(("", "", "e", "en", "t", "er", "es"))
        return word.capitalize() if source.random() < 0.3 else word
    if source.random() < 0.012:
        return "".join(source.choices("ABCDEFGHKLMNOPRSTUVWZ", k=source.randint(2, 4)))
    if source.random() < 0.008:
        return "-".join(_stem(source, source.randint(1, 2)).capitalize() for _ in range(2))
    syllables = (1, 1, 2) if rank < 6_000 else (1, 2, 2, 2, 3, 4)
    word = _stem(source, source.choice(syllables)) + source.choice(_ENDINGS)
    return word.capitalize() if source.random() < 0.5 else word


def _stem(source: random.Random, syllables: int) -> str:
    stem = ""
    for _ in range(syllables):
        stem += source.choice(_ONSETS) + source.choice(_VOWELS)
        if source.random() < 0.6:
            stem += source.choice(_CODAS)
    return stem


def _number(source: random.Random, _: int) -> str:
    whole, part, year = source.randint(1, 999), source.randint(0, 99), source.randint(1900, 2030)
    day, month = source.randint(1, 28), source.randint(1, 12)
    forms = [
        *[str(year), str(whole), f"{whole % 32}.", f"{whole},{part % 10}", f"{whole}.{part:02}"],
        *[f"{whole % 90},{whole:03}.{part:02}", f"{whole % 100}%", f"${whole}.{part % 10}"],
        *[f"{day:02}.{month:02}.{year}", f"{day % 24}:{part % 60:02}", f"{whole}-{whole + part}"],
    ]
    return source.choice(forms)
