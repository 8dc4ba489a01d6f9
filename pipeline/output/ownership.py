"""Finds out whether the files next to scores.json are beam-bleu's.

Other programs also have files with names such as manifest.json, and many write a _SUCCESS. A run
must neither replace nor remove these. Only scores.json is replaced whatever is in it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.metrics import FIRST_METRIC
from beam_bleu.pipeline.output.output_folder import (
    manifest_path,
    metrics_path,
    run_record_path,
    success_path,
    totals_path,
)
from beam_bleu.pipeline.output.totals_format import FIRST_BYTES
from beam_bleu.transforms.errors import JobError

_OF_MANIFEST = frozenset(["scores_sha256", "streams"])
_OF_RECORD = frozenset(["state", "run", "exit_code", "last_success", "versions"])
"""Fields that our documents always have."""


def check_owned(output: str) -> None:
    """Checks that a run may replace and remove the files next to scores.json.

    Call it with the lock: a run that puts its result in place moves these files.

    Raises:
      JobError: one of them is not beam-bleu's, or cannot be read.
    """
    has_manifest = _document(manifest_path(output), _OF_MANIFEST) is not None
    record = record_in(output)
    check_metrics(output)
    _check_totals(output)
    if _has_foreign_success(output, has_manifest, record):
        raise JobError(
            f"{output} has a _SUCCESS that is not beam-bleu's, and the run would remove it",
            "name another folder with --output",
        )


def record_in(output: str) -> Mapping[str, Any] | None:
    """The record of the last run; None if there is none.

    Raises:
      JobError: run.json is not beam-bleu's, or cannot be read.
    """
    return _document(run_record_path(output), _OF_RECORD)


def check_metrics(output: str) -> None:
    """Checks that a run may replace metrics.prom.

    Raises:
      JobError: it is not beam-bleu's, or cannot be read.
    """
    path = metrics_path(output)
    data = _content(path)
    if data and not data.startswith(f"# HELP {FIRST_METRIC} ".encode()):
        raise _foreign(path)


def _check_totals(output: str) -> None:
    path = totals_path(output)
    data = _content(path)
    if data and data.strip(b"\0") and not data.startswith(FIRST_BYTES):
        raise _foreign(path)


def is_success_owned(output: str) -> bool:
    """Whether there is a _SUCCESS of beam-bleu's.

    Raises:
      JobError: a file cannot be read, or run.json is not beam-bleu's.
    """
    has_manifest = False
    with contextlib.suppress(JobError):
        has_manifest = _document(manifest_path(output), _OF_MANIFEST) is not None
    return storage.exists(success_path(output)) and not _has_foreign_success(
        output, has_manifest, record_in(output)
    )


def _has_foreign_success(output: str, has_manifest: bool, record: Mapping[str, Any] | None) -> bool:
    # Beside a _SUCCESS of ours there is always a manifest. If somebody has removed it, the record
    # still says that the run is done. A job without a launcher writes no record.
    data = _content(success_path(output))
    is_ours = has_manifest or (record is not None and record["state"] == "done")
    return data is not None and (data != b"" or not is_ours)


def _document(path: str, fields: frozenset[str]) -> Mapping[str, Any] | None:
    """The JSON object at a path; None if there is no file, or nothing in it.

    Raises:
      JobError: the file does not have these fields, or cannot be read.
    """
    data = _content(path)
    # After a crash of the machine, a new file can be empty or have only zero bytes.
    if data is None or not data.strip(b"\0"):
        return None
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not fields <= document.keys():
        raise _foreign(path)
    return document


def _content(path: str) -> bytes | None:
    """The bytes of a file; None if there is no file.

    Raises:
      JobError: it cannot be read, or it is not a regular file.
    """
    if not storage.exists(path):
        return None
    try:
        with storage.reading(path):
            if not storage.is_regular(path):  # to open a pipe could block
                raise _foreign(path)
            return storage.read(path)
    except JobError:
        if not storage.exists(path):  # another run has just moved it
            return None
        raise


def _foreign(path: str) -> JobError:
    return JobError(
        f"{path} is not beam-bleu's, and the run would replace it",
        "name another folder with --output, or move the file to another folder",
    )
