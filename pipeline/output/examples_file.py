"""The file of a result's examples, and the distributions of scores in scores.json.

The file has texts of users. Each line is an object; a reader needs no other file to show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.transforms.examples.example import (
    EXAMPLE_KINDS,
    Example,
    ListKey,
    Picked,
    ScoresKey,
    alone,
)
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.pairing.batch import KEPT_ID


def examples_bytes(
    picked: Picked, metrics: Sequence[MetricWord], systems: Sequence[str], baseline: str
) -> bytes:
    """The content of the file, JSON lines in UTF-8.

    Args:
      picked: the examples of the corpus.
      metrics: the metrics, in the order of the result.
      systems: the systems, in this order.
      baseline: the system with which the others are compared.
    """
    return "".join(
        json_text(entry) + "\n"
        for metric in metrics
        for system in systems
        for entry in _entries(picked, metric, system, baseline)
    ).encode()


def _entries(
    picked: Picked, metric: MetricWord, system: str, baseline: str
) -> Iterator[dict[str, Any]]:
    for kind in EXAMPLE_KINDS.values():
        key = ListKey(kind.name, metric, system, baseline if kind.compares else None)
        for example in picked.examples.get(key, ()):
            # Without the first system, a segment was compared with another one.
            is_compared = example.baseline == baseline
            yield _entry(kind.name, metric, system, example if is_compared else alone(example))


def _entry(kind: str, metric: MetricWord, system: str, example: Example) -> dict[str, Any]:
    kept = dict(example.kept)
    own_id = kept.pop(KEPT_ID, None)
    return {
        "kind": kind,
        "metric": metric,
        "system": system,
        "baseline": example.baseline,
        "index": example.index,
        "id": own_id,
        "score": example.score,
        "baseline_score": example.baseline_score,
        "difference": example.difference,
        "candidate": example.candidate,
        "baseline_candidate": example.baseline_candidate,
        "references": list(example.references),
        "labels": dict(example.labels),
        "kept": kept,
    }


def distributions(
    picked: Picked, highest: Mapping[MetricWord, float | None], systems: Sequence[str]
) -> list[dict[str, Any]]:
    """How the scores of segments are distributed, as scores.json shows it.

    Args:
      picked: the scores of the corpus.
      highest: for each metric, in the order of the result, the highest possible score of a segment;
        None if there is none.
      systems: the systems, in this order.
    """
    return [
        {
            "metric": metric,
            "system": system,
            "edges": list(histogram.edges),
            "counts": list(histogram.counts),
        }
        for metric, limit in highest.items()
        for system in systems
        if (cells := picked.scores.get(ScoresKey(metric, system))) is not None
        for histogram in [cells.histogram(limit)]
    ]
