"""The rows of a result, from what a job has added up."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.output.metric_rows import MetricRows
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.scoring.evidence import USUAL_EVIDENCE, Evidence
from beam_bleu.pipeline.scoring.scorings import ScoringsOfMetrics
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.slicing import NO_SLICES, Slicing
from beam_bleu.transforms.known_metrics import counts_empty_candidates, row_of
from beam_bleu.transforms.notices import sentences
from beam_bleu.transforms.pairing.tally import FILTERED, REJECTED
from beam_bleu.transforms.score.differences import CONFIDENCE, FEWEST_UNITS, too_few
from beam_bleu.transforms.totals.closing import condition_warnings, rejected_warnings
from beam_bleu.transforms.totals.replicates.tiles import GENERATOR


def scored(
    totals: Totals,
    scorings: ScoringsOfMetrics,
    slicing: Slicing = NO_SLICES,
    evidence: Evidence = USUAL_EVIDENCE,
    distributions: Sequence[Mapping[str, Any]] | None = None,
) -> Result:
    """The result of a finished job.

    Args:
      totals: everything that was added up.
      scorings: for each metric the scorings of the corpus and of its segments.
      slicing: the slices that are scored, too.
      evidence: what is found out about the scores.
      distributions: those of the scores of segments; None if they are not asked for.

    Raises:
      InputError: the baseline is not one of the systems; or something is asked for that needs a
        common score, and the tasks of the input have none.
      JobError: not every segment of every system was scored exactly once, by each definition; or
        replicates are missing.
    """
    judging = next((name for name in scorings if row_of(name).counts_texts), None)
    metrics = [
        MetricRows(totals, scorings[name], slicing, evidence, judge_input=name == judging)
        for name in scorings
    ]
    for metric in metrics:
        metric.check()
    first = metrics[0]
    return Result(
        metrics=tuple(metric.names for metric in metrics),
        segments=totals.segments,
        scores=(
            *(row for metric in metrics for row in (*metric.scores, *metric.sliced)),
            *(row for metric in metrics for row in metric.averages),
            *(row for metric in metrics for rows in metric.presets.values() for row in rows),
        ),
        counters=_counters(totals, scorings),
        warnings=(
            *condition_warnings(totals.tally),
            *rejected_warnings(totals.tally, totals.rejected),
            *sentences(totals.notices),
            *_joined_warnings(metrics),
            *_warning_about_resampling(first.own.corpus.units, evidence),
        ),
        languages=[
            language
            for metric in metrics
            for language in metric.languages(metric.scorings.corpus, tokenizers=True)
        ],
        tasks=[
            {"slice": {str(first.scorings.unpooled): task}}
            for task in first.tasks
            if first.scorings.languages is None
        ],
        presets=tuple(preset for metric in metrics for preset in metric.presets),
        segment_scores=_segment_scores(metrics, sum(totals.scored.values())),
        distributions=distributions,
        coverage=None if totals.coverage is None else dataclasses.asdict(totals.coverage),
        uncertainty={
            "unit": evidence.unit,
            "label": evidence.documents,
            "units": first.own.corpus.units,
            "confidence": CONFIDENCE,
        }
        if evidence.uncertainty
        else None,
        comparisons=(
            *(row for metric in metrics for row in metric.comparisons),
            *(row for metric in metrics for row in metric.average_comparisons),
        ),
        clusters=[
            {"metric": metric.word, "systems": systems}
            for metric in metrics
            for systems in metric.clusters
        ]
        if evidence.uncertainty
        and evidence.compare_all
        and len(totals.systems) > 1
        and any(metric.scores for metric in metrics)
        else None,
        resampling=_resampling(metrics, evidence),
        partitions=(evidence.partition,),
    )


def _joined_warnings(metrics: Sequence[MetricRows]) -> Iterator[str]:
    """The warnings about all metrics. One that several metrics have names all of them."""
    names: dict[str, list[str]] = {}
    for metric in metrics:
        for warning in dict.fromkeys(metric.warnings):
            names.setdefault(warning, []).append(metric.scorings.corpus.name)
    for warning, having in names.items():
        yield f"{', '.join(having)}: {warning}" if len(metrics) > 1 else warning


def _warning_about_resampling(units: int, evidence: Evidence) -> Iterator[str]:
    """One sentence about a bootstrap of too few units, if it is one."""
    resampling = evidence.resampling
    if resampling is not None and resampling.method == "bootstrap" and units < FEWEST_UNITS:
        yield (
            f"--resample bootstrap: no intervals and no p-values, because "
            f"{too_few(units, evidence.unit)}; use --resample randomization, which is also valid "
            "for few"
        )


def _segment_scores(metrics: Sequence[MetricRows], rows: int) -> dict[str, Any] | None:
    """How the scores of segments are made; None if they are not asked for.

    Args:
      metrics: the metrics.
      rows: how many rows there are for each metric.
    """
    made = [(metric, metric.scorings.segments) for metric in metrics]
    languages = [
        language
        for metric, segments in made
        if segments is not None
        for language in metric.languages(segments, tokenizers=False)
    ]
    own = [metric.of_corpus(segments) for metric, segments in made if segments is not None]
    if not own:
        return None
    return {
        "metrics": own,
        "rows": rows * len(metrics),
        **({"languages": languages} if languages else {}),
    }


def _resampling(metrics: Sequence[MetricRows], evidence: Evidence) -> dict[str, Any] | None:
    resampling = evidence.resampling
    if resampling is None:
        return None
    of_metrics = [metric.resampling for metric in metrics]
    return {
        "method": resampling.method,
        "resamples": resampling.number,
        "seed": resampling.seed,
        "unit": evidence.unit,
        "label": evidence.documents,
        "generator": GENERATOR,
        "scores": [score for scores, _ in of_metrics for score in scores],
        "comparisons": [each for _, differences in of_metrics for each in differences],
    }


def _counters(totals: Totals, scorings: ScoringsOfMetrics) -> dict[str, Any]:
    """The counters of texts, if there are any, and of segments that are read, but not scored."""
    counters: dict[str, Any] = {"segments": totals.segments}
    counting = counts_empty_candidates(scorings)
    if counting is not None:  # only empty_candidates depends on the metric
        metric = scorings[counting]
        corpus = totals.metrics[metric.name][metric.text].corpus
        own = [corpus.sums(system) for system in totals.systems]
        lengths = [metric.corpus.lengths(sums.columns) for sums in own]
        empty = [of_system.empty_candidates for of_system in lengths if of_system]
        counters["empty_candidates"] = sum(empty)
        # Systems can have different segments (--coverage each).
        references = max(sums.reference_bytes for sums in own)
        counters["bytes"] = sum(sums.candidate_bytes for sums in own) + references
    if totals.is_tallied:
        left_out = totals.tally.left_out.items()
        counters |= {"read": totals.tally.read, FILTERED: 0, REJECTED: 0}
        counters |= {reason.replace("-", "_"): number for reason, number in left_out}
        counters["rejected_records"] = [
            {"reason": reason, "records": number}
            for reason, number in totals.rejected.reasons.items()
        ]
    return counters
