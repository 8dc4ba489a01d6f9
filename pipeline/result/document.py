"""The result document, scores.json, and the rows of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.result.rows import (
    MACRO_AVERAGE,
    ComparisonRow,
    Group,
    MetricNames,
    Result,
    ScoreRow,
)

Document = Mapping[str, Any]

_NOT_PARTS = {
    *("metric", "system", "slice", "segments", "languages", "tasks", "score"),
    *("standard_error", "interval"),
}


def read_result(document: Document) -> Result:
    """The rows of a result document.

    Raises:
      KeyError, TypeError, ValueError, AttributeError: it is not a result document.
    """
    return Result(
        metrics=tuple(
            MetricNames(
                metric["metric"],
                metric["name"],
                metric["signature"],
                metric["sacrebleu_signature"],
            )
            for metric in document["metrics"]
        ),
        scores=tuple(_scores(document)),
        comparisons=(
            *(_comparison(entry, entry["slice"]) for entry in document.get("comparisons", ())),
            *(
                _comparison(entry, MACRO_AVERAGE)
                for entry in document.get("macro_average_comparisons", ())
            ),
        ),
        segments=document.get("segments"),
        languages=document.get("languages", ()),
        tasks=document.get("tasks", ()),
        uncertainty=document.get("uncertainty"),
        resampling=document.get("resampling"),
        partitions=tuple(document.get("partitions", [document.get("partition")])),
    )


def _scores(document: Document) -> Iterator[ScoreRow]:
    for entry in document["scores"]:
        yield _score(entry, entry["slice"], entry["segments"])
    for entry in document.get("macro_average", ()):
        number = next(entry[kind] for kind in ("languages", "tasks") if kind in entry)
        yield _score(entry, MACRO_AVERAGE, number)
    for preset in document.get("presets", ()):
        for entry in preset["scores"]:
            yield _score(entry, entry["slice"], entry["segments"], preset["preset"])


def _score(entry: Document, group: Group, segments: int, preset: str | None = None) -> ScoreRow:
    return ScoreRow(
        metric=entry["metric"],
        system=entry["system"],
        group=group,
        preset=preset,
        segments=segments,
        score=entry["score"],
        # Results of earlier versions have no standard errors.
        standard_error=entry.get("standard_error"),
        interval=_interval(entry.get("interval")),
        parts={
            name: tuple(value) if isinstance(value, list) else value
            for name, value in entry.items()
            if name not in _NOT_PARTS
        },
    )


def _comparison(entry: Document, group: Group) -> ComparisonRow:
    return ComparisonRow(
        metric=entry["metric"],
        system=entry["system"],
        baseline=entry["baseline"],
        group=group,
        family=entry["family"],
        segments=entry["segments"],
        units=entry["units"],
        difference=entry["difference"],
        standard_error=entry["standard_error"],
        interval=_interval(entry["interval"]),
        p_value=entry["p_value"],
        p_value_holm=entry["p_value_holm"],
        detectable=entry["detectable"],
    )


def _interval(ends: Sequence[float] | None) -> tuple[float, float] | None:
    if ends is None:
        return None
    low, high = ends
    return low, high
