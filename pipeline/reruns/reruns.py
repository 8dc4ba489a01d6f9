"""Finds out whether a job has already been done: the result is in its output folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import SUCCESS, TOTALS
from beam_bleu.pipeline.output.locking import locked
from beam_bleu.pipeline.output.manifest import belongs_to
from beam_bleu.pipeline.output.ownership import data_files
from beam_bleu.pipeline.output.publication import result_in
from beam_bleu.pipeline.reruns.request import differences
from beam_bleu.transforms.errors import InputError, JobError, UsageError
from beam_bleu.transforms.wiring.filesystems import join


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
        result = _complete_result(job.output)
    if result is None:
        return None
    data, manifest = result
    if job.if_exists == "fail":
        raise JobError(
            f"{job.output} already has a complete result",
            "name another folder with --output, or choose --if_exists skip or replace",
        )
    try:
        different = differences(job, manifest) or _missing(job, data, manifest)
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
    return data


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


def _complete_result(output: str) -> tuple[bytes, Mapping[str, Any]] | None:
    """The bytes of scores.json, and the manifest; None if there is no complete result."""
    result = result_in(output) if storage.exists(join(output, SUCCESS)) else None
    if result is None or {*result[1].get("data_files", ())} - {*data_files(output)}:
        return None
    return result
