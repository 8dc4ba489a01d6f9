"""The metrics of the last run, metrics.prom, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.output.redaction import without_url_secrets
from beam_bleu.transforms.version import VERSION

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

FIRST_METRIC = "beam_bleu_run_exit_code"
"""The metric with which each file begins. By it we recognize our files."""


def metrics(record: Mapping[str, Any], document: Mapping[str, Any] | None, output: str) -> bytes:
    """The metrics of a run that has ended.

    Args:
      record: its record, the content of run.json.
      document: its scores.json; None if it failed.
      output: the output folder. It is a label of each metric, because one machine can show the
        metrics of several folders.
    """
    # Imported here, because it takes a tenth of a second, and only runs with --output need it.
    from prometheus_client import CollectorRegistry, Gauge, generate_latest

    registry = CollectorRegistry()
    # A path can have control characters, and bytes that are not UTF-8; the text format cannot.
    output = printable(without_url_secrets(output))

    def add(name: str, meaning: str, value: float, **labels: str) -> None:
        labels = {"output": output, **labels}
        gauge = Gauge(f"beam_bleu_{name}", meaning, list(labels), registry=registry)
        gauge.labels(**labels).set(value)

    add(
        FIRST_METRIC.removeprefix("beam_bleu_"),
        "The exit code of the last run; 0 is success.",
        record["exit_code"],
    )
    add("run_start_timestamp_seconds", "When the last run started.", _seconds(record["start"]))
    add("run_end_timestamp_seconds", "When the last run ended.", _seconds(record["end"]))
    add("run_duration_seconds", "How long the last run took.", record["seconds"])
    if record["last_success"] is not None:
        add(
            "last_success_timestamp_seconds",
            "When the last successful run ended.",
            _seconds(record["last_success"]),
        )
    partition = {} if record["partition"] is None else {"partition": record["partition"]}
    info = {"version": VERSION, **partition}
    metrics = [("", "")]
    if document is not None:
        metrics = [(entry["metric"], entry["signature"] or "") for entry in document["metrics"]]
    names = ["output", *info, "metric", "signature"]
    gauge = Gauge(
        "beam_bleu_info", "The version and the definition of a metric.", names, registry=registry
    )
    for metric, signature in metrics:
        gauge.labels(output=output, **info, metric=metric, signature=signature).set(1)
    if document is not None:
        scores = Gauge(
            "beam_bleu_score",
            "The score of a system.",
            ["output", "metric", "system"],
            registry=registry,
        )
        errors = Gauge(
            "beam_bleu_score_standard_error",
            "The standard error of the score of a system.",
            ["output", "metric", "system"],
            registry=registry,
        )
        for entry in document["scores"]:
            if entry["slice"] is not None:
                continue  # each slice would be a time series of its own
            scores.labels(output, entry["metric"], entry["system"]).set(entry["score"])
            if entry.get("standard_error") is not None:
                errors.labels(output, entry["metric"], entry["system"]).set(entry["standard_error"])
        if "comparisons" in document:
            _add_comparisons(registry, output, document["comparisons"])
        if "macro_average" in document:
            averages = Gauge(
                "beam_bleu_macro_average",
                "The mean of the scores of a system in all languages or tasks.",
                ["output", "metric", "system"],
                registry=registry,
            )
            for entry in document["macro_average"]:
                if entry["score"] is not None:
                    averages.labels(output, entry["metric"], entry["system"]).set(entry["score"])
        counters = document["counters"]
        add("segments", "Segments that were scored.", counters["segments"])
        if "bytes" in counters:
            add("bytes", "Bytes of text that were scored.", counters["bytes"])
            add(
                "empty_candidates",
                "Candidates without a token, of all systems.",
                counters["empty_candidates"],
            )
        if "rejected" in counters:
            add("rejected", "Segments that were left out as bad.", counters["rejected"])
        add("warnings", "Warnings of the last run.", len(record["warnings"]))
    return generate_latest(registry)


def _add_comparisons(
    registry: CollectorRegistry, output: str, comparisons: Sequence[Mapping[str, Any]]
) -> None:
    """Adds the comparisons on the whole corpus."""
    from prometheus_client import Gauge

    labels = ["output", "metric", "system", "baseline"]
    differences = Gauge(
        "beam_bleu_difference",
        "The score of a system minus that of its baseline.",
        labels,
        registry=registry,
    )
    p_values = Gauge(
        "beam_bleu_difference_p_value_holm",
        "The p-value of this difference, adjusted by Holm for all comparisons on the whole corpus.",
        labels,
        registry=registry,
    )
    for comparison in comparisons:
        if comparison["slice"] is None:
            values = output, comparison["metric"], comparison["system"], comparison["baseline"]
            differences.labels(*values).set(comparison["difference"])
            if comparison["p_value_holm"] is not None:
                p_values.labels(*values).set(comparison["p_value_holm"])


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
