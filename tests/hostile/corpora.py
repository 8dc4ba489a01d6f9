"""Random corpora of hostile text, random definitions of metrics, and the right results of both."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Sequence
from typing import Any

from hostile_texts import FRAGMENTS
from hostile_texts import WORDS as PLAIN_WORDS
from sacrebleu.metrics import BLEU, CHRF

WORDS = [word for word in PLAIN_WORDS if word.isascii()]
PIECES = [piece for piece in FRAGMENTS if "\n" not in piece and "\0" not in piece]

Texts = Sequence[Sequence[str]]


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
    """Makes texts whose candidates have much in common with their references.

    Args:
      chooser: makes the choices.
      segments: how many; if None, any number from 1 up.
      plain: whether the text is of ASCII words alone, with a word in every line.
    """
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


@dataclasses.dataclass(frozen=True)
class Definition:
    """For each metric, the choices in its definition, by the names of its oracle's arguments."""

    choices: dict[str, dict[str, Any]]

    @property
    def flags(self) -> list[str]:
        flags = []
        for metric, choices in self.choices.items():
            prefix = "" if metric == "bleu" else f"{metric}_"
            for name, value in choices.items():
                if value is True:
                    flags.append(f"--{prefix}{name}")
                elif value not in (False, None):
                    flags.append(f"--{prefix}{name}={value}")
        return ["--metrics", *self.choices, *dict.fromkeys(flags)]


def make_definition(chooser: random.Random) -> Definition:
    metrics = chooser.choice([*[("bleu",)] * 4, ("bleu", "chrf"), ("chrf",)])
    method, value = chooser.choice(
        [
            *[("exp", None)] * 4,
            *[("floor", None), ("floor", 0.01), ("add-k", None), ("add-k", 2), ("none", None)],
        ]
    )

    def some(*names: str) -> dict[str, Any]:
        return {name: chooser.random() < 0.3 for name in names}

    choices: dict[str, dict[str, Any]] = {
        "bleu": {
            "tokenize": chooser.choice(["13a", "13a", "intl", "zh", "char", "none"]),
            "max_ngram_order": chooser.choice([4, 4, 4, 1, 2, 3, 5, 9, 16]),
            "smooth_method": method,
            "smooth_value": value,
            **some("lowercase", "effective_order"),
        },
        "chrf": {
            "char_order": chooser.choice([6, 6, 1, 2, 9, 16]),
            "word_order": chooser.choice([0, 2, 2, 1, 5]),
            "beta": chooser.choice([2, 2, 1, 3, 1000]),
            **some("whitespace", "lowercase", "eps_smoothing"),
        },
    }
    return Definition({metric: choices[metric] for metric in metrics})


# The right results


def differences(document: dict[str, Any], corpus: Corpus, definition: Definition) -> Iterator[str]:
    """The mistakes in a result document; empty if it is right."""
    if document["segments"] != corpus.segments:
        yield f"segments: {document['segments']}, expected {corpus.segments}"
    scored = [(each["metric"], each["system"]) for each in document["scores"]]
    systems = [f"s{number}" for number in range(len(corpus.systems))]
    if scored != [(metric, system) for metric in definition.choices for system in systems]:
        yield f"scores of {scored}"
        return
    counters = {"bytes": sum(len(line.encode()) for text in corpus.texts for line in text)}
    if "bleu" in definition.choices:
        counters["empty_candidates"] = _without_tokens(corpus, definition.choices["bleu"])
    for name, value in counters.items():
        if document["counters"][name] != value:
            yield f"counters: {name}: {document['counters'][name]}, expected {value}"
    for row, (metric, system) in enumerate(scored):
        candidate = corpus.systems[row % len(systems)]
        expected = _ORACLES[metric](candidate, corpus.references, definition.choices[metric])
        for name, value in expected.items():
            if document["scores"][row][name] != value:
                got = document["scores"][row][name]
                yield f"{system}: {metric}: {name}: {got}, expected {value}"


def _without_tokens(corpus: Corpus, choices: dict[str, Any]) -> int:
    bleu = BLEU(tokenize=choices["tokenize"], lowercase=choices["lowercase"], force=True)
    lines = (line for candidate in corpus.systems for line in candidate)
    return sum(not bleu._preprocess_segment(line).split() for line in lines)


def _bleu(candidate: Sequence[str], references: Texts, choices: dict[str, Any]) -> dict[str, Any]:
    # sacreBLEU's add-k changes the counts that it returns; these are the ones before smoothing.
    unsmoothed = {**choices, "smooth_method": "none", "smooth_value": None}
    score = BLEU(**choices, force=True).corpus_score(candidate, references)
    counts = BLEU(**unsmoothed, force=True).corpus_score(candidate, references)
    names = ("score", "precisions", "bp", "ratio", "sys_len", "ref_len")
    found = {name: getattr(score, name) for name in names}
    return {**found, "matches": counts.counts, "totals": counts.totals}


def _chrf(candidate: Sequence[str], references: Texts, choices: dict[str, Any]) -> dict[str, Any]:
    of_segments = CHRF(**choices)._extract_corpus_statistics(candidate, references)
    counts = [sum(each) for each in zip(*of_segments, strict=True)]
    return {
        "score": CHRF(**choices).corpus_score(candidate, references).score,
        **{"hyp_ngrams": counts[0::3], "ref_ngrams": counts[1::3], "matches": counts[2::3]},
    }


_ORACLES = {"bleu": _bleu, "chrf": _chrf}
