"""Documents for tests of tables, and the tables that were recorded for them.

`python tests/shown_tables.py` records them again. Look at the changes with `git diff`.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

from beam_bleu.pipeline.display.table import table
from beam_bleu.pipeline.display.terminal import Screen

RECORDED = pathlib.Path(__file__).with_name("shown_tables.txt")
_START = "=== "
WIDTHS = (40, 80, 120, None)

SIGNATURE = "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:beam-bleu-1.2.3"

SYSTEMS = {
    "one system": ["atlas"],
    "three systems": ["atlas", "birch", "cobalt"],
    "twenty systems": [f"transformer-base-step-{i:05}000-beam-5-lenpen-0.6" for i in range(20)],
    "names in several scripts": [
        "东京大学机器翻译系统第一版",
        "ニューラル機械翻訳システム",
        "한국어 기계 번역 시스템",
        "u\u0308berse\u0301tzung",  # combining characters
        "\U0001f680 \U0001f44d\U0001f3fd \u2600\ufe0f",
        "plain",
    ],
}
PRESETS = [f"preset{number}" for number in range(30)]


def document(
    systems: Sequence[str], presets: Sequence[str] = (), signature: str = SIGNATURE
) -> dict[str, Any]:
    """A result document with invented numbers."""
    metric = {"metric": "bleu", "name": "BLEU", "signature": signature}
    found: dict[str, Any] = {
        "metrics": [{**metric, "sacrebleu_signature": None}],
        "segments": 2000,
        "scores": [score(system, number) for number, system in enumerate(systems)],
    }
    if presets:
        found["presets"] = [
            {
                "metric": "bleu",
                "preset": preset,
                "signature": signature.replace("exp", f"method{row}"),
                "scores": [score(system, row + 7 * i) for i, system in enumerate(systems)],
            }
            for row, preset in enumerate(presets)
        ]
    return found


def as_entries(clusters: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """The clusters of BLEU, as a document has them."""
    return [{"metric": "bleu", "systems": list(systems)} for systems in clusters]


def with_evidence(found: dict[str, Any], *, documents: int | None = None) -> dict[str, Any]:
    """The document with uncertainty, comparisons, clusters and resampling, all of them invented."""
    systems = [each["system"] for each in found["scores"]]
    baseline, *others = systems
    unit = "segment" if documents is None else "document"
    units = documents or found["segments"]
    slices = [{"domain": "news"}, {"domain": None}]
    found["scores"] += [
        {**each, "slice": of_slice, "segments": 20 + 40 * row}
        for row, of_slice in enumerate(slices)
        for each in found["scores"]
    ]
    for number, each in enumerate(found["scores"]):
        error = None if each["segments"] < 30 else 0.45 + number % 3 * 2.5
        each |= {"standard_error": error, "interval": interval(each["score"], error)}
    found["uncertainty"] = {"unit": unit, "label": None, "units": units, "confidence": 0.95}
    found["comparisons"] = [
        comparison(system, baseline, number, of_slice, segments)
        for of_slice, segments in [(None, 2000), (slices[0], 20), (slices[1], 60)]
        for number, system in enumerate(others)
    ]
    found["comparison_families"] = [
        {"metric": "bleu", "family": "corpus", "description": "", "comparisons": len(others)},
        {"metric": "bleu", "family": "slices", "description": "", "comparisons": len(others)},
    ]
    ranked = sorted(systems, key=lambda name: -found["scores"][systems.index(name)]["score"])
    found["clusters"] = as_entries([ranked[:1], ranked[1:]])
    found["resampling"] = {
        "method": "bootstrap",
        "resamples": 1000,
        "seed": 12345,
        "unit": unit,
        "generator": "",
        "scores": [
            {
                "metric": "bleu",
                "system": each,
                "mean": 20.1 + number,
                "interval": [9.06, 31.0 + number],
            }
            for number, each in enumerate(systems)
        ],
        "comparisons": [
            {
                "metric": "bleu",
                "system": each,
                "baseline": baseline,
                "difference": 1.26 - number,
                "mean": 1.2 - number,
                "interval": [0.4 - number, 2.1 - number],
                "p_value": 0.02,
                "p_sacrebleu": 0.01,
            }
            for number, each in enumerate(others)
        ],
    }
    return found


def comparison(
    system: str,
    baseline: str,
    number: int,
    of_slice: dict[str, str | None] | None = None,
    segments: int = 2000,
) -> dict[str, Any]:
    """An entry of comparisons, with invented numbers. Fewer than 30 segments give no p-value."""
    difference = 7.04 - 12.5 * number
    found: dict[str, Any] = {
        "metric": "bleu",
        "system": system,
        "baseline": baseline,
        "slice": of_slice,
        "segments": segments,
        "units": segments,
        "difference": difference,
        "standard_error": None,
        "interval": None,
        "p_value": None,
        "p_value_holm": None,
        "detectable": None,
        "family": "corpus" if of_slice is None else "slices",
    }
    if segments >= 30:
        error = 0.31 + number * 5.1
        found |= {"standard_error": error, "interval": interval(difference, error)}
        p_value = 0.0 if number == 0 else 0.021
        found |= {"p_value": p_value, "p_value_holm": 2 * p_value, "detectable": 2.8 * error}
    return found


def interval(center: float, error: float | None) -> list[float] | None:
    return None if error is None else [center - 1.96 * error, center + 1.96 * error]


def score(system: str, number: int) -> dict[str, Any]:
    """A system's entry, with invented numbers."""
    return {
        "metric": "bleu",
        "system": system,
        "slice": None,
        "segments": 2000,
        "score": 20.04 + 7 * number % 61,
        "precisions": [60.13 + 7 * number % 40, 30.5, 20.25, 9.75],
        "matches": [6013, 3050, 2025, 975],
        "totals": [10000, 9500, 9000, 8500],
        "bp": 0.9876,
        "ratio": 0.98774,
        "sys_len": 48123 + number,
        "ref_len": 48721,
    }


def drawn() -> dict[str, str]:
    """All tables, by their titles."""
    tables = {}
    for width in WIDTHS:
        screen, cells = Screen(width), f"{width or 'unlimited'} cells"
        for title, systems in SYSTEMS.items():
            tables[f"{title}, {cells}"] = table(document(systems), ["a remark"], 1, screen)
            presets = PRESETS[: 30 if title == "three systems" else 5]
            compared = table(document(systems, presets), (), 1, screen)
            tables[f"{title}, {len(presets)} presets, {cells}"] = compared
        for title in ("three systems", *(["twenty systems"] if width == 80 else [])):
            found = with_evidence(document(SYSTEMS[title]), documents=130)
            tables[f"{title} with evidence, {cells}"] = table(found, (), 1, screen)
    return tables


def recorded() -> dict[str, str]:
    """The recorded tables, by their titles."""
    parts = RECORDED.read_text().split(_START)[1:]
    return dict(part.split("\n", 1) for part in parts)


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{_START}{title}\n{text}" for title, text in drawn().items()))
