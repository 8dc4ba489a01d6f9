"""The score of a corpus: the parts that a metric computes, signatures, uncertainty and warnings."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.score.differences import (
    ComparedSystems,
    SystemComparison,
    clusters,
    holm,
    interval,
)
from beam_bleu.transforms.score.estimates import Estimates
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.score.suspicious_input import suspicions
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.group_totals import CorpusSums


def score_parts(
    metric: Metric, sums: CorpusSums, text: TextName, why_no_error: str, *, judge_input: bool
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The score of a corpus with the fields of its metric, and what a reader of it must know.

    `why_no_error` says why there is no standard error, if it is not "". Without `judge_input`
    there are no warnings about suspicious input, because another score of the same texts has them.
    """
    columns = sums.columns
    parts = metric.parts(columns)
    why_zero = metric.why_zero(columns, parts)
    lengths = metric.lengths(columns) if judge_input else None
    warnings = [why_zero] if why_zero else []
    if why_no_error:
        warnings.append(f"no standard error: {why_no_error}")
    if lengths is not None:
        warnings += suspicions(sums, text, lengths, why_zero=why_zero)
    return parts, (*warnings, *metric.warnings(columns))


def corpus_score(
    estimates: Estimates, text: TextName, system: str | None = None, *, judge_input: bool = True
) -> Score:
    """The score of a system in one group; without a name of the only one. See `score_parts`."""
    totals, metric = estimates.totals, estimates.metric
    if system is None:
        (system,) = totals.systems
    sums = totals.sums(system)
    error, reason = estimates.error(system)
    parts, warnings = score_parts(metric, sums, text, reason, judge_input=judge_input)
    own, of_sacrebleu = _signatures(
        metric, text, sums.min_reference_count, sums.max_reference_count
    )
    score: Score = metric.score_type(
        **parts,
        name=metric.name,
        segments=sums.segments,
        signature=own,
        sacrebleu_signature=of_sacrebleu,
        warnings=warnings,
        standard_error=error,
        interval=interval(parts["score"], error),
    )
    return score


@functools.lru_cache(maxsize=256)
def _signatures(metric: Metric, text: TextName, fewest: int, most: int) -> tuple[str, str | None]:
    return metric.signatures(text, fewest, most)


def compared_systems(
    estimates: Estimates,
    text: TextName,
    systems: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    *,
    all_pairs: bool,
    lower_is_better: bool,
) -> ComparedSystems:
    """The scores and comparisons of systems on one group; with clusters of all pairs."""
    scores = {system: corpus_score(estimates, text, system) for system in systems}
    differences = {pair: estimates.difference(*pair) for pair in pairs}
    there = {pair: found for pair, found in differences.items() if found is not None}
    p_values = dict(zip(there, holm([found.p_value for found in there.values()]), strict=True))
    comparisons = tuple(
        SystemComparison(
            **vars(found), system=pair[0], baseline=pair[1], p_value_holm=p_values[pair]
        )
        for pair, found in there.items()
    )
    if not all_pairs:
        return ComparedSystems(scores, comparisons)
    known = {
        system: score.score for system, score in scores.items() if score.standard_error is not None
    }
    groups = clusters(known, p_values, lower_is_better=lower_is_better)
    return ComparedSystems(scores, comparisons, tuple(map(tuple, groups)))
