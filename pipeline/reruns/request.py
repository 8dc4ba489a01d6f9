"""Finds out whether a job asks for what a result was made of: the same files, in the same way.

manifest.json keeps both: under `request` and `input`, what the job was asked for and asked to read,
and for each file its size and its version. So nothing has to be read to compare them.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beam_bleu.pipeline.command_line.temporary_files import is_pipe
from beam_bleu.pipeline.job import Job
from beam_bleu.transforms.errors import BleuError
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

_EQUALS = " = "
_NONE = "none"

_File = tuple[int, str, int, str | None]
"""The place of a file's stream, and the name, the bytes and the version of the file."""


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
    return [f"{name}{_EQUALS}{part}" for name, part in _fields(value)]


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


def request_differences(job: Job, manifest: Mapping[str, Any]) -> Iterator[str]:
    """How what a job asks for differs from what a result was made of.

    Args:
      job: the job.
      manifest: the manifest of the result.
    """
    if "request" not in manifest:
        yield "an older version wrote it, and did not record what was asked for"
        return
    pipes = [label for label, pattern in job.source.inputs if is_pipe(pattern)]
    if pipes:
        yield f"{pipes[0]} is a pipe, whose text cannot be compared"
        return
    there, here = (
        dict(line.split(_EQUALS, 1) for line in described)
        for described in (
            [*manifest["request"], *manifest["input"]],
            [*described_request(job), *described_input(job.source)],
        )
    )
    differing = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    for key in differing:
        yield f"{key} {there.get(key, _NONE)} there, {here.get(key, _NONE)} here"
    if not differing:
        yield from _changed_files(job.source, manifest)


def _changed_files(source: Source, manifest: Mapping[str, Any]) -> Iterator[str]:
    before: set[_File] = {
        (place, _name(file["path"], stream["pattern"]), file["bytes"], file.get("version"))
        for place, stream in enumerate(manifest["streams"])
        for file in stream["files"]
    }
    now: set[_File] = set()
    for place, (label, pattern) in enumerate(source.inputs):
        stream = Stream(label, pattern)
        try:
            for file in find_files(stream):
                name, version = _name(file.path, pattern), version_of(stream, file.path)
                now.add((place, name, file.size, version))
        except BleuError as error:
            yield error.cause
            return
    gone, new = ({file[1] for file in files} for files in (before - now, now - before))
    for name in sorted(gone | new):
        change = "is new" if name not in gone else "is gone" if name not in new else "has changed"
        yield f"the file {name} {change}"


def _name(path: str, pattern: str) -> str:
    """The part of a file's path that its pattern leaves open, and its name.

    It does not depend on the folder in which a command was called, as a relative path does.
    """
    if not is_local(path):
        return path
    fixed = os.path.dirname(re.split(r"[*?\[]", pattern, maxsplit=1)[0])
    return os.path.relpath(path, fixed or os.curdir)
