"""Writes and reads totals.json: frozen dataclasses as JSON, decoded by the types of their fields.

An array is `{"shape", "columns", "values"}`; a mapping whose keys are not texts is a list of pairs.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beam_bleu.pipeline.folder.file_names import MANIFEST, SCORES, TOTALS, TOTALS_FORMAT
from beam_bleu.pipeline.folder.manifest import manifest, sha256, without_versions
from beam_bleu.pipeline.folder.publication import commit, prepare
from beam_bleu.pipeline.result.document import document_bytes
from beam_bleu.pipeline.saved.saved_result import (
    ResultFile,
    beside,
    is_folder,
    require_same_scores,
    result_file,
)
from beam_bleu.pipeline.saved.saved_totals import Partition, SavedTotals, versions_of
from beam_bleu.pipeline.scoring.job import Job, new_run
from beam_bleu.pipeline.scoring.totals import Totals
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import metric_type
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Compact
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.totals.closing import Rejected
from beam_bleu.transforms.version import VERSION


def encoded(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        names = fields_of(value.__class__)
        return {name: encoded(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray):
        array = Compact.of(value)
        return {
            "shape": list(array.shape),
            "columns": array.columns.tolist(),
            "values": array.values.ravel().tolist(),
        }
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: encoded(item) for key, item in value.items()}
        return [[encoded(key), encoded(item)] for key, item in value.items()]
    if isinstance(value, tuple | list):
        return [encoded(item) for item in value]
    return value


def decoded(hint: Any, value: Any, owner: Mapping[str, Any] | None = None) -> Any:
    """The inverse of `encoded`. `owner` is the JSON around the value, which names its `Metric`."""
    if value is None or hint is Any:
        return value
    if hint is Metric:
        assert owner is not None
        return decoded(metric_type(owner["name"]), value)
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        if not isinstance(value, Mapping):  # a named tuple
            value = dict(zip(fields_of(hint), value, strict=True))
        hints = fields_of(hint)
        return hint(**{name: decoded(hints[name], item, value) for name, item in value.items()})
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        alternatives = [each for each in inner if each is not type(None)]
        return decoded(alternatives[0], value, owner)
    if origin is np.ndarray:
        return _array(value)
    if origin is Mapping:
        pairs = value.items() if isinstance(value, Mapping) else value
        return {decoded(inner[0], key): decoded(inner[1], item, owner) for key, item in pairs}
    if origin is tuple:
        return tuple(decoded(inner[0], item, owner) for item in value)
    if origin is Sequence:
        return [decoded(inner[0], item, owner) for item in value]
    return value


@functools.cache
def fields_of(of: type) -> dict[str, Any]:
    """The fields of a dataclass and their types; of a metric, without its choices of texts."""
    # Named here, because known_metrics.py imports these types only for type checkers.
    hints = typing.get_type_hints(of, None, {"Metric": Metric, "TextName": TextName})
    of_text = of.text_fields() if issubclass(of, Metric) else ()
    return {
        name: hint
        for name, hint in hints.items()
        if typing.ClassVar not in (hint, typing.get_origin(hint)) and name not in of_text
    }


def _array(value: Mapping[str, Any]) -> np.ndarray:
    shape, columns = tuple(value["shape"]), np.array(value["columns"], np.int64)
    try:
        values = np.array(value["values"], np.int64)
    except OverflowError:
        values = np.array(value["values"], object)
    return Compact(shape, columns, values.reshape(shape[0] * shape[1], len(columns))).array


FORMAT_VERSION = 6


class OtherVersionsError(InputError):
    """The tokens were made with versions of libraries other than those installed here."""


def totals_bytes(saved: SavedTotals, scores: bytes) -> bytes:
    """The file: JSON in ASCII, with each part of the content on its own line."""
    content = encoded(saved)
    parts = ",\n".join(f'"{name}": {_compact(part)}' for name, part in content.items())
    frame = {
        "format": TOTALS_FORMAT,
        "version": FORMAT_VERSION,
        "scores_sha256": sha256(scores),
        "sha256": _digest(content),
    }
    first = "\n".join(f'"{name}": {_compact(value)},' for name, value in frame.items())
    return f'{{\n{first}\n"content": {{\n{parts}\n}}\n}}\n'.encode("ascii")


def saved_bytes(
    totals: Totals, job: Job, read: Sequence[Mapping[str, Any]], scores: bytes
) -> bytes:
    scorings, slicing, evidence = job.scorings, job.slicing, job.evidence
    return totals_bytes(
        SavedTotals(
            # File names and first records of `rejected` do not depend on the texts alone.
            dataclasses.replace(totals, rejected=Rejected(reasons=totals.rejected.reasons)),
            scorings,
            slicing,
            evidence,
            (Partition(evidence.partition, without_versions(read)),),
            versions_of(totals, scorings, slicing),
        ),
        scores,
    )


def _digest(content: Mapping[str, Any]) -> str:
    return sha256(_compact(content).encode("ascii"))


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def read_totals(path: str) -> SavedTotals:
    return totals_in(result_file(path, [TOTALS]))


def totals_in(file: ResultFile) -> SavedTotals:
    """The totals in a file. In the folder of a result, they must belong to its scores.json."""
    try:
        frame = json.loads(file.data)
        if frame["format"] == TOTALS_FORMAT and frame["version"] != FORMAT_VERSION:
            raise InputError(
                f"{file.path} has version {frame['version']!r} of the format, and beam-bleu "
                f"{VERSION} knows only version {FORMAT_VERSION}",
                "read it with the version of beam-bleu that wrote it, or repeat the run",
            )
        content = frame["content"]
        if frame["format"] != TOTALS_FORMAT or frame["sha256"] != _digest(content):
            raise ValueError("another format, or another digest")
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            f"{file.path} is not a totals.json of beam-bleu: it is damaged or made by another "
            "program",
            "copy it again from the folder of its run, or repeat the run with --save_totals",
        ) from error
    require_same_scores(file.path, file.data, beside(file.folder, SCORES))
    saved: SavedTotals = decoded(SavedTotals, content)
    # Signatures name the installed versions, which must be those that made the tokens.
    try:
        versions_here = versions_of(saved.totals, saved.scorings, saved.slicing)
    except ImportError as error:  # no such package is installed
        installed = str(error)
    else:
        if versions_here == saved.versions:
            return saved
        installed = f"{_shown(versions_here)} is installed here"
    raise OtherVersionsError(
        f"{file.path}: its tokens were made with {_shown(saved.versions)}, but {installed}",
        "read it where the same versions are installed",
    )


def _shown(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def write_result(saved: SavedTotals, scores: bytes, output: str, files: Sequence[str]) -> None:
    """Writes the files of a result, but never over the files from which it was made."""
    # Imported here: importing Beam takes as long as merging a year of files.
    from beam_bleu.pipeline.folder.paths import check_output, checked_path

    output = checked_path("--output", output, anywhere=False)
    check_output(output, [("FILE", _file(path)) for path in files])
    read = [stream for partition in saved.partitions for stream in partition.inputs]
    documents = {
        MANIFEST: document_bytes(manifest(read, scores, ["form = totals"])),
        TOTALS: totals_bytes(saved, scores),
        SCORES: scores,
    }
    prepare(output)
    commit(output, new_run(), documents, ran=False)


def _file(path: str) -> str:
    path = path.removeprefix("file://")
    return f"{path.rstrip('/')}/{TOTALS}" if is_folder(path) else path
