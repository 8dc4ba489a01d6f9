"""Folders with the results of nights that are made by hand, so that a test sees each number."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from made_results import written


def write_night(folder: Path, document: dict[str, Any], *references: str) -> Path:
    """A folder with a successful result.

    Args:
      folder: the folder.
      document: its result document.
      references: the digests of its references; without any it has no manifest.json.
    """
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
