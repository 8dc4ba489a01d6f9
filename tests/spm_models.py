"""Models of SentencePiece that tests train for themselves."""

from __future__ import annotations

import functools
import io
import random
from collections.abc import Iterator

import sentencepiece

LETTERS = (
    "etaoinshrdlucmfwyp" * 3
    + "éüßñçåø"
    + "東京日本語あいうアイ"
    + "한국어"
    + "абвгд"
    + ".,!?-'0123456789"
)


def sentences(seed: int, count: int) -> Iterator[str]:
    """Made-up sentences of a few hundred made-up words."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(LETTERS, k=rng.randrange(1, 9))) for _ in range(400)]
    for _ in range(count):
        yield " ".join(rng.choices(words, k=rng.randrange(1, 25)))


@functools.cache
def model(kind: str = "unigram", byte_fallback: bool = False, seed: int = 1) -> bytes:
    """The file of a model."""
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=sentences(seed, 400),
        model_writer=file,
        model_type=kind,
        vocab_size=500,
        hard_vocab_limit=False,
        byte_fallback=byte_fallback,
        user_defined_symbols=["<user>", "two words"],
        num_threads=1,
        minloglevel=2,
    )
    return file.getvalue()


def padded_model(size: int) -> bytes:
    """A model with random bytes after it, in a field that SentencePiece does not know."""
    noise, header = random.Random(3), b"\xfa\x7c\x7f"  # field 1999 has 127 bytes
    return model() + b"".join(header + noise.randbytes(127) for _ in range(size // 127 + 1))
