"""The result document of several metrics, and what it says about one of them.

The part of a metric has the keys that the document of a run with only this metric would have:
`name`, `signature`, `scores`, `comparisons` and so on. In the document, all metrics are in the same
lists, and each entry names its metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_LISTS = (
    "scores",
    "languages",
    "macro_average",
    "presets",
    "comparisons",
    "macro_average_comparisons",
    "comparison_families",
    "clusters",
    "distributions",
)
"""The keys with lists of entries of a metric."""

_WITH_LISTS = {
    "resampling": ("scores", "comparisons"),
    "segment_scores": ("metrics", "languages"),
}
"""The keys with objects that have such lists themselves, and these."""


def part_of(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The document as if it had only one metric: the keys of its part, and all common ones.

    Raises:
      KeyError: the document does not have this metric.
    """
    definition = _only(document["metrics"], name)
    if not definition:
        raise KeyError(name)
    part = {**document, **definition[0]}
    for key in _LISTS:
        if key in document:
            part[key] = _only(document[key], name)
            if not part[key] and key != "comparisons":
                del part[key]
    for key, lists in _WITH_LISTS.items():
        if key in document:
            own = {
                list_name: _only(document[key][list_name], name)
                for list_name in lists
                if list_name in document[key]
            }
            part[key] = {**document[key], **own}
    if "segment_scores" in document:
        part["segment_scores"] |= part["segment_scores"].pop("metrics")[0]
    return part


def metrics_of(document: Mapping[str, Any]) -> list[str]:
    """The metrics of a document, in its order."""
    return [entry["metric"] for entry in document["metrics"]]


def parts_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the document says about each metric; see `part_of`."""
    return [part_of(document, name) for name in metrics_of(document)]


def warnings_of_document(document: Mapping[str, Any]) -> list[str]:
    """All that a reader of the scores must know, also of those of presets."""
    of_presets = [
        f"{preset['preset']}: {warning}"
        for preset in document.get("presets", ())
        for warning in preset["warnings"]
    ]
    return [*document["warnings"], *of_presets]


def _only(entries: Iterable[Mapping[str, Any]], name: str) -> list[Any]:
    return [entry for entry in entries if entry["metric"] == name]
