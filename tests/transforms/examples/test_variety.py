"""distinct-n and self-BLEU against brute force and sacreBLEU, in any order and division."""

from __future__ import annotations

import functools
import operator
import random
from collections.abc import Sequence

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from beam_bleu.transforms.examples import variety
from beam_bleu.transforms.examples.sampling import sample_ranks
from beam_bleu.transforms.examples.variety import ORDERS, Variety, varieties
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.native.text_columns import padded_texts
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.text.text import Text

CONFIG = BleuConfig().for_segments()


def outputs(seed: int, count: int, words: int = 40) -> list[str]:
    rng = random.Random(seed)
    pieces = [f"w{word}" for word in range(words)] + ["3.5", "it's", "&amp;", "東京", "x" * 40]
    return [" ".join(rng.choices(pieces, k=rng.randrange(12))) for _ in range(count)]


def found(texts: Sequence[str], rows: Sequence[int]) -> Variety:
    batch = SegmentBatch(
        (padded_texts([texts[row] for row in rows]),),
        (padded_texts([""] * len(rows)),),
        np.array(rows),
        systems=("a",),
    )
    return varieties(batch, Text())["a"]


def test_they_are_those_of_brute_force_for_any_split_and_order(monkeypatch):
    monkeypatch.setattr(variety, "SAMPLE", 40)
    texts = outputs(1, 300)
    measures = found(texts, range(300)).measures(CONFIG)
    tokens = [BLEU().tokenizer(text).split() for text in texts]
    for order in range(1, ORDERS + 1):
        grams = [
            tuple(own[at : at + order]) for own in tokens for at in range(len(own) - order + 1)
        ]
        assert measures["ngrams"][order - 1] == len(grams)
        assert measures["different"][order - 1] == len({*grams})
        assert measures["distinct"][order - 1] == len({*grams}) / len(grams)
        assert measures["relative_errors"][order - 1] == 0
    sample = [texts[row] for row in np.argsort(sample_ranks(np.arange(300)))[:40]]
    bleu = BLEU(effective_order=True)
    scores = [
        bleu.sentence_score(text, [*sample[:place], *sample[place + 1 :]]).score
        for place, text in enumerate(sample)
    ]
    assert measures["sample"] == 40
    assert measures["self_bleu"] == pytest.approx(sum(scores) / 40, abs=1e-9)
    monkeypatch.setattr(variety, "_MOST_BYTES", 2000)  # several references at a time
    rows, draw = list(range(300)), random.Random(2)
    draw.shuffle(rows)
    ends = sorted(draw.sample(range(1, 300), 5))
    bounds = zip([0, *ends], [*ends, 300], strict=True)
    total = functools.reduce(operator.add, (found(texts, rows[start:end]) for start, end in bounds))
    assert total.measures(CONFIG) == measures


def test_many_ngrams_are_estimated(monkeypatch):
    kept, errors = 256, []
    monkeypatch.setattr(variety, "KEPT", kept)
    monkeypatch.setattr(variety, "SAMPLE", 2)  # for self-BLEU, which takes longest
    for seed in range(30):
        texts = [f"{seed} {seed}.{place % 1000} {place % 1000}" for place in range(2000)]
        measures = found(texts, range(2000)).measures(CONFIG)
        errors.append(measures["different"][1] / 2000 - 1)
        assert measures["relative_errors"][1] == (kept - 2) ** -0.5
    # Without bias, and as wide as they say.
    assert abs(np.mean(errors)) < 3 * (kept - 2) ** -0.5 / 30**0.5
    assert 0.6 < np.std(errors) * (kept - 2) ** 0.5 < 1.5


def test_of_nothing_nothing_is_known():
    measures = found(["", "a"], [0]).measures(CONFIG)
    assert measures["distinct"] == [None] * ORDERS
    assert measures["self_bleu"] is None
    assert found(["a", "a"], [0, 1]).measures(CONFIG)["self_bleu"] == pytest.approx(100)
