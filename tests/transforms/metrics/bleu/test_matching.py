"""The matches of every order equal those that a brute force or sacreBLEU counts, at all limits."""

from __future__ import annotations

import random

import brute_force
import numpy as np
import pyarrow as pa
import pytest
from hostile_texts import Segment
from sacrebleu_counts import SACREBLEUS, assert_equal_to_sacrebleu, counted
from scoring import counted as columns_by_name

from beam_bleu.transforms.metrics.bleu import kernel
from beam_bleu.transforms.metrics.bleu.metric import LARGEST_NGRAM_ORDER, BleuConfig
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.text import numbered_texts, tokenization
from beam_bleu.transforms.text import tokens as kernel_tokens

LENGTHS = [0, 1, 2, 5, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129]
"""Tokens of a text. References of up to 32, up to 64 and more tokens are counted differently."""

ALPHABETS = [
    ["a"],
    ["a", "b"],
    ["a", "b", "c", "d", "e"],
    [f"w{number}" for number in range(50)],
    # Tokens at the limits of the words that hold a token, with the same begin or the same end.
    [letter * size for letter in "xy" for size in (7, 8, 9, 14, 15, 16, 17, 40)],
    ["commonbegin" + each + "commonend" for each in "abc"],
    ["a", "a\0", "a\0\0", "\0", "b" * 15, "b" * 15 + "\0", "b" * 15 + "\1"],
]

Tokens = list[str]
Case = tuple[list[Tokens], list[Tokens | None]]
"""The candidates of all systems, and the references."""


def text_of(rng: random.Random, alphabet: Tokens) -> Tokens:
    return rng.choices(alphabet, k=rng.choice(LENGTHS))


def candidate_for(
    rng: random.Random, references: list[Tokens | None], alphabet: Tokens, size: int | None = None
) -> Tokens:
    """Pieces of the references, in any order, between other tokens."""
    wanted = rng.choice(LENGTHS) if size is None else size
    candidate: Tokens = []
    while len(candidate) < wanted:
        source = rng.choice(references) or alphabet
        begin = rng.randrange(len(source))
        candidate += source[begin : begin + rng.randrange(1, 25)]
        candidate += rng.choices([*alphabet, "other"], k=rng.randrange(2))
    return candidate[:wanted]


def cases_of(seed: int, systems: int, reference_count: int, count: int) -> list[Case]:
    rng = random.Random(seed)
    cases: list[Case] = []
    for _ in range(count):
        alphabet = rng.choice(ALPHABETS)
        references: list[Tokens | None] = [
            None if rng.random() < 0.2 else text_of(rng, alphabet) for _ in range(reference_count)
        ]
        if all(reference is None for reference in references):
            references[-1] = text_of(rng, alphabet)
        candidates = [candidate_for(rng, references, alphabet) for _ in range(systems)]
        cases.append((candidates, references))
    return cases


def check(cases: list[Case], max_order: int) -> None:
    """Counts the cases in one batch and compares the matches and lengths."""
    candidates, references = (
        tuple(
            pa.array(
                [None if text is None else " ".join(text) for text in texts], pa.large_string()
            )
            for texts in zip(*side, strict=True)
        )
        for side in zip(*cases, strict=True)
    )
    names = tuple(f"system{number}" for number in range(len(candidates)))
    batch = SegmentBatch(candidates=candidates, references=references, systems=names)
    found = columns_by_name(
        count_batch(batch, BleuConfig("none").text, BleuConfig(max_ngram_order=max_order))
    )
    for row, (texts, given) in enumerate(cases):
        present = [reference for reference in given if reference is not None]
        for system, candidate in enumerate(texts):
            expected = [
                brute_force.clipped_matches(candidate, present, n) for n in range(1, max_order + 1)
            ]
            assert found.matches[system, row].tolist() == expected, (candidate, present)
            totals = [max(len(candidate) - n, 0) for n in range(max_order)]
            assert found.totals[system, row].tolist() == totals
            assert found.candidate_length[system, row] == len(candidate)


@pytest.mark.parametrize("max_order", range(1, LARGEST_NGRAM_ORDER + 1))
def test_every_order(max_order: int) -> None:
    check(cases_of(max_order, systems=1, reference_count=1, count=40), max_order)
    check(cases_of(max_order, systems=2, reference_count=3, count=20), max_order)


