"""Result documents that are made by hand, so that each number of a test can be seen in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beam_bleu.transforms.score.differences import interval

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:beam-bleu-0.1.0"


def entry(
    system: str,
    score: float,
    standard_error: float | None = 0.5,
    of_slice: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """The score of a system. Its counts follow from the score."""
    return {
        "metric": "bleu",
        "system": system,
        "slice": of_slice,
        "segments": 100,
        "score": score,
        "precisions": [score] * 4,
        "matches": [round(score * 1000)] * 4,
        "totals": [100_000] * 4,
        "bp": 1.0,
        "ratio": 1.0,
        "sys_len": 1000,
        "ref_len": 1000,
        "standard_error": standard_error,
        "interval": standard_error and interval(score, standard_error),
    }


def result(*entries: dict[str, Any], signature: str = SIGNATURE, **more: Any) -> dict[str, Any]:
    """A document with these scores."""
    metric = {"metric": "bleu", "name": "BLEU", "signature": signature}
    return {
        "format": 2,
        "metrics": [{**metric, "sacrebleu_signature": None}],
        "scores": list(entries),
        "counters": {},
        "warnings": [],
        **{key: of_bleu(value) for key, value in more.items()},
    }


def of_bleu(value: Any) -> Any:
    """A value in which each entry of a list names its metric."""
    if isinstance(value, list):
        return [{"metric": "bleu", **each} for each in value]
    return value


def written(path: Path, document: dict[str, Any]) -> Path:
    """A file with a document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def write_night(folder: Path, document: dict[str, Any], *references: str) -> Path:
    """A folder with a result; without digests of its references, it has no manifest.json."""
    scores = written(folder / "scores.json", {"segments": 100, **document}).read_bytes()
    (folder / "_SUCCESS").touch()
    if references:
        streams = [{"role": "references", "digest": digest} for digest in references]
        manifest = {"scores_sha256": hashlib.sha256(scores).hexdigest(), "streams": streams}
        (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def write_run(folder: Path, state: str, start: str, message: str | None = None) -> Path:
    """A folder with the run.json of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    record = {"state": state, "start": start, "message": message}
    (folder / "run.json").write_text(json.dumps(record))
    return folder
