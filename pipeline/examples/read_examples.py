"""Reads examples.jsonl, and checks that it is what a run wrote."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.output.file_names import EXAMPLES, MANIFEST
from beam_bleu.pipeline.output.manifest import names_examples
from beam_bleu.pipeline.output.result_files import exists, read
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.examples.example import EXAMPLE_KINDS

Entry = Mapping[str, Any]
"""A line of examples.jsonl; docs/examples.md explains its keys."""

_Types = tuple[type, ...]

_TEXT: _Types = (str, type(None))
_NUMBER: _Types = (int, float, type(None))

TYPES: Mapping[str, _Types] = {
    "kind": (str,),
    "metric": (str,),
    "system": (str,),
    "baseline": _TEXT,
    "index": (int,),
    "id": _TEXT,
    "score": _NUMBER,
    "baseline_score": _NUMBER,
    "difference": _NUMBER,
    "candidate": _TEXT,
    "baseline_candidate": _TEXT,
    "references": (list,),
    "labels": (dict,),
    "kept": (dict,),
}
"""The keys of a line, in their order, and the types that their values can have."""


def read_examples(folder: str) -> list[Entry] | None:
    """The examples of a result; None if it has none.

    Args:
      folder: the folder of the result.

    Raises:
      InputError: examples.jsonl cannot be read, is damaged, or belongs to another result.
    """
    path, manifest = (f"{folder.rstrip('/')}/{name}" for name in (EXAMPLES, MANIFEST))
    if not exists(path):
        return None
    data = read(path)
    if not exists(manifest):
        raise InputError(
            f"{folder} has no {MANIFEST}, which has the SHA-256 of {EXAMPLES}",
            f"copy it, too, or remove {path}",
        )
    if not names_examples(read(manifest), data):
        raise InputError(
            f"{path} does not belong to the {MANIFEST} beside it: its SHA-256 does not match",
            "run it again with --examples, or copy the files of one result again",
        )
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise _damaged(path, data.count(b"\n", 0, error.start) + 1) from error
    if lines.pop() != "":
        raise _damaged(path, len(lines) + 1)
    return [_entry(path, number, line) for number, line in enumerate(lines, 1)]


def _entry(path: str, number: int, line: str) -> Entry:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, number) from error
    if not isinstance(entry, dict) or not _is_right(entry):
        raise _damaged(path, number)
    return entry


def _is_right(entry: Mapping[str, Any]) -> bool:
    """Whether the values of a line have their types."""
    if not all(
        key in entry and isinstance(entry[key], types) and not isinstance(entry[key], bool)
        for key, types in TYPES.items()
    ):
        return False
    return (
        entry["kind"] in EXAMPLE_KINDS
        and all(isinstance(text, str) for text in entry["references"])
        and all(
            isinstance(value, _TEXT) for key in ("labels", "kept") for value in entry[key].values()
        )
        and _has_right_numbers(entry)
    )


def _has_right_numbers(entry: Entry) -> bool:
    """Whether the numbers of a line are possible, and those are there that its kind needs."""
    scores = [entry[name] for name in ("score", "baseline_score", "difference")]
    return (
        0 <= entry["index"] < 1 << 63
        and all(score is None or abs(score) <= sys.float_info.max for score in scores)
        and not (EXAMPLE_KINDS[entry["kind"]].compares and None in (*scores, entry["baseline"]))
    )


def _damaged(path: str, number: int) -> InputError:
    return InputError(
        f"{path} line {number} is not an example of beam-bleu, or it is damaged",
        "run it again with --examples, or copy the file again",
    )
