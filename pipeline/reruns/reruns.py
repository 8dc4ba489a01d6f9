"""Finds out whether a job has already been done: the result is in its output folder."""

from __future__ import annotations

import contextlib
import json

from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.locking import locked
from beam_bleu.pipeline.output.manifest import belongs_to, names_examples
from beam_bleu.pipeline.output.output_folder import (
    examples_path,
    manifest_path,
    scores_path,
    success_path,
    totals_path,
)
from beam_bleu.pipeline.reruns.request import request_differences
from beam_bleu.transforms.errors import BleuError, InputError, JobError, UsageError, joined

_SHOWN = 5
"""Another metric alone differs in a dozen fields."""


class ResultIsThereError(Exception):
    """Another run has written the result after this one has looked for it.

    Attributes:
      document: the bytes of its scores.json.
    """

    def __init__(self, document: bytes) -> None:
        super().__init__(document)
        self.document = document


def existing_result(job: Job) -> bytes | None:
    """The result that a run keeps instead of scoring again; None if the job must run.

    A result that is not complete is never kept.

    Raises:
      JobError: there is a result, and the run must fail then; or the folder cannot be read.
      UsageError: there is a result that is not the one for which the job asks.
    """
    if job.if_exists == "replace":
        return None
    # A run that is putting its result in place holds the lock.
    with locked(job.output):
        return _kept(job)


def require_none(job: Job) -> None:
    """Looks for a result again, when a run is about to begin. The caller must hold the lock.

    Raises:
      JobError, UsageError: as `existing_result` does.
      ResultIsThereError: there is a result now, and the run keeps it.
    """
    data = _kept(job)
    if data is not None:
        raise ResultIsThereError(data)


def _kept(job: Job) -> bytes | None:
    if job.if_exists == "replace":
        return None
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
        differences = list(request_differences(job, json.loads(manifest)))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{job.output}: manifest.json does not have the content that beam-bleu writes: "
            f"{error!r}",
            "find out what has changed it, name another folder, or choose --if_exists replace",
        ) from error
    if job.evidence.save_totals and (missing := _missing_totals(job.output, data)):
        differences.append(missing)
    if job.examples and (missing := _missing_examples(job.output, manifest, job.examples)):
        differences.append(missing)
    if differences:
        if len(differences) > _SHOWN:
            differences[_SHOWN:] = [f"and {len(differences) - _SHOWN} more"]
        raise UsageError(
            f"{job.output} already has a different result from what this command would write: "
            + joined(differences, separator="; "),
            "name another folder with --output, or choose --if_exists replace",
        )
    return data


def _missing_totals(output: str, scores: bytes) -> str:
    """Why the folder does not have the saved totals of this scores.json; "" if it has."""
    path = totals_path(output)
    if not storage.exists(path):
        return "there is no totals.json, and --save_totals asks for it"
    is_same = False
    with contextlib.suppress(BleuError), storage.reading(output):
        is_same = belongs_to(storage.read(path), scores)
    return "" if is_same else "totals.json is not that of scores.json"


def _missing_examples(output: str, manifest: bytes, number: int) -> str:
    """Why the folder does not have so many examples of a kind; "" if it has."""
    path = examples_path(output)
    if not storage.exists(path):
        return "there is no examples.jsonl, and --examples asks for it"
    with storage.reading(output):
        is_same = names_examples(manifest, storage.read(path), number)
    return "" if is_same else f"examples.jsonl is not what --examples {number} writes"


def _complete_result(output: str) -> tuple[bytes, bytes] | None:
    """The bytes of scores.json and of manifest.json; None if there is no complete result."""
    for path in (success_path(output), manifest_path(output), scores_path(output)):
        if not storage.exists(path):
            return None
    with storage.reading(output):
        data = storage.read(scores_path(output))
        manifest = storage.read(manifest_path(output))
        return (data, manifest) if belongs_to(manifest, data) else None
