"""Finds out whether a job asks for what a result was made of: the same files, in the same way.

manifest.json keeps both: under `request` and `input`, what the job was asked for and asked to read,
and for each file its size and its version. So nothing has to be read to compare them.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.command_line.temporary_files import is_pipe
from beam_bleu.pipeline.job import Job
from beam_bleu.transforms.errors import BleuError, joined
from beam_bleu.transforms.pairing.files.found_files import find_files, version_of
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.wiring.filesystems import is_local

DECIDE_NOTHING = {
    "label": "it names a stream in messages",
    "pipe": "it names a stream in messages; the text of a pipe is never the same",
    "regex": "it follows from the pattern of a label",
    "range_bytes": "results do not depend on the division of the work",
    "row_folder": "it is where the rows of a join wait",
    "most": "with more slices there is no result",
    "save_totals": "whether totals.json is there is looked up in the folder",
}
"""The fields of sources and definitions that do not decide what is read or scored, and why."""


def described_request(job: Job) -> list[str]:
    """What decides the result of a job, apart from its input: "NAME = VALUE" of each choice.

    For example "metrics bleu corpus smooth_method = exp".
    """
    # If only the input shows the names of the systems, nothing is known about the first one.
    baseline = job.evidence.baseline or next(iter(job.source.systems), None)
    return _described(
        {
            "metrics": job.scorings,
            "lengths": job.text.name,
            "slices": job.slicing,
            "evidence": dataclasses.replace(job.evidence, baseline=baseline),
            "allow": job.allow,
        }
    )


def described_input(source: Source) -> list[str]:
    """What a source was asked to read: "NAME = VALUE" of its form and of each of its fields.

    For example "form = LineParallel", "systems 1 = atlas", "references 1 = /data/ref.txt".
    """
    return _described(source)


def _described(value: Any) -> list[str]:
    return [f"{name} = {part}" for name, part in _fields(value)]


def _fields(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """(name, value) of everything in a value that has no parts."""
    parts: Iterable[tuple[object, Any]]
    if isinstance(value, Stream):
        shown = value.shown(value.pattern)
        is_file = is_local(shown) and not value.pipe and table_kind(shown) is None
        yield name, os.path.abspath(shown) if is_file else shown
        return
    if dataclasses.is_dataclass(value):
        kept = [
            field.name for field in dataclasses.fields(value) if field.name not in DECIDE_NOTHING
        ]
        parts = [
            ("form", type(value).__name__),
            *((attribute, getattr(value, attribute)) for attribute in kept),
        ]
    elif isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value, 1)
    else:
        assert value is None or isinstance(value, str | int | float), value
        yield name, value if isinstance(value, str) else json.dumps(value)
        return
    for key, part in parts:
        yield from _fields(part, f"{name} {key}".lstrip())


def differences(job: Job, manifest: Mapping[str, Any]) -> str:
    """How what a job asks for differs from what a result was made of; "" if it does not.

    Args:
      job: the job.
      manifest: the manifest of the result.
    """
    pipes = [label for label, pattern in job.source.inputs if is_pipe(pattern)]
    if pipes:
        return f"{pipes[0]} is a pipe, whose text cannot be compared"
    try:
        files = [*_files_now(job.source)]
    except BleuError as error:
        return error.cause
    here = [*described_request(job), *described_input(job.source), *files]
    there = [*manifest["request"], *manifest["input"], *_files_then(manifest["streams"])]
    only = {
        "only there": [line for line in there if line not in {*here}],
        "only here": [line for line in here if line not in {*there}],
    }
    return "; ".join(f"{where}: {joined(lines)}" for where, lines in only.items() if lines)


def _files_then(streams: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for place, stream in enumerate(streams, 1):
        for file in stream["files"]:
            name = _name(file["path"], stream["pattern"])
            yield _file(place, name, file["bytes"], file.get("version"))


def _files_now(source: Source) -> Iterator[str]:
    for place, (label, pattern) in enumerate(source.inputs, 1):
        stream = Stream(label, pattern)
        for file in find_files(stream):
            yield _file(place, _name(file.path, pattern), file.size, version_of(stream, file.path))


def _file(place: int, name: str, size: int, version: str | None) -> str:
    return f"input {place} file {name} of {size} bytes, version {version}"


def _name(path: str, pattern: str) -> str:
    """The part of a file's path that its pattern leaves open, and its name.

    It does not depend on the folder in which a command was called, as a relative path does.
    """
    if not is_local(path):
        return path
    fixed = os.path.dirname(re.split(r"[*?\[]", pattern, maxsplit=1)[0])
    return os.path.relpath(path, fixed or os.curdir)
