"""Finds out whether a job has already been done: its result is in its output folder.

manifest.json has the digest of what decides a result: what the job was asked for (`request`), and
the size and version of each file that it has read. So no text is read to compare them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.command_line.temporary_files import is_pipe
from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import EXAMPLES, SUCCESS, TOTALS
from beam_bleu.pipeline.output.locking import locked
from beam_bleu.pipeline.output.manifest import described, request_digest
from beam_bleu.pipeline.output.publication import data_files, result_in
from beam_bleu.transforms.errors import JobError, UsageError, joined
from beam_bleu.transforms.pairing.files.found_files import find_files, version_of
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.wiring.filesystems import join


def existing_result(job: Job) -> bytes | None:
    """The complete result that a run keeps; None if the job must run."""
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
    difference = _difference(job, manifest)
    if difference:
        raise UsageError(
            f"{job.output} already has a different result from what this command would write: "
            f"{difference}",
            "name another folder with --output, or choose --if_exists replace",
        )
    return scores


def _is_whole(output: str, manifest: Mapping[str, Any]) -> bool:
    has_totals = "evidence save_totals = true" in manifest.get("request", ())
    named = {EXAMPLES: "examples" in manifest, TOTALS: has_totals}
    are_there = (storage.exists(join(output, name)) for name in named if named[name])
    return all(are_there) and {*manifest.get("data_files", ())} <= {*data_files(output)}


def requested(job: Job) -> list[str]:
    """What decides the result of a job, except for the files.

    For example "metrics bleu corpus smooth_method = exp", "input systems 1 = atlas".
    """
    # If only the input shows the names of the systems, nothing is known about the first one.
    baseline = job.evidence.baseline or next(iter(job.source.systems), None)
    choices = {
        "metrics": job.scorings,
        "lengths": job.metrics.lengths.name,
        "slices": job.slicing,
        "evidence": dataclasses.replace(job.evidence, baseline=baseline),
        "examples": job.examples,
        "allow": job.allow,
        "input": job.source,
    }
    return [*described(choices)]


def _difference(job: Job, manifest: Mapping[str, Any]) -> str:
    pipes = [stream.label for stream in job.source.inputs if is_pipe(stream.pattern)]
    if pipes:
        return f"{pipes[0]} is a pipe, whose text cannot be compared"
    request = requested(job)
    digest = request_digest(request, map(_files, job.source.inputs))
    if manifest.get("request_sha256") == digest:
        return ""
    former = manifest.get("request", [])
    changed = [line for line in request if line not in former]
    gone = [line for line in former if line not in request]
    if changed or gone:
        return f"only here: {joined(changed) or 'nothing'}; only there: {joined(gone) or 'nothing'}"
    return "the names, sizes or versions of the files that were read are others now"


def _files(stream: Stream) -> list[tuple[str, int, str | None]]:
    return [(file.path, file.size, version_of(stream, file.path)) for file in find_files(stream)]
