"""Means as the other rooms know a metric: of scores, and of errors, where lower is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.mean.columns import (
    mean_basis,
)
from beam_bleu.transforms.metrics.mean.kernel import NumberCounter
from beam_bleu.transforms.metrics.mean.metric import Mean, MeanConfig, MeanErrorConfig
from beam_bleu.transforms.metrics.mean.score import (
    MeanScore,
    mean_parts,
    mean_signatures,
)
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import Text


def _counter(metrics: Sequence[Mean]) -> NumberCounter:
    (column,) = {metric.column for metric in metrics}
    return NumberCounter(column)


def _basis_of(width: int) -> Basis:
    return mean_basis()


def _kind(config: type[MeanConfig | MeanErrorConfig]) -> MetricKind:
    def config_of(text: Text, choices: Mapping[str, Any]) -> MeanConfig | MeanErrorConfig:
        return config(**choices)

    return MetricKind(
        config=config,
        config_of=config_of,
        counter=_counter,
        basis_of=_basis_of,
        score_type=MeanScore,
        parts=mean_parts,
        signatures=mean_signatures,
    )


KINDS = {"mean": _kind(MeanConfig), "mean_error": _kind(MeanErrorConfig)}
