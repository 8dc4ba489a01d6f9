"""Exact match and token F1, as the other rooms know a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.metrics.squad.columns import (
    exact_match_basis,
    exact_match_is_possible,
    segments_are_possible,
    token_f1_basis,
    token_f1_is_possible,
)
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
    exact_match_score,
    exact_match_segment_columns,
    exact_match_segment_fields,
    squad_signatures,
    token_f1_score,
    token_f1_segment_columns,
    token_f1_segment_fields,
)
from beam_bleu.transforms.native.arrays import ExactIntegers
from beam_bleu.transforms.score.metric_kind import Lengths, MetricKind
from beam_bleu.transforms.text.text import Text


def _exact_match_name(metric: ExactMatch) -> str:
    return "exact match"


def _token_f1_name(metric: TokenF1) -> str:
    return "token F1"


def _exact_match_of(text: Text, choices: Mapping[str, Any]) -> ExactMatchConfig:
    """The case is not that of the run: the definition lower-cases."""
    return ExactMatchConfig(normalize=text.normalize, **choices)


def _token_f1_of(text: Text, choices: Mapping[str, Any]) -> TokenF1Config:
    """The case is not that of the run: the definition lower-cases."""
    return TokenF1Config(normalize=text.normalize, **choices)


def _exact_match_counter(metrics: Sequence[ExactMatch]) -> AnswerCounter:
    return AnswerCounter(is_exact_match=True)


def _token_f1_counter(metrics: Sequence[TokenF1]) -> AnswerCounter:
    return AnswerCounter(is_exact_match=False)


def _exact_match_basis(width: int) -> Basis:
    return exact_match_basis()


def _token_f1_basis(width: int) -> Basis:
    return token_f1_basis()


def _lengths(columns: Sequence[int], metric: ExactMatch | TokenF1) -> Lengths:
    return metric.lengths(columns)


def _decoded_exact_match(encoded: Mapping[str, Any]) -> ExactMatch:
    return ExactMatch(**encoded)


def _decoded_token_f1(encoded: Mapping[str, Any]) -> TokenF1:
    return TokenF1(**encoded)


def _exact_match_is_possible(columns: ExactIntegers, references: int, metric: ExactMatch) -> bool:
    return exact_match_is_possible(columns)


def _token_f1_is_possible(columns: ExactIntegers, references: int, metric: TokenF1) -> bool:
    return token_f1_is_possible(columns)


KINDS = {
    "exact_match": MetricKind(
        shown=_exact_match_name,
        config=ExactMatchConfig,
        score_type=ExactMatchScore,
        config_of=_exact_match_of,
        counter=_exact_match_counter,
        basis_of=_exact_match_basis,
        score=exact_match_score,
        signatures=squad_signatures,
        lengths=_lengths,
        segment_columns=exact_match_segment_columns,
        segment_fields=exact_match_segment_fields,
        definition=ExactMatch,
        decoded=_decoded_exact_match,
        columns_are_possible=_exact_match_is_possible,
        segments_are_possible=segments_are_possible,
    ),
    "token_f1": MetricKind(
        shown=_token_f1_name,
        config=TokenF1Config,
        score_type=TokenF1Score,
        config_of=_token_f1_of,
        counter=_token_f1_counter,
        basis_of=_token_f1_basis,
        score=token_f1_score,
        signatures=squad_signatures,
        lengths=_lengths,
        segment_columns=token_f1_segment_columns,
        segment_fields=token_f1_segment_fields,
        definition=TokenF1,
        decoded=_decoded_token_f1,
        columns_are_possible=_token_f1_is_possible,
        segments_are_possible=segments_are_possible,
    ),
}
