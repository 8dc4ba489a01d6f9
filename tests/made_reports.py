"""A result folder that is made by hand, with everything that a report can show."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from made_results import entry, result

HOSTILE = (
    '<script>alert("x")</script>',
    "\u202eright to left\u2069",
    "escape \x1b[2J and \x00 NUL",
    "]]> --> & ' \" </title></style>",
    "long " * 2000,
)
"""Names and texts that a page must show as text."""


def of_two_systems(names: Sequence[str] = ("atlas", "birch"), slices: int = 3) -> dict[str, Any]:
    """A document with slices by domain and by length, comparisons, clusters and distributions."""
    first, *others = names
    step = 28 / max(len(names), 4)  # so that all scores are above 0
    keys: list[Any] = [None]
    keys += [{"domain": f"domain {number}"} for number in range(slices)]
    keys += [{"length": name} for name in ("0-9", "10-19", "20+")]
    scores = []
    for place, key in enumerate(keys):
        for number, name in enumerate(names):
            score = 50.0 - step * number - place % 13
            ends = [score - 2.5, score + 2.5]
            scores.append({**entry(name, score, 1.25, key), "interval": ends})
    comparisons = [
        {
            "system": name,
            "baseline": first,
            "slice": key,
            "segments": 100,
            "units": 100,
            "difference": -step * number,
            "standard_error": 1.0,
            "interval": [-step * number - 2, -step * number + 2],
            "p_value": 0.0001,
            "p_value_holm": 0.0002 if place % 2 == 0 else 0.2,
            "detectable": 2.8,
            "family": "corpus" if key is None else "slices",
        }
        for place, key in enumerate(keys)
        for number, name in enumerate(others, 1)
    ]
    return result(
        *scores,
        comparisons=comparisons,
        comparison_families=[
            {"family": family, "description": family, "comparisons": len(keys) * len(others)}
            for family in ("corpus", "slices")
        ],
        clusters=[{"systems": [name]} for name in names],
        distributions=[
            {"system": name, "edges": [0, 25, 50, 75, 100], "counts": [10, 40, 45, 5]}
            for name in names
        ],
        warnings=[],
    ) | {
        "uncertainty": {"unit": "segment", "units": 100, "confidence": 0.95},
        "segments": 100,
        "counters": {"segments": 100, "empty_candidates": 2, "bytes": 12345},
    }


def example(kind: str, text: str = "a black cat", **more: Any) -> dict[str, Any]:
    """A line of the file of examples."""
    entry = {
        "kind": kind,
        "metric": "bleu",
        "system": "birch",
        "baseline": "atlas" if kind in ("gain", "loss") else None,
        "index": 7,
        "id": None,
        "score": 12.5,
        "baseline_score": 50.0 if kind in ("gain", "loss") else None,
        "difference": -37.5 if kind in ("gain", "loss") else None,
        "candidate": text,
        "baseline_candidate": "a cat sat" if kind in ("gain", "loss") else None,
        "references": ["a cat sat", "the cat sat"],
        "labels": {"domain": "news"},
        "kept": {"source": "eine Katze"},
        **more,
    }
    candidates = {entry["system"]: text}
    if entry["baseline"] is not None:
        candidates = {entry["baseline"]: "a cat sat", **candidates}
    return {"candidates": candidates, **entry}


def written_result(
    folder: Path, document: dict[str, Any], examples: Sequence[dict[str, Any]] = ()
) -> Path:
    """The folder of a run with this result."""
    folder.mkdir(parents=True)
    scores = json.dumps(document).encode()
    (folder / "scores.json").write_bytes(scores)
    stream = {
        "role": "references",
        "system": None,
        "pattern": "ref.txt",
        "digest": f"lines-murmur3-128:{hashlib.md5(scores).hexdigest()}",
        "lines": 100,
        "bytes": 5000,
        "files": [{"path": "ref.txt"}],
    }
    lines = "".join(f"{json.dumps(one)}\n" for one in examples).encode()
    manifest = {
        "scores_sha256": hashlib.sha256(scores).hexdigest(),
        "streams": [stream],
        "data_files": [],
        "examples": {"number": 1, "sha256": hashlib.sha256(lines).hexdigest()},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    versions = {"beam_bleu": "0.1.0", "python": "3.11.7", "platform": "Linux of this machine"}
    (folder / "run.json").write_text(
        json.dumps({"versions": versions, "start": "2026-11-20T01:00:00Z"})
    )
    if examples:
        (folder / "examples.jsonl").write_bytes(lines)
    (folder / "_SUCCESS").touch()
    return folder
