"""Reads what a report shows: a result, and the files beside it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.examples.read_examples import read_examples
from beam_bleu.pipeline.output.file_names import EXAMPLES, MANIFEST, RUN_RECORD, SCORES
from beam_bleu.pipeline.output.result_files import beside, exists, read
from beam_bleu.pipeline.result.saved_result import result_at
from beam_bleu.transforms.errors import InputError, joined

_REMEDY = "run it again, or remove this file to make the report without it"


@dataclasses.dataclass(frozen=True)
class ReportedResult:
    """A result, with what the files beside it say.

    Attributes:
      name: its path, as the user gave it, for messages.
      document: the result document.
      examples: the lines of examples.jsonl; none if there is no such file.
      manifest: what was read; None if there is no manifest.json.
      run: the record of the run; None if there is none.
    """

    name: str
    document: Mapping[str, Any]
    examples: Sequence[Mapping[str, Any]] = ()
    manifest: Mapping[str, Any] | None = None
    run: Mapping[str, Any] | None = None


def reported_result(path: str, *, must_be_last: bool = True) -> ReportedResult:
    """The result at a path.

    Args:
      path: a scores.json, a totals.json, or a folder with one. Only of a folder, the other files
        are read: beside a file, they can be those of another result.
      must_be_last: whether the folder must have the file _SUCCESS.

    Raises:
      InputError: there is no such result, or one of its files cannot be read, is damaged, or
        belongs to another result.
    """
    result = result_at(path, must_be_last=must_be_last)
    folder = result.name.rstrip("/")
    if not exists(f"{folder}/{SCORES}"):
        return ReportedResult(result.name, result.document)
    manifest = _beside(folder, MANIFEST, _manifest)
    examples = read_examples(folder) or ()
    measured = {part["metric"] for part in result.document["metrics"]}
    if others := {example["metric"] for example in examples} - measured:
        raise InputError(
            f"{folder}/{EXAMPLES} has examples of {joined(sorted(others))}, which the result does "
            "not have",
            _REMEDY,
        )
    return ReportedResult(
        result.name, result.document, examples, manifest, _beside(folder, RUN_RECORD, _run_record)
    )


def _beside(folder: str, name: str, parsed: Callable[[bytes], Any]) -> Any:
    """What a file in the folder of a result says; None if there is no such file.

    Raises:
      InputError: it is damaged.
    """
    path = beside(f"{folder}/{SCORES}", name)
    if not exists(path):
        return None
    data = read(path)
    try:
        return parsed(data)
    except _DamagedError as error:
        raise InputError(f"{path} is not as beam-bleu writes it: {error}", _REMEDY) from error


class _DamagedError(ValueError):
    """A file is damaged."""


def _manifest(data: bytes) -> Mapping[str, Any]:
    manifest = _object(data)
    _require(manifest, {"streams": list})
    stream_fields = {
        "role": str,
        "system": (str, type(None)),
        "pattern": str,
        "files": list,
        "lines": int,
        "bytes": int,
        "digest": str,
    }
    for stream in manifest["streams"]:
        _require(stream, stream_fields)
    return manifest


def _run_record(data: bytes) -> Mapping[str, Any]:
    record = _object(data)
    _require(record, {"versions": dict})
    _require(record["versions"], {"beam_bleu": str})
    return record


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        value: Mapping[str, Any] = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _DamagedError(str(error)) from error
    return value


def _require(value: object, fields: Mapping[str, Any]) -> None:
    """Checks that a value of JSON is an object with these fields.

    Raises:
      _DamagedError: it is not.
    """
    if not isinstance(value, dict):
        raise _DamagedError("it is not an object of JSON")
    for name, kinds in fields.items():
        if name not in value:
            raise _DamagedError(f"it has no {name}")
        if not isinstance(value[name], kinds) or isinstance(value[name], bool):
            raise _DamagedError(f"its {name} is {value[name]!r}")
