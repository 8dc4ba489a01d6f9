"""BLEU, as the other rooms know a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from beam_bleu.transforms.metrics.bleu.columns import (
    basis_of,
)
from beam_bleu.transforms.metrics.bleu.config import PRESETS, BleuConfig, preset
from beam_bleu.transforms.metrics.bleu.kernel import BleuCounter
from beam_bleu.transforms.metrics.bleu.metric import Bleu
from beam_bleu.transforms.metrics.bleu.score import (
    BleuScore,
    bleu_parts,
    bleu_segment_columns,
    bleu_segment_fields,
    bleu_segment_scores,
    bleu_why_zero,
    sacrebleu_signature,
    signature,
)
from beam_bleu.transforms.metrics.bleu.scoring import counted_order
from beam_bleu.transforms.score.metric_kind import MetricKind, Signatures
from beam_bleu.transforms.text.text import Text, TextName
from beam_bleu.transforms.text.tokenizers import TokenizerName


def _metric_of(config: BleuConfig) -> Bleu:
    return Bleu(config.scoring)


def _of_segments(metric: Bleu) -> Bleu:
    return Bleu(metric.scoring.for_segments())


def _config_of(text: Text, choices: Mapping[str, Any]) -> BleuConfig:
    tokenize = cast(TokenizerName, text.tokenize)  # the text of a run has a tokenizer of BLEU
    return BleuConfig(
        tokenize, text.lowercase, normalize=text.normalize, spm_model=text.spm_model, **choices
    )


def _counter(metrics: Sequence[Bleu]) -> BleuCounter:
    return BleuCounter(counted_order(metric.scoring for metric in metrics))


def _signatures(text: TextName, metric: Bleu, fewest: int, most: int) -> Signatures:
    signed = text, metric.scoring, fewest, most
    return Signatures(signature(*signed), sacrebleu_signature(*signed))


KINDS = {
    "bleu": MetricKind(
        config=BleuConfig,
        metric_of=_metric_of,
        of_segments=_of_segments,
        score_type=BleuScore,
        config_of=_config_of,
        presets={name: preset(name) for name in PRESETS},
        counter=_counter,
        basis_of=basis_of,
        parts=bleu_parts,
        why_zero=bleu_why_zero,
        signatures=_signatures,
        segment_scores=bleu_segment_scores,
        segment_columns=bleu_segment_columns,
        segment_fields=bleu_segment_fields,
    )
}
