"""The file of a result's examples, and the distributions of scores in scores.json.

The file has texts of users. Each line is an object; a reader needs no other file to show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.printable import json_text
from beam_bleu.transforms.examples.example import (
    EXAMPLE_KINDS,
    ListKey,
    Picked,
    ScoresKey,
)
from beam_bleu.transforms.known_metrics import MetricWord


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
) -> Iterator[Mapping[str, Any]]:
    for kind in EXAMPLE_KINDS.values():
        key = ListKey(kind.name, metric, system, baseline if kind.compares else None)
        for example in picked.examples.get(key, ()):
            entry = example.entry
            if entry["baseline"] != baseline:
                # Without the first system, a segment was compared with another one.
                entry = {**entry, **_NOT_COMPARED}
            yield entry


_NOT_COMPARED = dict.fromkeys(("baseline", "baseline_score", "difference", "baseline_candidate"))


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
