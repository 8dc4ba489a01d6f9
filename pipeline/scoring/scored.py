"""Computes the result of a job from its totals: what the last step does before it writes files."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.errors.printable import json_text
from beam_bleu.pipeline.result.rows import Labels, MetricNames, Result
from beam_bleu.pipeline.scoring.job import USUAL_EVIDENCE, Evidence, Job, ScoringsOfMetrics
from beam_bleu.pipeline.scoring.metric_rows import MetricRows
from beam_bleu.pipeline.scoring.totals import Ends, Totals, only_sum, totals_of_ends
from beam_bleu.transforms.definition.slicing import NO_SLICES, Slicing
from beam_bleu.transforms.examples.example import EXAMPLE_KINDS, ListKey, Picked
from beam_bleu.transforms.known_metrics import (
    DEFAULT_METRIC,
    MetricWord,
    counts_empty_candidates,
    row_of,
)
from beam_bleu.transforms.notices import sentences
from beam_bleu.transforms.pairing.paired import FILTERED, REJECTED
from beam_bleu.transforms.score.differences import CONFIDENCE, FEWEST_UNITS, too_few
from beam_bleu.transforms.totals.batch_adder import PICKED
from beam_bleu.transforms.totals.closing import condition_warnings, rejected_warnings
from beam_bleu.transforms.totals.replicates import GENERATOR


def result_of(job: Job, ends: Ends) -> tuple[Totals, Result, bytes | None]:
    scorings, evidence = job.scorings, job.evidence
    totals = totals_of_ends(ends, job)
    systems = totals.systems
    spread = examples = diversity = None
    picked: Picked = only_sum(PICKED, ends[PICKED]) if job.picks else Picked(0)
    if evidence.diversity:
        diversity = [*_diversity(picked, job, systems)]
    if job.examples:
        highest = {name: job.metrics.of_segments(name).highest for name in scorings}
        spread = _distributions(picked, highest, systems)
        examples = _examples_bytes(picked, list(scorings), systems, evidence.baseline_of(systems))
    result = scored(totals, scorings, job.slicing, evidence, spread)
    return totals, dataclasses.replace(result, diversity=diversity), examples


def scored(
    totals: Totals,
    scorings: ScoringsOfMetrics,
    slicing: Slicing = NO_SLICES,
    evidence: Evidence = USUAL_EVIDENCE,
    distributions: Sequence[Mapping[str, Any]] | None = None,
) -> Result:
    judging = next((name for name in scorings if row_of(name).counts_texts), None)
    metrics = [
        MetricRows(totals, own, slicing, evidence, judge_input=name == judging or bool(own.by_task))
        for name, own in scorings.items()
    ]
    for metric in metrics:
        metric.check()
    first = metrics[0]
    return Result(
        metrics=tuple(
            MetricNames(name=own.scorings.corpus.name, **own.of_corpus(own.scorings.corpus))
            for own in metrics
        ),
        segments=totals.segments,
        where=tuple(totals.tally.met),
        scores=(
            *(row for metric in metrics for row in (*metric.scores, *metric.sliced)),
            *(row for metric in metrics for row in metric.averages),
        ),
        counters=_counters(totals, metrics),
        warnings=(
            *condition_warnings(totals.tally),
            *rejected_warnings(totals.tally, totals.rejected),
            *sentences(totals.notices),
            *_joined_warnings(metrics),
            *_warnings_of_copies(metrics, evidence.unit),
            *_warning_about_resampling(first.own.corpus.units, evidence),
        ),
        languages=[
            language
            for metric in metrics
            for language in metric.languages(metric.scorings.corpus, tokenizers=True)
        ],
        tasks=[
            {"slice": labels}
            | ({"metrics": _of_task(labels, scorings)} if first.scorings.by_task else {})
            for labels in ({str(first.scorings.unpooled): task} for task in first.tasks)
            if first.scorings.languages is None
        ],
        presets=tuple(preset for metric in metrics for preset in metric.presets),
        segment_scores=_segment_scores(metrics),
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


def _of_task(labels: Labels, scorings: ScoringsOfMetrics) -> list[MetricWord]:
    return [name for name, own in scorings.items() if own.is_of(labels)]


def _joined_warnings(metrics: Sequence[MetricRows]) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for metric in metrics:
        for warning in dict.fromkeys(metric.warnings):
            names.setdefault(warning, []).append(metric.scorings.corpus.name)
    for warning, having in names.items():
        yield f"{', '.join(having)}: {warning}" if len(metrics) > 1 else warning


def _warnings_of_copies(metrics: Sequence[MetricRows], unit: str) -> Iterator[str]:
    rows = [row for metric in metrics for row in metric.comparisons]
    differing = {
        (row.system, row.baseline) for row in rows if row.difference != 0 or row.standard_error != 0
    }
    # Without an error above 0, both have few answers, or are right, or wrong, everywhere.
    scores = (row for metric in metrics for row in (*metric.scores, *metric.sliced))
    varied = {row.system for row in scores if row.standard_error}
    for system, baseline in dict.fromkeys((row.system, row.baseline) for row in rows):
        if system in varied and (system, baseline) not in differing:
            yield (
                f"{system} and {baseline} have the same score on every {unit}; is one of the files "
                "a copy of the other?"
            )


def _warning_about_resampling(units: int, evidence: Evidence) -> Iterator[str]:
    resampling = evidence.resampling
    if resampling is not None and resampling.method == "bootstrap" and units < FEWEST_UNITS:
        why = too_few(units, evidence.unit)
        yield (
            f"--resample bootstrap: no intervals and no p-values, because {why}; use --resample "
            "randomization, which is also valid for few"
        )


def _segment_scores(metrics: Sequence[MetricRows]) -> dict[str, Any] | None:
    made = [(metric, own) for metric in metrics if (own := metric.scorings.segments) is not None]
    if not made:
        return None
    languages = [
        language
        for metric, segments in made
        for language in metric.languages(segments, tokenizers=False)
    ]
    return {
        "metrics": [metric.of_corpus(segments) for metric, segments in made],
        "rows": sum(own.segments for each in metrics for own in each.sums_of([each.scorings])),
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


def _counters(totals: Totals, metrics: Sequence[MetricRows]) -> dict[str, Any]:
    counters: dict[str, Any] = {"segments": totals.segments}
    by_word = {metric.word: metric for metric in metrics}
    counting = counts_empty_candidates(by_word)
    if counting is not None:  # of these counters, only empty_candidates depends on the metric
        metric = by_word[counting]
        own = [metric.own.corpus.sums(system) for system in totals.systems]
        # A task of which no metric reads texts has only empty ones.
        texts = [each.scorings for name, each in by_word.items() if row_of(name).counts_texts]
        lengths = [metric.scorings.corpus.lengths(sums.columns) for sums in metric.sums_of(texts)]
        counters["empty_candidates"] = sum(each.empty_candidates for each in lengths if each)
        # The maximum, because systems can have different segments (--coverage each).
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


def _examples_bytes(
    picked: Picked, metrics: Sequence[MetricWord], systems: Sequence[str], baseline: str
) -> bytes:
    """The examples as JSON lines, which can be read without any other file."""
    of_baseline = ("baseline", "baseline_score", "difference", "baseline_candidate")
    lines = []
    for metric, system, kind in itertools.product(metrics, systems, EXAMPLE_KINDS.values()):
        key = ListKey(kind.name, metric, system, baseline if kind.compares else None)
        for example in picked.examples.get(key, ()):
            entry = example.entry
            if entry["baseline"] != baseline:
                # A segment that lacks the baseline was compared with another system.
                entry = {**entry, **dict.fromkeys(of_baseline)}
            lines.append(f"{json_text(entry)}\n")
    return "".join(lines).encode()


def _distributions(
    picked: Picked, highest: Mapping[MetricWord, float | None], systems: Sequence[str]
) -> list[dict[str, Any]]:
    distributions = []
    for metric, limit in highest.items():
        cells = {
            system: picked.scores[metric, system]
            for system in systems
            if (metric, system) in picked.scores
        }
        # Bins are common to all systems, so that their counts can be compared.
        edges = functools.reduce(operator.add, cells.values()).edges(limit) if cells else []
        distributions += [
            {"metric": metric, "system": system, "edges": edges, "counts": own.histogram(edges)}
            for system, own in cells.items()
        ]
    return distributions


def _diversity(picked: Picked, job: Job, systems: Sequence[str]) -> Iterator[dict[str, Any]]:
    metric, text = job.metrics.of_segments(DEFAULT_METRIC), job.scorings[DEFAULT_METRIC].text
    for system in systems:
        if (variety := picked.varieties.get(system)) is not None:
            others = max(len(variety.sample) - 1, 0)
            yield {
                "system": system,
                **variety.measures(metric),
                "signature": metric.signatures(text, others, others)[0],
            }
