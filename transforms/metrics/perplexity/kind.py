"""Perplexity, as the other rooms know a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.metrics.perplexity.columns import (
    perplexity_basis,
)
from beam_bleu.transforms.metrics.perplexity.kernel import PerplexityCounter
from beam_bleu.transforms.metrics.perplexity.metric import Perplexity, PerplexityConfig
from beam_bleu.transforms.metrics.perplexity.score import (
    PerplexityScore,
    perplexity_parts,
    perplexity_segment_columns,
    perplexity_segment_fields,
    perplexity_segment_scores,
    perplexity_signatures,
)
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import Text


def _config_of(text: Text, choices: Mapping[str, Any]) -> PerplexityConfig:
    """No text is scored, so that it does not matter how the run makes tokens."""
    return PerplexityConfig(**choices)


def _counter(metrics: Sequence[Perplexity]) -> PerplexityCounter:
    return PerplexityCounter(metrics[0])


def _basis_of(width: int) -> Basis:
    return perplexity_basis()


KINDS = {
    "perplexity": MetricKind(
        config=PerplexityConfig,
        score_type=PerplexityScore,
        config_of=_config_of,
        counter=_counter,
        basis_of=_basis_of,
        parts=perplexity_parts,
        signatures=perplexity_signatures,
        segment_scores=perplexity_segment_scores,
        segment_columns=perplexity_segment_columns,
        segment_fields=perplexity_segment_fields,
    )
}
