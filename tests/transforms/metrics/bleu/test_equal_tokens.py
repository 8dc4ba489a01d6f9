"""Tokens are equal only if all their bytes are equal, even if their hashes are the same."""

import random

import numpy as np
import pytest
from sacrebleu_counts import SACREBLEUS, assert_equal_to_sacrebleu

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.text import numbered_texts
from beam_bleu.transforms.text import tokens as kernel_tokens

WITH_LONG_TOKENS = [tokenize for tokenize in SACREBLEUS if tokenize != "char"]


LENGTHS = [1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 63, 64, 65, 127, 128, 129]


@pytest.mark.parametrize("tokenize", ["13a", "none", "intl", "zh"])
def test_tokens_that_differ_in_one_byte_are_different(tokenize):
    # intl and zh only put spaces into the text. Then it is split in the same way as by "none".
    for length in LENGTHS if tokenize in ("13a", "none") else (9, 65):
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
