"""Random corpora of hostile text, random definitions of BLEU, and the right results of both."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

from command_line import assert_equals_sacrebleu
from hostile_texts import FRAGMENTS
from hostile_texts import WORDS as PLAIN_WORDS
from sacrebleu.metrics import BLEU

WORDS = [word for word in PLAIN_WORDS if word.isascii()]
PIECES = [piece for piece in FRAGMENTS if "\n" not in piece and "\0" not in piece]


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Line-parallel texts: each system's lines, each reference's lines."""

    systems: list[list[str]]
    references: list[list[str]]

    @property
    def texts(self) -> list[list[str]]:
        return [*self.systems, *self.references]

    @property
    def segments(self) -> int:
        return len(self.references[0])

    @property
    def longest_line(self) -> int:
        """Bytes of the longest line."""
        return max(len(line.encode()) for text in self.texts for line in text)


def make_corpus(chooser: random.Random, segments: int | None = None, plain: bool = False) -> Corpus:
    """Texts whose candidates have much in common with their references; if plain, ASCII words."""
    if segments is None:
        segments = chooser.choice([1, 2, 3, 7, 20, 20, 60, 60, 60, 150, 400])
        if chooser.random() < 0.02:
            segments = 5000  # more than a batch
    systems = chooser.choice([1, 1, 2, 3])
    reference_count = chooser.randint(1, 3)
    hostility = 0.0 if plain else chooser.choice([0.05, 0.3, 0.8])
    longest = chooser.choice([6, 14, 30])
    texts: list[list[str]] = [[] for _ in range(systems + reference_count)]
    for _ in range(segments):
        words = chooser.choices(WORDS, k=chooser.randint(1 if plain else 0, longest))
        for text in texts:
            text.append(_varied(chooser, words, hostility))
    if not plain:
        for text in texts:
            _set_special_lines(chooser, text)
    return Corpus(texts[:systems], texts[systems:])


def _varied(chooser: random.Random, words: list[str], hostility: float) -> str:
    """The words with some changed, and hostile pieces between and within them."""
    line = []
    for word in words:
        if chooser.random() < 0.2:
            word = chooser.choice(WORDS)
        if chooser.random() < hostility:
            piece = chooser.choice(PIECES)
            word = chooser.choice([piece, word + piece, piece + word])
        line.append(word + ("" if chooser.random() < hostility / 4 else " "))
    return "".join(line).strip(" ") if chooser.random() < 0.9 else "".join(line)


def _set_special_lines(chooser: random.Random, text: list[str]) -> None:
    def somewhere() -> int:
        return chooser.randrange(len(text))

    if chooser.random() < 0.1:  # CRLF, in this stream alone or by chance in all
        text[:] = [line + "\r" for line in text]
    if chooser.random() < 0.3:
        text[0] = "\ufeff" + text[0]
    if chooser.random() < 0.1:
        text[somewhere()] = (chooser.choice(WORDS) + chooser.choice(PIECES)) * 4000
    if chooser.random() < 0.15:  # one NUL among many other bytes is allowed
        text[somewhere()] = "of a mat " * 20 + "\0" + " sat on it" * 10
    for _ in range(chooser.choice([0, 0, 1, 3])):
        text[somewhere()] = ""


def make_definition(chooser: random.Random) -> dict[str, Any]:
    """Random choices, by the names of sacreBLEU's arguments, which are those of the flags."""
    method, value = chooser.choice(
        [
            *[("exp", None)] * 4,
            *[("floor", None), ("floor", 0.01), ("add-k", None), ("add-k", 2), ("none", None)],
        ]
    )
    return {
        "tokenize": chooser.choice(["13a", "13a", "intl", "zh", "char", "none"]),
        "max_ngram_order": chooser.choice([4, 4, 4, 1, 2, 3, 5, 9, 16]),
        "smooth_method": method,
        "smooth_value": value,
        "lowercase": chooser.random() < 0.3,
        "effective_order": chooser.random() < 0.3,
    }


def flags_of(choices: dict[str, Any]) -> list[str]:
    return [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in choices.items()
        if value not in (False, None)
    ]


def assert_right(document: dict[str, Any], corpus: Corpus, choices: dict[str, Any]) -> None:
    """Checks a result document by sacreBLEU."""
    systems = [f"s{number}" for number in range(len(corpus.systems))]
    assert [each["system"] for each in document["scores"]] == systems
    assert_equals_sacrebleu(document, corpus.systems, corpus.references, **choices)
    size = sum(len(line.encode()) for text in corpus.texts for line in text)
    bleu = BLEU(tokenize=choices["tokenize"], lowercase=choices["lowercase"], force=True)
    lines = (line for candidate in corpus.systems for line in candidate)
    empty = sum(not bleu._preprocess_segment(line).split() for line in lines)
    counters = document["counters"]
    assert (counters["bytes"], counters["empty_candidates"]) == (size, empty)
