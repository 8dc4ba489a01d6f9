"""TER, as the other rooms know a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.metrics.ter.columns import (
    ter_basis,
)
from beam_bleu.transforms.metrics.ter.kernel import TerCounter
from beam_bleu.transforms.metrics.ter.metric import Ter, TerConfig
from beam_bleu.transforms.metrics.ter.score import (
    TerScore,
    ter_parts,
    ter_segment_columns,
    ter_segment_fields,
    ter_signatures,
)
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import Text


def _config_of(text: Text, choices: Mapping[str, Any]) -> TerConfig:
    """The case is not that of the run: sacreBLEU's --lowercase is for BLEU only."""
    return TerConfig(normalize=text.normalize, **choices)


def _counter(metrics: Sequence[Ter]) -> TerCounter:
    return TerCounter()


def _basis_of(width: int) -> Basis:
    return ter_basis()


KINDS = {
    "ter": MetricKind(
        config=TerConfig,
        score_type=TerScore,
        config_of=_config_of,
        counter=_counter,
        basis_of=_basis_of,
        parts=ter_parts,
        signatures=ter_signatures,
        segment_columns=ter_segment_columns,
        segment_fields=ter_segment_fields,
    )
}
