"""The metrics of the last run, metrics.prom, in the text format of Prometheus."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.result.rows import MACRO_AVERAGE, Result, ScoreRow
from beam_bleu.pipeline.result.series import slice_text
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.version import VERSION

if TYPE_CHECKING:
    from prometheus_client import Gauge

FIRST_METRIC = "beam_bleu_run_exit_code"
"""The metric with which each file begins. By it we recognize our files."""

_VERDICT = "beam_bleu_gate_passed"

PASSED = "passed"
"""The verdict about a result that misses no threshold, in its run.json."""

OWN_LABELS = ("metric", "system", "baseline", "slice", "signature", "version")
"""The names of labels that have a meaning here."""


@dataclasses.dataclass(frozen=True)
class Monitoring:
    """What a user wants in metrics.prom.

    Attributes:
      labels: the names and values of labels that all metrics get.
      slices: of how many slices it has the scores. Each slice is a time series for each metric and
        system, so their number has a bound.
    """

    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    slices: int = 0


USUAL_MONITORING = Monitoring()


class _Gauges:
    """The gauges of a file, in the order in which they get their first values. Mutable."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        # Imported here, because it takes a tenth of a second, and only runs with --output need it.
        from prometheus_client import CollectorRegistry

        self._labels = labels
        self._registry = CollectorRegistry()
        self._by_name: dict[str, Gauge] = {}

    def set(self, name: str, meaning: str, value: float | None, **labels: str) -> None:
        """Sets a gauge for the common labels and these. A value of None is left out.

        All values of a gauge must have the same names of labels.
        """
        from prometheus_client import Gauge

        if value is None:
            return
        labels = {**self._labels, **labels}
        if name not in self._by_name:
            gauge = Gauge(f"beam_bleu_{name}", meaning, [*labels], registry=self._registry)
            self._by_name[name] = gauge
        gauge = self._by_name[name]
        (gauge.labels(**labels) if labels else gauge).set(value)

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)


def metrics(record: Mapping[str, Any], result: Result | None, asked: Monitoring) -> bytes:
    """The metrics of a run that has ended.

    No label has a value that changes from run to run, such as the path of a day's folder, because
    Prometheus would begin a new time series with each one.

    Args:
      record: its record, the content of run.json.
      result: its result; None if it failed.
      asked: what the user wants in the file.
    """
    gauges = _Gauges(asked.labels)
    gauges.set(
        FIRST_METRIC.removeprefix("beam_bleu_"),
        "The exit code of the last run; 0 is success.",
        record["exit_code"],
    )
    gauges.set(
        _VERDICT.removeprefix("beam_bleu_"),
        "1 if the last result passes, 0 if it misses a threshold of its run or of a later gate.",
        record["verdict"] and record["verdict"] == PASSED,
    )
    for name, meaning, value in (
        ("run_start_timestamp", "When the last run started.", _seconds(record["start"])),
        ("run_end_timestamp", "When the last run ended.", _seconds(record["end"])),
        ("run_duration", "How long the last run took.", record["seconds"]),
        (
            "last_success_timestamp",
            "When the last successful run ended.",
            _seconds(record["last_success"]),
        ),
    ):
        gauges.set(f"{name}_seconds", meaning, value)
    names = [] if result is None else result.metrics
    for metric, signature in [(row.metric, row.signature) for row in names] or [("", "")]:
        gauges.set(
            "info",
            "The version and the definition of a metric.",
            1,
            version=VERSION,
            metric=metric,
            signature=signature or "",
        )
    if result is not None:
        _add_scores(gauges, result)
        _add_slices(gauges, result, asked.slices)
        _add_comparisons(gauges, result)
        for name, meaning in _COUNTERS.items():
            gauges.set(name, meaning, result.counters.get(name))
        gauges.set("warnings", "Warnings of the last run.", len(record["warnings"]))
    return gauges.data


def with_verdict(data: bytes, *, passed: bool) -> bytes:
    """The metrics of a run, with the verdict of a later gate."""
    sample = re.compile(rb"^(%b(?:\{.*\})?) .*$" % _VERDICT.encode(), re.MULTILINE)
    return sample.sub(rb"\1 %.1f" % passed, data)


_COUNTERS = {
    "segments": "Segments that were scored.",
    "bytes": "Bytes of text that were scored.",
    "empty_candidates": "Candidates without a token, of all systems.",
    "rejected": "Segments that were left out as bad.",
}


def _add_scores(gauges: _Gauges, result: Result) -> None:
    for metric in result.words:
        gauges.set(
            "lower_is_better",
            "1 if a lower score of the metric is better, else 0.",
            row_of(metric).lower_is_better,
            metric=metric,
        )
    for row in result.scores:
        if row.group is None and row.preset is None:
            _add_score(gauges, "score", "The score of a system.", row)
    for row in result.scores:
        if row.group == MACRO_AVERAGE:
            meaning = "The mean of the scores of a system in all languages or tasks."
            labels = {"metric": row.metric, "system": row.system}
            gauges.set("macro_average", meaning, row.score, **labels)


def _add_slices(gauges: _Gauges, result: Result, most: int) -> None:
    """Adds the scores of the slices with the most segments."""
    if not most:
        return
    sizes: dict[str, int] = {}
    named = [
        (slice_text(row.group), row) for row in result.scores if isinstance(row.group, Mapping)
    ]
    for name, row in named:
        sizes[name] = max(sizes.get(name, 0), row.segments)
    shown = {*sorted(sizes, key=lambda name: -sizes[name])[:most]}
    for name, row in named:
        if name in shown:
            _add_score(gauges, "slice_score", "The score of a system on a slice.", row, slice=name)
    gauges.set(
        "slices_left_out",
        "Slices whose scores are not here, because --metrics_slices is smaller than their number.",
        len(sizes) - len(shown),
    )


def _add_score(gauges: _Gauges, name: str, meaning: str, row: ScoreRow, **labels: str) -> None:
    labels = {"metric": row.metric, "system": row.system, **labels}
    error = meaning.replace("The score", "The standard error of the score")
    gauges.set(name, meaning, row.score, **labels)
    gauges.set(f"{name}_standard_error", error, row.standard_error, **labels)


def _add_comparisons(gauges: _Gauges, result: Result) -> None:
    """Adds the comparisons on the whole corpus."""
    for row in result.comparisons:
        if row.group is None:
            labels = {"metric": row.metric, "system": row.system, "baseline": row.baseline}
            gauges.set(
                "difference",
                "The score of a system minus that of its baseline.",
                row.difference,
                **labels,
            )
            gauges.set(
                "difference_p_value_holm",
                "The p-value of this difference, adjusted by Holm for all comparisons on the "
                "whole corpus.",
                row.p_value_holm,
                **labels,
            )


def _seconds(time: str | None) -> float | None:
    if time is None:
        return None
    return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
