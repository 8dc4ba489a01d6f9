"""The metrics of the last run, metrics.prom, in the text format of Prometheus."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, Result, ScoreRow, labels_of, slice_text
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.version import VERSION

_VERDICT = "gate_passed"

PASSED = "passed"  # the verdict about a result that misses no threshold, in its run.json

# The names of labels that have a meaning here.
OWN_LABELS = ("metric", "system", "baseline", "slice", "signature", "version")


def metrics(
    record: Mapping[str, Any], result: Result | None, labels: Mapping[str, str], slices: int
) -> bytes:
    """The metrics of a run that has ended, by its run.json and its result; None if it failed.

    No label has a value that changes from run to run, such as the path of a day's folder, because
    Prometheus would begin a new time series with each one. Each slice is a time series for each
    metric and system, so `slices` bounds their number.
    """
    # Imported here, because it takes a tenth of a second, and only runs with --output need it.
    from prometheus_client import CollectorRegistry, Gauge, generate_latest

    registry, gauges = CollectorRegistry(), dict[str, Gauge]()

    def add(name: str, meaning: str, value: float | None, **own: str) -> None:
        if value is None:
            return
        every = {**labels, **own}
        if name not in gauges:
            gauges[name] = Gauge(f"beam_bleu_{name}", meaning, [*every], registry=registry)
        (gauges[name].labels(**every) if every else gauges[name]).set(value)

    _add_run(add, record, result)
    if result is not None:
        _add_scores(add, result, slices)
        for name, meaning in _COUNTERS.items():
            add(name, meaning, result.counters.get(name))
        add("warnings", "Warnings of the last run.", len(record["warnings"]))
    return generate_latest(registry)


def with_verdict(data: bytes, *, passed: bool) -> bytes:
    sample = re.compile(rb"^(beam_bleu_%b(?:\{.*\})?) .*$" % _VERDICT.encode(), re.MULTILINE)
    return sample.sub(rb"\1 %.1f" % passed, data)


_TIMES = {
    "start": ("run_start_timestamp", "When the last run started."),
    "end": ("run_end_timestamp", "When the last run ended."),
    "seconds": ("run_duration", "How long the last run took."),
    "last_success": ("last_success_timestamp", "When the last successful run ended."),
}

_COUNTERS = {
    "segments": "Segments that were scored.",
    "bytes": "Bytes of text that were scored.",
    "empty_candidates": "Candidates without a token, of all systems.",
    "rejected": "Segments that were left out as bad.",
}

_Add = Callable[..., None]


def _add_run(add: _Add, record: Mapping[str, Any], result: Result | None) -> None:
    # Our files are known by the metric with which they begin.
    add("run_exit_code", "The exit code of the last run; 0 is success.", record["exit_code"])
    meaning = (
        "1 if the last result passes, 0 if it misses a threshold of its run or of a later gate."
    )
    add(_VERDICT, meaning, record["verdict"] and record["verdict"] == PASSED)
    for key, (name, meaning) in _TIMES.items():
        value = record[key]
        if isinstance(value, str):
            value = datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()
        add(f"{name}_seconds", meaning, value)
    names = [] if result is None else result.metrics
    for metric, signature in [(row.metric, row.signature) for row in names] or [("", "")]:
        meaning = "The version and the definition of a metric."
        add("info", meaning, 1, version=VERSION, metric=metric, signature=signature or "")


def _add_scores(add: _Add, result: Result, slices: int) -> None:
    for metric in result.words:
        meaning = "1 if a lower score of the metric is better, else 0."
        add("lower_is_better", meaning, row_of(metric).lower_is_better, metric=metric)
    rows = [row for row in result.scores if row.preset is None]
    for row in rows:
        if row.group is None:
            _add_score(add, "score", "score of a system", row)
    for row in rows:
        if row.group == MACRO_AVERAGE:
            meaning = "The mean of the scores of a system in all languages or tasks."
            add("macro_average", meaning, row.score, metric=row.metric, system=row.system)
    if slices:
        _add_slices(add, [row for row in rows if isinstance(row.group, Mapping)], slices)
    for compared in result.comparisons:
        if compared.group is None:
            labels = {name: getattr(compared, name) for name in ("metric", "system", "baseline")}
            meaning = "The score of a system minus that of its baseline."
            add("difference", meaning, compared.difference, **labels)
            meaning = (
                "The p-value of this difference, adjusted by Holm for all comparisons on the "
                "whole corpus."
            )
            add("difference_p_value_holm", meaning, compared.p_value_holm, **labels)


def _add_slices(add: _Add, rows: Sequence[ScoreRow], most: int) -> None:
    """Adds the scores of the slices with the most segments."""
    sizes: dict[str, int] = {}
    for row in rows:
        name = slice_text(labels_of(row))
        sizes[name] = max(sizes.get(name, 0), row.segments)
    shown = {*sorted(sizes, key=lambda name: -sizes[name])[:most]}
    for row in rows:
        name = slice_text(labels_of(row))
        if name in shown:
            _add_score(add, "slice_score", "score of a system on a slice", row, slice=name)
    meaning = (
        "Slices whose scores are not here, because --metrics_slices is smaller than their number."
    )
    add("slices_left_out", meaning, len(sizes) - len(shown))


def _add_score(add: _Add, name: str, noun: str, row: ScoreRow, **labels: str) -> None:
    labels = {"metric": row.metric, "system": row.system, **labels}
    add(name, f"The {noun}.", row.score, **labels)
    meaning = f"The standard error of the {noun}."
    add(f"{name}_standard_error", meaning, row.standard_error, **labels)
