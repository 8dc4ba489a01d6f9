"""The metrics of ROUGE, as the other rooms know a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.metrics.rouge.kernel import RougeCounter
from beam_bleu.transforms.metrics.rouge.metric import (
    Rouge,
    Rouge1Config,
    Rouge2Config,
    RougeLConfig,
    RougeLsumConfig,
)
from beam_bleu.transforms.metrics.rouge.score import (
    RougeScore,
    rouge_parts,
    rouge_segment_columns,
    rouge_segment_fields,
    rouge_segment_scores,
    rouge_signatures,
    rouge_warnings,
    rouge_why_zero,
)
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import Text


def _kind(
    config: type[Rouge1Config | Rouge2Config | RougeLConfig | RougeLsumConfig],
) -> MetricKind:
    definition = config._METRIC
    only_counter = RougeCounter(definition.HIT)

    def config_of(text: Text, choices: Mapping[str, Any]) -> Any:
        """The case is not that of the run: the definition lower-cases."""
        return config(normalize=text.normalize, **choices)

    def counter(metrics: Sequence[Rouge]) -> RougeCounter:
        return only_counter

    def basis_of(width: int) -> Basis:
        return only_counter.basis

    return MetricKind(
        config=config,
        score_type=RougeScore,
        config_of=config_of,
        counter=counter,
        basis_of=basis_of,
        parts=rouge_parts,
        why_zero=rouge_why_zero,
        warnings=rouge_warnings,
        signatures=rouge_signatures,
        segment_scores=rouge_segment_scores,
        segment_columns=rouge_segment_columns,
        segment_fields=rouge_segment_fields,
    )


KINDS = {
    "rouge1": _kind(Rouge1Config),
    "rouge2": _kind(Rouge2Config),
    "rougeL": _kind(RougeLConfig),
    "rougeLsum": _kind(RougeLsumConfig),
}
