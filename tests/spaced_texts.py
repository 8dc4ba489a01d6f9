"""The texts of `golden/spaced_tokens.json`, with the tokens of sacreBLEU's zh and intl."""

from __future__ import annotations

import functools
import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence

import recorded
from hostile_texts import CODE_POINTS
from sacrebleu.metrics.bleu import _get_tokenizer

PATH = recorded.GOLDEN / "spaced_tokens.json"
RECORD = recorded.read(PATH)
# The planes that have code points of a class, and some of the others.
MOST_CLASSES = CODE_POINTS[: 0x20000 - 0x800] + CODE_POINTS[0x20000 - 0x800 :: 997]
# One or two of each class: ASCII and not ASCII, with one byte and with several.
ALPHABETS = {"intl": ["a5.$ -", "é٣。™\u3000,"], "zh": ["a5.中 -", "é5,＄\u2003-"]}
EVERY_CONTEXT = "{0} a{0}b 5{0}6 .{0}. {0}.5 5.{0} {0}-{0}5 5{0}{0} {0}{0}5 5-{0}5 .{0}5"


def _short_texts(alphabet: str) -> list[str]:
    return [
        "".join(text) for length in range(7) for text in itertools.product(alphabet, repeat=length)
    ]


def _in_the_middle(form: str, points: Sequence[str]) -> list[str]:
    return [
        " x ".join(form.format(point) for point in points[start : start + 16])
        for start in range(0, len(points), 16)
    ]


def _at_an_end(form: str) -> list[str]:
    return [form.format(point) for point in MOST_CLASSES]


def _runs_of_points() -> list[str]:
    around = ["", " ", "5", "a", "$", "中", "٣", "。", "5 ", " \u3000", "x" * 61, "5" * 62]
    return [
        before + (points * length)[:length] + after
        for points in (".", ",.", "。", ".…,", "-", "..-")
        for length in (*range(1, 10), *range(60, 69), 127, 128)
        for before, after in itertools.product(around, repeat=2)
    ]


def _long_lines(tokenize: str) -> list[str]:
    rng = random.Random(3)
    pieces = [*"".join(ALPHABETS[tokenize]), "abc ", "1999", "U.S.", "x" * 40, "é" * 30, "中文" * 9]
    return ["".join(rng.choices(pieces, k=rng.randrange(80))) for _ in range(4_000)]


def _spaced() -> Iterator[tuple[str, str, Callable[[], list[str]]]]:
    for tokenize, alphabets in ALPHABETS.items():
        for alphabet in alphabets:
            yield f"short texts of {alphabet}", tokenize, functools.partial(_short_texts, alphabet)
        middle = functools.partial(_in_the_middle, EVERY_CONTEXT, MOST_CLASSES)
        yield "code points in every context", tokenize, middle
        for form in ("{0}", "{0}.5", "5{0}"):
            yield f"code points as {form}", tokenize, functools.partial(_at_an_end, form)
        yield "runs of points", tokenize, _runs_of_points
        yield "long lines", tokenize, functools.partial(_long_lines, tokenize)
    # There is another test for the characters that zh takes for Chinese.
    every_point = functools.partial(_in_the_middle, "{0}.{0}5", CODE_POINTS)
    yield "every code point", "intl", every_point


SPACED = {f"{tokenize}: {title}": (tokenize, texts) for title, tokenize, texts in _spaced()}
"""For each title: the tokenizer, and the function that makes the texts."""


def sacrebleu_tokens(texts: Sequence[str], tokenize: str) -> list[list[str]]:
    """The tokens that sacreBLEU makes of each text."""
    tokenizer = _get_tokenizer(tokenize)()
    uncached = type(tokenizer).__call__.__wrapped__
    return [uncached(tokenizer, text.rstrip()).split() for text in texts]


def in_blocks(tokens: Sequence[Sequence[str]]) -> list[bytes]:
    """The tokens of each block of texts."""
    return [json.dumps(tokens[block]).encode() for block in recorded.blocks(len(tokens))]
