"""What the scores of all metrics have in common: signatures, warnings, uncertainty."""

from __future__ import annotations

from typing import Any

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.metric_kind import Lengths, Signatures
from beam_bleu.transforms.score.suspicious_input import suspicions
from beam_bleu.transforms.score.uncertainty import NO_STANDARD_ERROR, uncertainty
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.corpus_sums import CorpusSums
from beam_bleu.transforms.totals.unit_sums import UnitSums


def common_fields(
    score: float,
    sums: CorpusSums,
    text: TextName,
    metric: Metric,
    signatures: Signatures,
    lengths: Lengths,
    *,
    why_zero: str,
    judge_input: bool,
    units: UnitSums | None,
) -> dict[str, Any]:
    """The fields of `Score`, by name.

    Args:
      score: the score of the sums.
      sums: those of the corpus.
      text: how the texts became tokens.
      metric: how sums become a score.
      signatures: how the score is made.
      lengths: how long the texts are.
      why_zero: a sentence that says why the score is 0, or ""; it is the first warning.
      judge_input: whether to warn about suspicious input, too.
      units: the sums over the units of the same segments; None for a score without uncertainty.
    """
    estimate = None if units is None else uncertainty(units, metric, score)
    return {
        "score": score,
        "segments": sums.segments,
        "signature": signatures.own,
        "sacrebleu_signature": signatures.sacrebleu,
        "warnings": (
            *((why_zero,) if why_zero else ()),
            *((f"{NO_STANDARD_ERROR}: {estimate.reason}",) if estimate and estimate.reason else ()),
            *(suspicions(sums, text, lengths) if judge_input else ()),
        ),
        "standard_error": None if estimate is None else estimate.standard_error,
        "interval": None if estimate is None else estimate.interval,
    }
