"""The result document, scores.json. Its bytes do not depend on where the job ran."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.pipeline.output.evidence_parts import warning_about_resampling
from beam_bleu.pipeline.output.file_names import SCORES_FORMAT
from beam_bleu.pipeline.output.metric_part import metric_part
from beam_bleu.pipeline.output.metric_views import joined_parts
from beam_bleu.pipeline.scoring.evidence import USUAL_EVIDENCE, Evidence
from beam_bleu.pipeline.scoring.scorings import ScoringsOfMetrics
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.definition.slicing import NO_SLICES, Slicing
from beam_bleu.transforms.known_metrics import counts_empty_candidates, row_of
from beam_bleu.transforms.notices import sentences
from beam_bleu.transforms.pairing.tally import FILTERED, REJECTED, Tally
from beam_bleu.transforms.totals.rejected import Rejected, condition_warnings, rejected_warnings

_KEYS = (
    *("format", "metrics", "segments", "scores", "counters", "warnings"),
    *("languages", "tasks", "macro_average", "presets", "segment_scores"),
    *("distributions", "coverage"),
    *("uncertainty", "comparisons", "macro_average_comparisons", "comparison_families"),
    *("clusters", "resampling", "partition"),
)
"""The order of the keys, whichever metric has them."""


def result_document(
    totals: Totals,
    scorings: ScoringsOfMetrics,
    slicing: Slicing = NO_SLICES,
    evidence: Evidence = USUAL_EVIDENCE,
    distributions: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """The document of a finished job.

    Args:
      totals: everything that was added up.
      scorings: for each metric the scorings of the corpus and of its segments.
      slicing: the slices that are scored, too.
      evidence: what is found out about the scores.
      distributions: those of the scores of segments; None if they are not asked for.

    Raises:
      InputError: the baseline is not one of the systems.
      JobError: not every segment of every system was scored exactly once, by each definition and
        in the slices of each item.
    """
    judging = next((name for name in scorings if row_of(name).counts_texts), None)
    parts = {
        name: metric_part(totals, of_metric, slicing, evidence, judge_input=name == judging)
        for name, of_metric in scorings.items()
    }
    joined = joined_parts(parts)
    first = next(iter(scorings.values()))
    units = totals.metrics[first.name][first.text].corpus.units
    document: dict[str, Any] = {
        "format": SCORES_FORMAT,
        **joined,
        "segments": totals.segments,
        "counters": _counters(totals, scorings),
        "warnings": [
            *condition_warnings(totals.tally),
            *rejected_warnings(totals.tally, totals.rejected),
            *sentences(totals.notices),
            *joined["warnings"],
            *warning_about_resampling(totals.systems, units, evidence),
        ],
    }
    if totals.is_tallied:
        document["counters"] |= _rejected_counters(totals.tally, totals.rejected)
    if totals.coverage is not None:
        document["coverage"] = dataclasses.asdict(totals.coverage)
    if distributions is not None:
        document["distributions"] = list(distributions)
    if evidence.partition is not None:
        document["partition"] = evidence.partition
    return {key: document[key] for key in sorted(document, key=_KEYS.index)}


def _counters(totals: Totals, scorings: ScoringsOfMetrics) -> dict[str, Any]:
    """The counters of texts, if there are any. Only `empty_candidates` depends on the metric."""
    counting = counts_empty_candidates(scorings)
    if counting is None:
        return {"segments": totals.segments}
    of_metric = scorings[counting]
    corpus = totals.metrics[of_metric.name][of_metric.text].corpus
    own = [corpus.sums(system) for system in totals.systems]
    lengths = [of_metric.corpus.lengths(sums.columns) for sums in own]
    return {
        "segments": totals.segments,
        "empty_candidates": sum(of_system.empty_candidates for of_system in lengths if of_system),
        "bytes": sum(sums.candidate_bytes for sums in own)
        # Systems can have different segments (--coverage each).
        + max(sums.reference_bytes for sums in own),
    }


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """The bytes of a document: JSON in UTF-8, with a final newline."""
    return json_text(document, indent=1).encode() + b"\n"


def _rejected_counters(tally: Tally, rejected: Rejected) -> dict[str, Any]:
    """The counters of the result document about segments that are read, but not scored."""
    return {
        "read": tally.read,
        **dict.fromkeys((FILTERED, REJECTED), 0),
        **{reason.replace("-", "_"): number for reason, number in tally.left_out.items()},
        "rejected_records": [
            {"reason": reason, "records": number} for reason, number in rejected.reasons.items()
        ],
    }
