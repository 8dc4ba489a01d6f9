"""WER and CER, as the other rooms know a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.error_rates.columns import (
    error_basis,
)
from beam_bleu.transforms.metrics.error_rates.kernel import ErrorCounter
from beam_bleu.transforms.metrics.error_rates.metric import (
    CerConfig,
    ErrorRate,
    WerConfig,
)
from beam_bleu.transforms.metrics.error_rates.score import (
    ErrorRateScore,
    error_parts,
    error_segment_columns,
    error_segment_fields,
    error_signatures,
)
from beam_bleu.transforms.metrics.metric import Basis
from beam_bleu.transforms.score.metric_kind import MetricKind
from beam_bleu.transforms.text.text import Text


def _counter(metrics: Sequence[ErrorRate]) -> ErrorCounter:
    return ErrorCounter()


def _basis_of(width: int) -> Basis:
    return error_basis()


def _kind(config: type[WerConfig | CerConfig]) -> MetricKind:
    def config_of(text: Text, choices: Mapping[str, Any]) -> WerConfig | CerConfig:
        """The case is not that of the run: sacreBLEU's --lowercase is for BLEU only."""
        return config(normalize=text.normalize, **choices)

    return MetricKind(
        config=config,
        score_type=ErrorRateScore,
        config_of=config_of,
        counter=_counter,
        basis_of=_basis_of,
        parts=error_parts,
        signatures=error_signatures,
        segment_columns=error_segment_columns,
        segment_fields=error_segment_fields,
    )


KINDS = {"wer": _kind(WerConfig), "cer": _kind(CerConfig)}
