"""Finds out whether a job has already been done: the result is in its output folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from beam_bleu.pipeline.evidence import Evidence
from beam_bleu.pipeline.gates.results import definition, definition_of
from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.evidence_parts import unit_of
from beam_bleu.pipeline.output.locking import locked
from beam_bleu.pipeline.output.manifest import belongs_to
from beam_bleu.pipeline.output.output_folder import (
    manifest_path,
    scores_path,
    success_path,
    totals_path,
)
from beam_bleu.transforms.definition.signature import signature
from beam_bleu.transforms.definition.slicing import CROSS
from beam_bleu.transforms.errors import JobError, UsageError

_NONE = "none"


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
    data = _complete_result(job.output)
    if data is None:
        return None
    if job.if_exists == "fail":
        raise JobError(
            f"{job.output} already has a complete result",
            "name another folder with --output, or choose --if_exists skip or replace",
        )
    differences = list(differing(json.loads(data), job))
    if job.evidence.save_totals and not storage.exists(totals_path(job.output)):
        differences.append("there is no totals.json, and --save_totals asks for it")
    if differences:
        raise UsageError(
            f"{job.output} already has another result than this command would write: "
            + "; ".join(differences),
            "name another folder with --output, or choose --if_exists replace",
        )
    return data


def _complete_result(output: str) -> bytes | None:
    """The bytes of scores.json; None if the folder has no complete result of beam-bleu."""
    for path in (success_path(output), manifest_path(output), scores_path(output)):
        if not storage.exists(path):
            return None
    with storage.reading(output):
        data = storage.read(scores_path(output))
        return data if belongs_to(storage.read(manifest_path(output)), data) else None


def differing(document: Mapping[str, Any], job: Job) -> Iterator[str]:
    """What a result has and what a job asks for, where that differs.

    The texts are not compared: that is what the label of a partition is for.
    """
    asked = _asked(job)
    for what, found in _found(document).items():
        if what in asked and asked[what] != found:
            yield f"{what} {found} there, {asked[what]} here"


def _asked(job: Job) -> dict[str, str]:
    """The parts of a result that follow from a job, as messages show them."""
    scorings, evidence = job.scorings, job.evidence
    asked = {
        "partition": evidence.partition or _NONE,
        "definition": definition_of(
            signature(scorings.text, scorings.corpus, 0, 0), scorings.languages
        ),
        "slices by": _listed([CROSS.join(item) for item in job.slicing.items]),
        "presets": _listed([*scorings.presets]),
        "segment scores": _NONE,
        **_evidence(evidence),
    }
    if scorings.segments is not None:
        asked["segment scores"] = definition_of(
            signature(scorings.text, scorings.segments, 0, 0), scorings.languages
        )
    # The systems of records can be known only after the records are read.
    if job.source.systems:
        asked["systems"] = _listed([*job.source.systems])
    return asked


def _evidence(evidence: Evidence) -> dict[str, str]:
    resampling = evidence.resampling
    return {
        "standard errors by": unit_of(evidence) if evidence.uncertainty else _NONE,
        "resampling": _NONE
        if resampling is None
        else f"{resampling.method}, {resampling.number}, seed {resampling.seed}",
    }


def _found(document: Mapping[str, Any]) -> dict[str, str]:
    """The same parts of a result document."""
    whole = [each["system"] for each in document["scores"] if each["slice"] is None]
    of_slices = [tuple(each["slice"]) for each in document["scores"] if each["slice"] is not None]
    segments, resampling = document.get("segment_scores"), document.get("resampling")
    return {
        "partition": document.get("partition", _NONE),
        "systems": _listed(whole or [each["system"] for each in document["macro_average"]]),
        "definition": definition(document),
        "slices by": _listed([CROSS.join(labels) for labels in dict.fromkeys(of_slices)]),
        "presets": _listed([each["preset"] for each in document.get("presets", ())]),
        "segment scores": _NONE if segments is None else definition({**segments, "scores": ()}),
        "standard errors by": document.get("uncertainty", {}).get("unit", _NONE),
        "resampling": _NONE
        if resampling is None
        else f"{resampling['method']}, {resampling['resamples']}, seed {resampling['seed']}",
    }


def _listed(names: list[str]) -> str:
    return ", ".join(names) or _NONE
