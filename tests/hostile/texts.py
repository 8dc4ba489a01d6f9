"""Random corpora of hostile text, and random definitions of BLEU to score them by."""

from __future__ import annotations

import dataclasses
import itertools
import random
from typing import Any

NEWLINE = "\n"
SPACES = [c for c in map(chr, range(0x110000)) if c.isspace() and c != NEWLINE]
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "a",
    "The",
    "of",
    "to",
    "12",
    "end.",
    "It's",
    "well-known",
]
PIECES = [
    *SPACES,
    # Entities, whole and not; what 13a takes out.
    *("&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;amp;", "&", "&am", "&lt", "&apos;"),
    *("<skipped>", "<skip<skipped>ped>", "skipped>", "-", "--", "-\r"),
    # Points and commas round digits.
    *(
        "1.5",
        "1,000.25",
        ".5",
        "5.",
        "1..2",
        "1,.2",
        "...",
        ".,.",
        "a.1",
        "1-2",
        "3.-",
        "٣.٣",
        "½-½",
    ),
    # Controls, marks, and what other programs take for the end of a line.
    *(
        "\r",
        "\r\r",
        "\x0b",
        "\x0c",
        "\x1c",
        "\x1d",
        "\x1e",
        "\x1f",
        "\x7f",
        "\x85",
        "\u2028",
        "\u2029",
    ),
    *("\ufeff", "\u200b", "\u202e", "\ufffd", "\u180e", "\x01", "\x1b[2J", "\U0010ffff"),
    # Case, accents, length.
    *(
        "İ",
        "I\u0307",
        "ß",
        "ẞ",
        "Σ",
        "ΑΣ",
        "ﬁ",
        "ǅ",
        "ô\u0323",
        "e\u0301",
        "naïve",
        "Łódź",
        "𐐀𐐨",
        "😀",
    ),
    # Punctuation and scripts for intl, zh and char.
    *(
        "“quoted”",
        "–",
        "…",
        "。",
        "、",
        "؟",
        "！？",
        "€5",
        "£",
        "∑",
        "中文",
        "中.文",
        "5中5",
        "日本語",
        "한국",
    ),
    *("𠀀", "龼", "䶶", "⩮", "x" * 70, "ab" * 40, "5" * 66, "." * 61, "é" * 33),
]


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Line-parallel texts.

    Attributes:
      systems: each system's lines.
      references: each reference's lines.
    """

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
        return max(len(line.encode()) for line in itertools.chain(*self.texts))


@dataclasses.dataclass(frozen=True)
class Choices:
    """A definition of BLEU that sacreBLEU has, or, but for `reference_length`, would have."""

    tokenize: str = "13a"
    lowercase: bool = False
    max_ngram_order: int = 4
    smooth_method: str = "exp"
    smooth_value: float | None = None
    effective_order: bool = False
    reference_length: str = "closest"

    @property
    def flags(self) -> list[str]:
        """The flags of the command; what is as by default may be left out."""
        flags = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is True:
                flags.append(f"--{field.name}")
            elif value != field.default:
                flags.append(f"--{field.name}={value}")
        return flags

    @property
    def sacrebleus(self) -> dict[str, Any]:
        """The arguments of sacreBLEU's BLEU."""
        arguments = dataclasses.asdict(self)
        del arguments["reference_length"]
        return arguments


def make_choices(chooser: random.Random) -> Choices:
    method = chooser.choice(["exp", "exp", "floor", "add-k", "none"])
    values: dict[str, list[float | None]] = {
        "floor": [None, 0.01, 0.5],
        "add-k": [None, 1, 2, 0.5],
    }
    return Choices(
        tokenize=chooser.choice(["13a", "13a", "intl", "zh", "char", "none"]),
        lowercase=chooser.random() < 0.3,
        max_ngram_order=chooser.choice([4, 4, 4, 1, 2, 3, 5, 9, 16]),
        smooth_method=method,
        smooth_value=chooser.choice(values.get(method, [None])),
        effective_order=chooser.random() < 0.2,
        reference_length=chooser.choice(
            ["closest"] * 8 + ["closest_first", "shortest", "longest", "average"]
        ),
    )


def make_corpus(
    chooser: random.Random, segments: int | None = None, plain: bool = False, streams: int = 6
) -> Corpus:
    """Makes texts whose candidates have much in common with their references.

    Args:
      chooser: makes the choices.
      segments: how many; if None, any number from 1 up.
      plain: whether the text is of ASCII words alone, with a word in every line.
      streams: the most streams.
    """
    if segments is None:
        segments = chooser.choice([1, 2, 3, 7, 20, 20, 60, 60, 60, 150, 400])
        if chooser.random() < 0.02:
            segments = 5000  # more than a batch
    systems = chooser.choice([1, 1, 2, 3])
    references = chooser.randint(1, min(3, streams - systems))
    hostility = 0.0 if plain else chooser.choice([0.05, 0.3, 0.8])
    longest = chooser.choice([6, 14, 30])
    texts: list[list[str]] = [[] for _ in range(systems + references)]
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
