"""Each tokenizer has an oracle, and each smoothing method is as its row says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import sacrebleu
import spm_models
from scoring import sacrebleu_signature_of, score_of, sums_of
from tokenizer_oracles import TOKENIZERS_BEYOND_SACREBLEU

from beam_bleu.transforms.metrics.bleu.formula import SMOOTH_METHODS
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import Segment
from beam_bleu.transforms.text.text import SentencePieceModel
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

SEGMENTS: list[Segment] = [
    ("The cat's on 1,000 mats, isn't it?", ["The cat is on 1,000 mats, is it?", "A cat"]),
    ("東京都に住んでいる 학생은 a b", ["東京都に住んでいる学生は a b c"]),
    ("a\u001cb c\u00a0d", ["a b c d e f g h i j k l m n o p"]),
    ("x y", ["y x z"]),
]


def of_tokenizer(name: str) -> BleuConfig:
    model = SentencePieceModel.of(spm_models.model()) if TOKENIZERS[name].needs_model else None
    return BleuConfig(name, spm_model=model)  # type: ignore[arg-type]


def retokenized(cut: Callable[[str], list[str]]) -> list[Segment]:
    """The segments with single spaces between their tokens."""

    def joined(text: str) -> str:
        # `cut` may leave white space in a token, where "none" would split.
        return " ".join(re.sub(r"\s", "_", token) for token in cut(text))

    return [(joined(one), [joined(each or "") for each in others]) for one, others in SEGMENTS]


def sacrebleus(segments: list[Segment], **choices: Any) -> sacrebleu.BLEU:
    """(metric, score) of sacreBLEU."""
    most = max(len(references) for _, references in segments)
    streams = [
        [references[i] if i < len(references) else None for _, references in segments]
        for i in range(most)
    ]
    metric = sacrebleu.BLEU(**choices)
    return metric, metric.corpus_score([candidate for candidate, _ in segments], streams)


IN_EXTRA_TEST = (None, "spm")
"""The extras whose libraries the extra `test` brings, too."""

EACH_TOKENIZER = [
    pytest.param(name, marks=() if row.extra in IN_EXTRA_TEST else pytest.mark.libraries)
    for name, row in TOKENIZERS.items()
]


@pytest.mark.parametrize("name", EACH_TOKENIZER)
def test_a_tokenizer_is_its_oracles(name: str) -> None:
    config, row = of_tokenizer(name), TOKENIZERS[name]
    ours = score_of(SEGMENTS, config)
    if row.sacrebleu is None:
        segments, choices = retokenized(TOKENIZERS_BEYOND_SACREBLEU[name]), {"tokenize": "none"}
    else:
        assert row.sacrebleu in sacrebleu.BLEU.TOKENIZERS
        assert name not in TOKENIZERS_BEYOND_SACREBLEU
        segments, choices = SEGMENTS, {"tokenize": row.sacrebleu}
    metric, theirs = sacrebleus(segments, **choices)
    assert (ours.score, ours.matches, ours.totals) == (
        theirs.score,
        tuple(theirs.counts),
        tuple(theirs.totals),
    )
    sign_of = sacrebleu_signature_of(sums_of(SEGMENTS, config), config)
    assert sign_of == (None if row.sacrebleu is None else str(metric.get_signature()))


@pytest.mark.parametrize("name", SMOOTH_METHODS)
def test_a_smoothing_method_is_as_its_row_says(name: Any) -> None:
    row = SMOOTH_METHODS[name]
    impossible: list[dict[str, Any]] = []
    if row.smallest_order > 1:
        impossible.append({"max_ngram_order": row.smallest_order - 1})
    if row.value is None or row.divides_by_value:
        impossible.append({"smooth_value": 0})
    if not row.takes_effective_order:
        impossible.append({"effective_order": True})
    for choices in impossible:
        with pytest.raises(ValueError, match=f"{name}.* needs a max|smooth_value|effective_order"):
            BleuConfig(smooth_method=name, **choices)
    config = BleuConfig(smooth_method=name, smooth_value=row.value and 2)
    assert config.for_segments().effective_order is row.takes_effective_order
