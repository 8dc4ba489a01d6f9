"""Exact match and token F1, as the other rooms know a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.metrics.squad.kernel import AnswerCounter
from beam_bleu.transforms.metrics.squad.metric import (
    ExactMatch,
    ExactMatchConfig,
    TokenF1,
    TokenF1Config,
)
from beam_bleu.transforms.metrics.squad.score import (
    ExactMatchScore,
    TokenF1Score,
    exact_match_parts,
    exact_match_segment_scores,
    squad_signatures,
    token_f1_parts,
    token_f1_segment_columns,
    token_f1_segment_fields,
    token_f1_segment_scores,
)
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import Text


def _kind(
    config: type[ExactMatchConfig | TokenF1Config],
    definition: type[ExactMatch | TokenF1],
    **own: Any,
) -> MetricKind:
    """A metric of the family. `own` are the attributes that the metrics do not share."""
    only_counter = AnswerCounter(is_exact_match=definition is ExactMatch)

    def config_of(text: Text, choices: Mapping[str, Any]) -> ExactMatchConfig | TokenF1Config:
        """The case is not that of the run: the definition lower-cases."""
        return config(normalize=text.normalize, **choices)

    def counter(metrics: Sequence[ExactMatch | TokenF1]) -> AnswerCounter:
        return only_counter

    def basis_of(width: int) -> Basis:
        return only_counter.basis

    return MetricKind(
        config=config,
        config_of=config_of,
        counter=counter,
        basis_of=basis_of,
        signatures=squad_signatures,
        **own,
    )


KINDS = {
    "exact_match": _kind(
        ExactMatchConfig,
        ExactMatch,
        score_type=ExactMatchScore,
        parts=exact_match_parts,
        segment_scores=exact_match_segment_scores,
    ),
    "token_f1": _kind(
        TokenF1Config,
        TokenF1,
        score_type=TokenF1Score,
        parts=token_f1_parts,
        segment_scores=token_f1_segment_scores,
        segment_columns=token_f1_segment_columns,
        segment_fields=token_f1_segment_fields,
    ),
}