@pytest.mark.parametrize(
    ("systems", "reference_count", "max_order"),
    [(1, 1, 4), (1, 2, 4), (2, 1, 6), (2, 5, 4), (16, 2, 6), (16, 1, 4)],
)
def test_systems_and_references(systems: int, reference_count: int, max_order: int) -> None:
    check(cases_of(7, systems, reference_count, count=100 // systems), max_order)


def test_one_token_repeated() -> None:
    cases: list[Case] = [([["a"] * other], [["a"] * size]) for size in LENGTHS for other in LENGTHS]
    check(cases, LARGEST_NGRAM_ORDER)


@pytest.mark.parametrize("size", [600, 1200])
@pytest.mark.parametrize("letters", [1, 2, 7, 13, 31, 600])
def test_long_texts(letters: int, size: int) -> None:
    """How many orders are counted without hashing depends on the number of different tokens."""
    rng = random.Random(size + letters)
    alphabet = [f"w{number}" for number in range(letters)]
    cases: list[Case] = []
    for systems in (1, 1, 2):
        references: list[Tokens | None] = [rng.choices(alphabet, k=size)]
        candidates = [candidate_for(rng, references, alphabet, size) for _ in range(systems)]
        check([(candidates, references)], 6)
        cases.append(([candidates[0]], [*references, None, rng.choices(alphabet, k=size)]))
    check(cases, 4)


def test_many_different_tokens_after_a_repeated_one() -> None:
    """The table of tokens grows more than once, and by different steps."""
    words = [f"w{number}" for number in range(6000)]
    for reference in (words, ["a"] * 5000 + words, words + ["a"] * 5000, words[:300] * 2 + words):
        check([([reference[::2] + reference[:2000]], [reference])], 4)


def tokens_with_equal_keys() -> tuple[Tokens, Tokens]:
    """Two lists of tokens. Each token has the same 32 bits of its key as one in the other list.

    A program can find them only with the secret of this process.
    """
    rng = np.random.default_rng(7)
    letters = rng.integers(ord("a"), ord("z") + 1, (300_000, 9), np.uint8)
    letters[:, 8] = ord(" ")
    text = np.concatenate([letters.ravel(), np.zeros(128, np.uint8)])
    begin = text.ctypes.data
    tokens = np.zeros((len(letters) + tokenization.SPARE_TOKENS, 3), np.uint64)
    tokenization.tokenize(
        begin, begin + letters.size, 0, tokens.ctypes.data, tokenization.ANY, 0, numbered_texts.SEED
    )
    keys = tokens[: len(letters), 0] & np.uint64(0xFFFFFFFF)
    order = np.argsort(keys, kind="stable")
    equal = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    ones, others = (
        [letters[row, :8].tobytes().decode() for row in order[equal + shift]] for shift in (0, 1)
    )
    pairs = [(one, other) for one, other in zip(ones, others, strict=True) if one != other]
    return [one for one, _ in pairs], [other for _, other in pairs]


def test_different_tokens_with_the_same_key() -> None:
    ones, others = tokens_with_equal_keys()
    assert ones
    one, other = ones[:1], others[:1]
    cases: list[Case] = []
    for between in ([], ["x"], ["x"] * 40):
        text, changed = one + between + one, other + between + other
        both = one + between + other + between
        for candidate in (text, changed, both):
            cases += [([candidate], [reference]) for reference in (text, changed, both)]
            cases += [([candidate], [["x", "y"]]), ([["x", "y"]], [both + candidate])]
    check(cases, 4)
    check([(candidates, references * 2) for candidates, references in cases], 4)


SYMBOLS = "!&*.,-;:"
PIECES = [
    *("a", "9", "xy", "-", ".", "..", "...", ",", " ", "  ", "!?", "(&)", "\u3000", "é", "中"),
    *("&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&", "a" * 15, "b" * 16, "c" * 70),
]


def changed(rng: random.Random, text: str) -> str:
    """The text with some pieces replaced."""
    for _ in range(1 + len(text) // 40):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(PIECES) + text[at + rng.randrange(3) :]
    return text


def mixed(rng: random.Random, size: int) -> str:
    """Runs of symbols and letters, each of which is a token, between other texts."""
    text = ""
    while len(text) < size:
        run = rng.randrange(150)
        text += rng.choice(
            [
                "".join(rng.choices(SYMBOLS, k=run)),
                "".join(rng.choices("!;", k=run)),
                " ".join(rng.choices("abc", k=run)),
                "....1" * (run // 5),
                "".join(rng.choices(PIECES, k=run // 10)),
            ]
        )
    return text


@pytest.mark.parametrize("tokenize", ["13a", "none", "char", "intl", "zh"])
def test_texts_with_many_single_bytes(tokenize: str) -> None:
    rng = random.Random(tokenize)
    segments: list[Segment] = []
    for size in (600, 1100, 1500, 3000) * 2:
        reference = mixed(rng, size)
        segments.append((changed(rng, reference), [reference]))
        segments.append((mixed(rng, size), [reference, changed(rng, reference), mixed(rng, 300)]))
    assert_equal_to_sacrebleu(segments, BleuConfig(tokenize))


@pytest.mark.parametrize("word", ["a", "w" * 40])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_most_bytes_of_which_tokens_are_written(word: str, more: int) -> None:
    segments: list[Segment] = []
    for size in (kernel._LONGEST_WRITTEN, kernel.MOST_WRITTEN):
        text = (f"{word} other " * size)[: size + more - 1] + "z"
        half = text[: (size + more) // 2]
        segments += [
            (text, ["a word"]),
            ("a word other", [text]),
            (half, [text[len(half) :]]),
            (half, ["word", text[len(half) : -5], "other word"]),
        ]
    assert_equal_to_sacrebleu(segments, BleuConfig("13a"))


@pytest.mark.parametrize("more", [-1, 0, 1, 64])
def test_the_most_tokens_that_are_written(more: int) -> None:
    rng = random.Random(more)
    segments: list[Segment] = []
    for count in (64, tokenization.TOKENS_AT_ONCE, 2 * tokenization.TOKENS_AT_ONCE):
        for token, between in (("!", ""), ("ab", " "), ("!a", " ")):
            text = between.join(rng.choices([token, token[0], ";"], k=count + more))
            segments += [(text[3:], [text]), (text, [text[:-3], text[7:]])]
    assert_equal_to_sacrebleu(segments, BleuConfig("13a"))


def test_the_index_of_different_tokens_grows() -> None:
    for different in (127, 128, 129, 130, 255, 256, 257, 511, 513, 2049, 5000):
        words = [f"w{number}" for number in range(different)]
        reference = [*words, *random.Random(different).choices(words, k=500)]
        candidate = [*reference[::-1], *words[1:], "other", *reference[5:]]
        ours = counted([(" ".join(candidate), [" ".join(reference)])], BleuConfig("none"))[0]
        expected = [brute_force.clipped_matches(candidate, [reference], n) for n in range(1, 5)]
        assert ours[2:6].tolist() == expected


WITH_LONG_TOKENS = [tokenize for tokenize in SACREBLEUS if tokenize != "char"]


TOKEN_LENGTHS = [1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 63, 64, 65, 127, 128, 129]


@pytest.mark.parametrize("tokenize", ["13a", "none", "intl", "zh"])
def test_tokens_that_differ_in_one_byte_are_different(tokenize):
    # intl and zh only put spaces into the text. Then it is split in the same way as by "none".
    for length in TOKEN_LENGTHS if tokenize in ("13a", "none") else (9, 65):
        token = ("abcdefghijk" * 12)[:length]
        others = [token[:i] + "x" + token[i + 1 :] for i in range(length)]
        others += [token + "a", token + "\0"]
        segments = [(f"{token} {token}", [f"{other} {other}"]) for other in others]
        segments.append((" ".join([token, *others]), [" ".join([*others, token])]))
        ours = assert_equal_to_sacrebleu(segments, BleuConfig(tokenize))
        assert ours[:-1, 2].sum() == 0  # no unigram matches
        assert ours[-1, 2] == length + 3  # every unigram matches


def colliding_tokens(rng, pairs):
    """Pairs of different 32-byte tokens with the same key, first word and last word.

    A program can find them only with the secret of this process.

    The key of the words is fold(fold(fold(w0, w1), w2), w3), and fold(k, w) = g(k) ^ w. So a
    suitable change of w2 undoes the effect of a change of w1.
    """
    token_bytes = [byte for byte in range(1, 128) if chr(byte).isalpha() or byte < 9]
    with_difference = {a ^ b: (a, b) for a in token_bytes for b in token_bytes}

    def word():
        return bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=8))

    def folded(key, text=bytes(8)):
        word = np.uint64(int.from_bytes(text, "little"))
        return int(kernel_tokens._fold(np.uint64(key), word, numbered_texts.SEED))

    while pairs:
        first, last, one, other = (word() for _ in range(4))
        start = int.from_bytes(first, "little")
        needed = folded(folded(start, one)) ^ folded(folded(start, other))
        differences = needed.to_bytes(8, "little")
        if all(difference in with_difference for difference in differences):
            left, right = zip(*(with_difference[each] for each in differences), strict=True)
            yield first + one + bytes(left) + last, first + other + bytes(right) + last
            pairs -= 1


def key(token):
    text = np.frombuffer(token + bytes(72), np.uint8)
    return kernel_tokens._long_key(text.ctypes.data, len(token), numbered_texts.SEED)


@pytest.mark.parametrize("tokenize", WITH_LONG_TOKENS)
def test_tokens_with_the_same_hash_are_different(tokenize):
    tokens = list(colliding_tokens(random.Random(5), pairs=8))
    assert all(key(one) == key(other) and one != other for one, other in tokens)
    ones, others = ([token.decode() for token in side] for side in zip(*tokens, strict=True))
    segments = [
        (" ".join(ones), [" ".join(others)]),
        (" ".join(ones), [" ".join(others), " ".join(reversed(ones))]),
        (" ".join(ones + others), [" ".join(others + ones)]),
    ]
    ours = assert_equal_to_sacrebleu(segments, BleuConfig(tokenize))
    assert ours[:, 2].tolist() == [0, 8, 16]
