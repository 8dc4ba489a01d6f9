"""Finds out whether a job has already been done: its result is in its output folder.

manifest.json has, under `request` and `input`, what the job was asked for and asked to read, and
for each file its size and its version. So nothing has to be read to compare them.
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
from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import EXAMPLES, SUCCESS, TOTALS
from beam_bleu.pipeline.output.locking import locked
from beam_bleu.pipeline.output.manifest import belongs_to
from beam_bleu.pipeline.output.ownership import data_files
from beam_bleu.pipeline.output.publication import result_in
from beam_bleu.transforms.errors import BleuError, InputError, JobError, UsageError, joined
from beam_bleu.transforms.pairing.files.found_files import find_files, version_of
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.pairing.paired import Source
from beam_bleu.transforms.wiring.filesystems import is_local, join

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


def existing_result(job: Job) -> bytes | None:
    """The result that a run keeps instead of scoring again; None if the job must run.

    A result that is not complete is never kept.

    Raises:
      JobError: there is a result, and the run must fail then; or the folder cannot be read.
      UsageError: there is a result that is not the one for which the job asks.
    """
    if job.if_exists == "replace":
        return None
    with locked(job.output):  # a run that is putting its result in place holds it
        is_marked = storage.exists(join(job.output, SUCCESS))
        result = result_in(job.output) if is_marked else None
        if result is None or not _is_whole(job.output, result[1]):
            return None
    if job.if_exists == "fail":
        raise JobError(
            f"{job.output} already has a complete result",
            "name another folder with --output, or choose --if_exists skip or replace",
        )
    scores, manifest = result
    try:
        different = _difference(job, manifest) or _missing(job, scores, manifest)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{job.output}: manifest.json does not have the content that this version of beam-bleu "
            f"writes: {error!r}",
            "name another folder, or choose --if_exists replace",
        ) from error
    if different:
        raise UsageError(
            f"{job.output} already has a different result from what this command would write: "
            f"{different}",
            "name another folder with --output, or choose --if_exists replace",
        )
    return scores


def _is_whole(output: str, manifest: Mapping[str, Any]) -> bool:
    """Whether the files are there that the manifest of a result names."""
    has_examples = "examples" not in manifest or storage.exists(join(output, EXAMPLES))
    return has_examples and {*manifest.get("data_files", ())} <= {*data_files(output)}


def described_request(job: Job) -> list[str]:
    """What decides the result of a job, apart from its input: "NAME = VALUE" of each choice.

    For example "metrics bleu corpus smooth_method = exp".
    """
    # If only the input shows the names of the systems, nothing is known about the first one.
    baseline = job.evidence.baseline or next(iter(job.source.systems), None)
    choices = {
        "metrics": job.scorings,
        "lengths": job.metrics.lengths.name,
        "slices": job.slicing,
        "evidence": dataclasses.replace(job.evidence, baseline=baseline),
        "allow": job.allow,
    }
    return [*_described(choices)]


def described_input(source: Source) -> list[str]:
    """What a source was asked to read: "NAME = VALUE" of its form and of each of its fields.

    For example "form = LineParallel", "systems 1 = atlas", "references 1 = /data/ref.txt".
    """
    return [*_described(source)]


def _described(value: Any, name: str = "") -> Iterator[str]:
    parts: Iterable[tuple[object, Any]]
    if isinstance(value, Stream):
        shown = value.shown(value.pattern)
        is_file = is_local(shown) and not value.pipe and table_kind(shown) is None
        yield f"{name} = {os.path.abspath(shown) if is_file else shown}"
        return
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        kept = [attribute for attribute in names if attribute not in DECIDE_NOTHING]
        form = ("form", type(value).__name__)
        parts = [form, *((attribute, getattr(value, attribute)) for attribute in kept)]
    elif isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value, 1)
    else:
        assert value is None or isinstance(value, str | int | float), value
        yield f"{name} = {value if isinstance(value, str) else json.dumps(value)}"
        return
    for key, part in parts:
        yield from _described(part, f"{name} {key}".lstrip())


def _difference(job: Job, manifest: Mapping[str, Any]) -> str:
    """How what a job asks for differs from what a result was made of; "" if it does not."""
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
        "only there": sorted({*there} - {*here}, key=there.index),
        "only here": sorted({*here} - {*there}, key=here.index),
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


def _missing(job: Job, scores: bytes, manifest: Mapping[str, Any]) -> str:
    """What the job would write and is not there, although it is the same result; "" for nothing."""
    if job.examples and manifest.get("examples", {}).get("number") != job.examples:
        return f"it does not have --examples {job.examples}"
    if job.evidence.save_totals:
        path = join(job.output, TOTALS)
        with storage.reading(path):
            if not storage.exists(path) or not belongs_to(storage.read(path), scores):
                return f"there is no {TOTALS} of this result, and --save_totals asks for it"
    return ""
