"""Makes scores.json from the rows of a result, and reads it back. It has no times and no paths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from beam_bleu.pipeline.errors.printable import json_text
from beam_bleu.pipeline.folder.file_names import SCORES_FORMAT
from beam_bleu.pipeline.result.rows import (
    FAMILIES,
    MACRO_AVERAGE,
    ComparisonRow,
    MetricNames,
    PresetScores,
    Result,
    ScoreRow,
)
from beam_bleu.transforms.score.differences import McNemar

Document = Mapping[str, Any]
_METRIC = ("metric", "name", "signature", "sacrebleu_signature")
_PRESET = ("metric", "preset", "signature", "sacrebleu_signature")
_COMPARED = ("metric", "system", "baseline", "slice", "segments", "units")
# With `_COMPARED`, the keys of a comparison that are fields of its row.
_NUMBERS = ("difference", "standard_error", "interval", "p_value", "p_value_holm", "detectable")

# Fields of a result that the document copies, or leaves out if they are None.
_AS_THEY_ARE = (
    *("segment_scores", "distributions", "diversity", "coverage", "uncertainty", "clusters"),
    "resampling",
)

_OF_MEANS = {"slice": MACRO_AVERAGE}  # in rows of means, whose entries have no slice
_NOT_PARTS = {
    *("metric", "system", "slice", "segments", "languages", "tasks", "score"),
    *("standard_error", "interval", "wilson_interval"),
}


def document_of(result: Result) -> dict[str, Any]:
    """The document of a result, from which `read_result` makes the same rows again."""
    has_errors = result.uncertainty is not None
    has_comparisons = has_errors and len(result.systems) > 1
    averaged = "languages" if result.languages else "tasks"
    # The entries of means are those without a slice.
    scores = [_score_entry(row, averaged, has_errors) for row in result.scores]
    means = [entry for entry in scores if "slice" not in entry]
    compared = [*map(_comparison_entry, result.comparisons)] if has_comparisons else []
    compared_means = [entry for entry in compared if "slice" not in entry]
    document = {
        "format": SCORES_FORMAT,
        "metrics": [{name: getattr(row, name) for name in _METRIC} for row in result.metrics],
        "segments": result.segments,
        "where": result.where or None,
        "scores": [entry for entry in scores if "slice" in entry],
        "counters": result.counters,
        "warnings": result.warnings,
        "languages": result.languages or None,
        "tasks": result.tasks or None,
        "macro_average": means or None,
        "presets": [_preset_entry(preset, averaged) for preset in result.presets] or None,
        "segment_scores": result.segment_scores,
        "distributions": result.distributions,
        "diversity": result.diversity,
        "coverage": result.coverage,
        "uncertainty": result.uncertainty,
        "comparisons": [own for own in compared if "slice" in own] if has_comparisons else None,
        "macro_average_comparisons": compared_means if has_comparisons and means else None,
        "comparison_families": [*_families(result)] if has_comparisons else None,
        "clusters": result.clusters,
        "resampling": result.resampling,
        "partition": result.partitions[0] if len(result.partitions) == 1 else None,
        "partitions": result.partitions if len(result.partitions) > 1 else None,
    }
    return {key: value for key, value in document.items() if value is not None}


def document_bytes(document: Document) -> bytes:
    return json_text(document, indent=1).encode() + b"\n"


def numbers_of(row: ScoreRow, averaged: str) -> dict[str, Any]:
    """The entry of a score without its uncertainty; `averaged` is "languages" or "tasks"."""
    size: dict[str, Any] = {"slice": row.slice, "segments": row.segments}
    if row.slice == MACRO_AVERAGE:
        size = {averaged: row.segments}
    return {"metric": row.metric, "system": row.system, **size, "score": row.score, **row.parts}


def _score_entry(row: ScoreRow, averaged: str, has_errors: bool) -> dict[str, Any]:
    entry = numbers_of(row, averaged)
    if has_errors:
        entry |= {"standard_error": row.standard_error, "interval": row.interval}
    if row.wilson_interval is not None:
        entry["wilson_interval"] = row.wilson_interval
    return entry


def _preset_entry(preset: PresetScores, averaged: str) -> dict[str, Any]:
    return {
        **{name: getattr(preset, name) for name in _PRESET},
        "scores": [_score_entry(row, averaged, preset.has_errors) for row in preset.scores],
        "warnings": preset.warnings,
    }


def _comparison_entry(row: ComparisonRow) -> dict[str, Any]:
    entry = {name: getattr(row, name) for name in (*_COMPARED, *_NUMBERS, "family")}
    if row.slice == MACRO_AVERAGE:
        del entry["slice"]
    if row.mcnemar is not None:
        entry["mcnemar"] = row.mcnemar._asdict()
    return entry


def _families(result: Result) -> Iterator[dict[str, Any]]:
    for metric in result.words:
        for name, place in FAMILIES.items():
            family = [row for row in result.compared(metric) if row.family == name]
            if not family:
                continue
            baselines, systems = {row.baseline for row in family}, {row.system for row in family}
            words = f"each pair of {len(baselines | systems)} systems"
            if len(baselines) == 1:
                words = f"{len(systems)} system{'s' * (len(systems) > 1)} against {baselines.pop()}"
            yield {
                "metric": metric,
                "family": name,
                "description": f"{words}, {place}",
                "comparisons": sum(row.p_value is not None for row in family),
            }


def read_result(document: Document) -> Result:
    means = [
        {**entry, "segments": entry["languages" if "languages" in entry else "tasks"]} | _OF_MEANS
        for entry in document.get("macro_average", ())
    ]
    scores = tuple(map(_score, (*document["scores"], *means)))
    compared = [*document.get("comparisons", ())]
    compared += (entry | _OF_MEANS for entry in document.get("macro_average_comparisons", ()))
    presets = document.get("presets", ())
    of_presets = (entry["metric"] for preset in presets for entry in preset["scores"])
    names = {metric["metric"] for metric in document["metrics"]}
    if not {*(row.metric for row in scores), *of_presets} <= names:
        raise ValueError("a score has no metric")
    return Result(
        metrics=tuple(
            MetricNames(**{name: metric[name] for name in _METRIC})
            for metric in document["metrics"]
        ),
        scores=scores,
        comparisons=tuple(
            ComparisonRow(
                **{name: entry[name] for name in _COMPARED},
                **{name: _number(entry[name]) for name in _NUMBERS},
                mcnemar=McNemar(**entry["mcnemar"]) if "mcnemar" in entry else None,
            )
            for entry in compared
        ),
        segments=document.get("segments"),
        where=tuple(document.get("where", ())),
        counters=document.get("counters", {}),
        warnings=tuple(document.get("warnings", ())),
        languages=document.get("languages", ()),
        tasks=document.get("tasks", ()),
        presets=tuple(
            PresetScores(
                **{name: preset[name] for name in _PRESET},
                scores=tuple(map(_score, preset["scores"])),
                warnings=tuple(preset["warnings"]),
                has_errors="standard_error" in preset["scores"][0],
            )
            for preset in presets
        ),
        partitions=tuple(document.get("partitions", [document.get("partition")])),
        **{name: document.get(name) for name in _AS_THEY_ARE},
    )


def _score(entry: Document) -> ScoreRow:
    if not isinstance(entry["system"], str) or not isinstance(entry["segments"], int):
        raise ValueError("a score has no system, or no number of segments")
    return ScoreRow(
        metric=entry["metric"],
        system=entry["system"],
        slice=entry["slice"],
        segments=entry["segments"],
        score=_number(entry["score"]),
        # Results of earlier versions may have no standard errors.
        standard_error=_number(entry.get("standard_error")),
        interval=_number(entry.get("interval")),
        parts={
            name: tuple(value) if isinstance(value, list) else value
            for name, value in entry.items()
            if name not in _NOT_PARTS
        },
        wilson_interval=_number(entry.get("wilson_interval")),
    )


def _number(value: Any) -> Any:
    """A number, an interval or None, checked, because anything can have written the file."""
    if isinstance(value, list | tuple):
        low, high = map(_number, value)
        return low, high
    if value is not None and (isinstance(value, bool) or not math.isfinite(value)):
        raise ValueError(f"{value!r} is not a number")
    return value
