"""The result document of several metrics, and what it says about one of them.

The part of a metric has the keys that the document of a run with only this metric would have:
`name`, `signature`, `scores`, `comparisons` and so on. In the document, all metrics are in the same
lists, and each entry names its metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from beam_bleu.transforms.known_metrics import MetricWord

Part = Mapping[str, Any]

_OF_DEFINITION = ("name", "signature", "sacrebleu_signature")
"""The keys of a part that are in its entry of `metrics`."""

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

_COMMON = ("tasks", "uncertainty")
"""The keys that say the same for all metrics."""


def joined_parts(parts: Mapping[MetricWord, Part]) -> dict[str, Any]:
    """What the result document says about all metrics, from the part of each one.

    With several metrics, each warning names its metric; one that several have names all of them.
    """
    names = {name: {key: part[key] for key in _OF_DEFINITION} for name, part in parts.items()}
    joined: dict[str, Any] = {"metrics": [{"metric": name, **names[name]} for name in parts]}
    for key in dict.fromkeys(key for part in parts.values() for key in part):
        of_metrics = {name: part[key] for name, part in parts.items() if key in part}
        if key in _LISTS:
            joined[key] = _tagged(of_metrics)
        elif key in _COMMON:
            joined[key] = next(iter(of_metrics.values()))
        elif key == "warnings":
            having: dict[str, list[str]] = {}
            for name, warnings in of_metrics.items():
                for warning in dict.fromkeys(warnings):
                    having.setdefault(warning, []).append(names[name]["name"])
            joined[key] = [
                f"{', '.join(metrics)}: {warning}" if len(parts) > 1 else warning
                for warning, metrics in having.items()
            ]
        elif key == "segment_scores":
            joined[key] = _with_lists(
                {name: _listed(value) for name, value in of_metrics.items()}, key
            )
            joined[key]["rows"] = sum(value["rows"] for value in of_metrics.values())
        elif key in _WITH_LISTS:
            joined[key] = _with_lists(of_metrics, key)
        elif key not in _OF_DEFINITION:
            raise ValueError(f"the part of a metric has the unknown key {key}")
    return joined


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


def _tagged(of_metrics: Mapping[Any, Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    return [{"metric": name, **entry} for name, entries in of_metrics.items() for entry in entries]


def _only(entries: Iterable[Mapping[str, Any]], name: str) -> list[Any]:
    return [entry for entry in entries if entry["metric"] == name]


def _with_lists(of_metrics: Mapping[Any, Part], key: str) -> dict[str, Any]:
    first = next(iter(of_metrics.values()))
    return {
        name: _tagged({metric: part[name] for metric, part in of_metrics.items() if name in part})
        if name in _WITH_LISTS[key]
        else value
        for name, value in first.items()
    }


def _listed(segment_scores: Part) -> dict[str, Any]:
    """The signatures of the scores of segments as a list, which the metrics share."""
    signatures = ("signature", "sacrebleu_signature")
    others = {key: value for key, value in segment_scores.items() if key not in signatures}
    return {"metrics": [{key: segment_scores[key] for key in signatures}], **others}
