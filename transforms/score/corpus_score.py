"""The score of a corpus: the parts that a metric computes, signatures, uncertainty and warnings."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from beam_bleu.transforms.metrics.metric import Metric, Signatures
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.score.suspicious_input import suspicions
from beam_bleu.transforms.score.uncertainty import Uncertainty, uncertainty
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.group_totals import CorpusSums


class Numbers(NamedTuple):
    """What the sums of a corpus say about its score.

    Attributes:
      parts: the score, and the fields of the metric.
      uncertainty: that of the score.
      warnings: what a reader of the score must know.
    """

    parts: Mapping[str, Any]
    uncertainty: Uncertainty
    warnings: tuple[str, ...]


def corpus_numbers(
    metric: Metric,
    sums: CorpusSums,
    text: TextName,
    *,
    judge_input: bool = True,
    explain_error: bool = True,
) -> Numbers:
    """What the sums of a corpus say about its score.

    Args:
      metric: how sums become a score.
      sums: those of the corpus, with products for a score with a standard error.
      text: how the texts became tokens.
      judge_input: whether to warn about suspicious input, too; False if another score of the same
        texts has these warnings.
      explain_error: whether to warn if the standard error that was asked for is missing.

    Raises:
      ValueError: the sums lack columns that the metric needs, or it is for single segments only.
    """
    columns, units = sums.columns, sums.unit_sums
    parts = metric.parts(columns)
    estimate = Uncertainty() if units is None else uncertainty(units, metric)
    why_zero = metric.why_zero(columns, parts)
    lengths = metric.lengths(columns) if judge_input else None
    warnings = [why_zero] if why_zero else []
    if estimate.reason and explain_error:
        warnings.append(f"no standard error: {estimate.reason}")
    if lengths is not None:
        warnings += suspicions(sums, text, lengths, why_zero=why_zero)
    return Numbers(parts, estimate, (*warnings, *metric.warnings(columns)))


def corpus_score(
    metric: Metric, sums: CorpusSums, text: TextName, *, judge_input: bool = True
) -> Score:
    """The score of a corpus; see `corpus_numbers`."""
    parts, estimate, warnings = corpus_numbers(metric, sums, text, judge_input=judge_input)
    references = sums.min_reference_count, sums.max_reference_count
    signatures = _signatures(metric, text, *references)
    score: Score = metric.score_type(
        **parts,
        name=metric.name,
        segments=sums.segments,
        signature=signatures.own,
        sacrebleu_signature=signatures.sacrebleu,
        warnings=warnings,
        standard_error=estimate.standard_error,
        interval=estimate.interval,
    )
    return score


@functools.lru_cache(maxsize=256)
def _signatures(metric: Metric, text: TextName, fewest: int, most: int) -> Signatures:
    """The signatures of scores, of which many slices have the same."""
    return metric.signatures(text, fewest, most)
