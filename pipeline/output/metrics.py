"""Makes metrics.prom: the last run and its scores as metrics, in the text format of Prometheus."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, Result
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.version import VERSION

PASSED = "passed"  # the verdict in run.json if the result misses no threshold
# The labels that our metrics set themselves.
OWN_LABELS = ("metric", "system", "baseline", "slice", "signature", "version")
_VERDICT = "gate_passed"
_MEANINGS = {
    "run_exit_code": "The exit code of the last run; 0 is success.",
    _VERDICT: (
        "1 if the last result passes, 0 if it misses a threshold of its run or of a later gate."
    ),
    "run_start_timestamp_seconds": "When the last run started.",
    "run_end_timestamp_seconds": "When the last run ended.",
    "run_duration_seconds": "How long the last run took.",
    "last_success_timestamp_seconds": "When the last successful run ended.",
    "info": "The version and the definition of a metric.",
    "lower_is_better": "1 if a lower score of the metric is better, else 0.",
    "score": "The score of a system.",
    "score_standard_error": "The standard error of the score of a system.",
    "macro_average": "The mean of the scores of a system in all languages or tasks.",
    "slice_score": "The score of a system on a slice.",
    "slice_score_standard_error": "The standard error of the score of a system on a slice.",
    "slices_left_out": (
        "Slices whose scores are not here, because --metrics_slices is smaller than their number."
    ),
    "difference": "The score of a system minus that of its baseline.",
    "difference_p_value_holm": (
        "The p-value of this difference, adjusted by Holm for all comparisons on the whole corpus."
    ),
    "segments": "Segments that were scored.",
    "bytes": "Bytes of text that were scored.",
    "empty_candidates": "Candidates without a token, of all systems.",
    "rejected": "Segments that were left out as bad.",
    "warnings": "Warnings of the last run.",
}

_Sample = tuple[str, float | None, dict[str, str]]


def metrics(
    record: Mapping[str, Any], result: Result | None, labels: Mapping[str, str], slices: int
) -> bytes:
    """The metrics of a run that has ended; `result` is None if the run failed.

    No label may have a value that changes with each run: it would begin a new time series.
    """
    # Imported here, because it takes a tenth of a second, and only runs with --output need it.
    from prometheus_client import CollectorRegistry, Gauge, generate_latest

    registry, gauges = CollectorRegistry(), dict[str, Gauge]()
    for name, value, own in (*_of_run(record, result), *_of_result(record, result, slices)):
        if value is None:
            continue
        every = {**labels, **own}
        if name not in gauges:
            gauges[name] = Gauge(f"beam_bleu_{name}", _MEANINGS[name], [*every], registry=registry)
        (gauges[name].labels(**every) if every else gauges[name]).set(value)
    return generate_latest(registry)


def with_verdict(data: bytes, *, passed: bool) -> bytes:
    sample = re.compile(rb"^(beam_bleu_%b(?:\{.*\})?) .*$" % _VERDICT.encode(), re.MULTILINE)
    return sample.sub(rb"\1 %.1f" % passed, data)


def _of_run(record: Mapping[str, Any], result: Result | None) -> Iterator[_Sample]:
    # First, because publication.py recognizes our files by the metric with which they begin.
    yield "run_exit_code", record["exit_code"], {}
    yield _VERDICT, record["verdict"] and record["verdict"] == PASSED, {}
    yield "run_start_timestamp_seconds", _seconds(record["start"]), {}
    yield "run_end_timestamp_seconds", _seconds(record["end"]), {}
    yield "run_duration_seconds", record["seconds"], {}
    yield "last_success_timestamp_seconds", _seconds(record["last_success"]), {}
    names = [] if result is None else [(row.metric, row.signature) for row in result.metrics]
    for metric, signature in names or [("", "")]:
        yield "info", 1, {"version": VERSION, "metric": metric, "signature": signature or ""}


def _seconds(time: str | None) -> float | None:
    return None if time is None else datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def _of_result(record: Mapping[str, Any], result: Result | None, slices: int) -> Iterator[_Sample]:
    if result is None:
        return
    for metric in result.words:
        yield "lower_is_better", row_of(metric).lower_is_better, {"metric": metric}
    sizes: dict[str, int] = {}
    for row in result.scores:
        if name := row.key.slice_text:
            sizes[name] = max(sizes.get(name, 0), row.segments)
    shown = {*sorted(sizes, key=lambda name: -sizes[name])[:slices]}
    for row in result.scores:
        name, labels = row.key.slice_text, {"metric": row.metric, "system": row.system}
        if row.slice == MACRO_AVERAGE:
            yield "macro_average", row.score, labels
        elif not name:
            yield "score", row.score, labels
            yield "score_standard_error", row.standard_error, labels
        elif name in shown:
            yield "slice_score", row.score, {**labels, "slice": name}
            yield "slice_score_standard_error", row.standard_error, {**labels, "slice": name}
    if slices:
        yield "slices_left_out", len(sizes) - len(shown), {}
    for compared in result.comparisons:
        if compared.slice is None:
            labels = {name: getattr(compared, name) for name in ("metric", "system", "baseline")}
            yield "difference", compared.difference, labels
            yield "difference_p_value_holm", compared.p_value_holm, labels
    for name in ("segments", "bytes", "empty_candidates", "rejected"):
        yield name, result.counters.get(name), {}
    yield "warnings", len(record["warnings"]), {}
