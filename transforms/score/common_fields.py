"""What the scores of all metrics have in common: signatures, warnings, uncertainty."""

from __future__ import annotations

from typing import Any

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.metric_kind import Lengths, Signatures
from beam_bleu.transforms.score.suspicious_input import suspicions
from beam_bleu.transforms.score.uncertainty import NO_STANDARD_ERROR, Uncertainty, uncertainty
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.corpus_sums import CorpusSums


def common_fields(
    score: float,
    sums: CorpusSums,
    text: TextName,
    metric: Metric,
    signatures: Signatures,
    lengths: Lengths | None,
    *,
    why_zero: str,
    judge_input: bool,
) -> dict[str, Any]:
    """The fields of `Score`, by name.

    Args:
      score: the score of the sums.
      sums: those of the corpus, with products for a score with a standard error.
      text: how the texts became tokens.
      metric: how sums become a score.
      signatures: how the score is made.
      lengths: how long the texts are; None if the score is not of texts.
      why_zero: a sentence that says why the score is 0, or ""; it is the first warning.
      judge_input: whether to warn about suspicious input, too.
    """
    units = sums.unit_sums
    suspicious: tuple[str, ...] = ()
    if judge_input and lengths is not None:
        suspicious = suspicions(sums, text, lengths, why_zero=why_zero)
    estimate = Uncertainty() if units is None else uncertainty(units, metric)
    return {
        "name": metric.name,
        "score": score,
        "segments": sums.segments,
        "signature": signatures.own,
        "sacrebleu_signature": signatures.sacrebleu,
        "warnings": (
            *((why_zero,) if why_zero else ()),
            *((f"{NO_STANDARD_ERROR}: {estimate.reason}",) if estimate.reason else ()),
            *suspicious,
        ),
        "standard_error": estimate.standard_error,
        "interval": estimate.interval,
    }
