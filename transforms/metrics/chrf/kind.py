"""chrF, as the other rooms know a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.chrf.columns import (
    chrf_basis,
    orders_of,
)
from beam_bleu.transforms.metrics.chrf.kernel import ChrfCounter
from beam_bleu.transforms.metrics.chrf.metric import Chrf, ChrfConfig
from beam_bleu.transforms.metrics.chrf.score import (
    ChrfScore,
    chrf_parts,
    chrf_segment_columns,
    chrf_segment_fields,
    chrf_signatures,
    chrf_why_zero,
)
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import Text


def _config_of(text: Text, choices: Mapping[str, Any]) -> ChrfConfig:
    """The case is chrF's own choice, not that of the run: sacreBLEU's --lowercase is for BLEU."""
    return ChrfConfig(normalize=text.normalize, **choices)


def _counter(metrics: Sequence[Chrf]) -> ChrfCounter:
    (metric,) = {*metrics}  # the choice of the best reference depends on it
    return ChrfCounter(metric)


def _basis_of(width: int) -> Basis:
    return chrf_basis(orders_of(width))


KINDS = {
    "chrf": MetricKind(
        config=ChrfConfig,
        score_type=ChrfScore,
        config_of=_config_of,
        counter=_counter,
        basis_of=_basis_of,
        parts=chrf_parts,
        why_zero=chrf_why_zero,
        signatures=chrf_signatures,
        segment_columns=chrf_segment_columns,
        segment_fields=chrf_segment_fields,
    )
}
