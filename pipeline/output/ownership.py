"""Finds out which files in an output folder are beam-bleu's: documents and part files.

Other programs also have files with names such as manifest.json, and many write a _SUCCESS. A run
must neither replace nor remove these. Only scores.json is replaced whatever is in it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import (
    FIRST_BYTES_OF_EXAMPLES,
    FIRST_BYTES_OF_REPORT,
    FIRST_BYTES_OF_TOTALS,
    RUN_KEY,
)
from beam_bleu.pipeline.output.metrics import FIRST_METRIC
from beam_bleu.pipeline.output.output_folder import (
    REJECTED_FILES,
    aside_folder,
    examples_path,
    final_folder,
    manifest_path,
    metrics_path,
    run_of,
    run_of_rejected,
    run_record_path,
    success_path,
    totals_path,
)
from beam_bleu.pipeline.output.part_files import metadata_of
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.wiring.filesystems import is_local, join

_OF_MANIFEST = frozenset(["scores_sha256", "streams"])
_OF_RECORD = frozenset(["state", "run", "exit_code", "last_success", "versions"])
"""Fields that our documents always have."""

_PARQUET = (".parquet", ".parq", ".pq")

_SHOWN = 3
"""The largest number of files that a message names."""


def check_owned(output: str) -> None:
    """Checks that a run may replace and remove the files next to scores.json.

    Call it with the lock: a run that puts its result in place moves these files.

    Raises:
      JobError: one of them is not beam-bleu's, or cannot be read.
    """
    has_manifest = _document(manifest_path(output), _OF_MANIFEST) is not None
    record = record_in(output)
    check_metrics(output)
    _check_beginning(totals_path(output), FIRST_BYTES_OF_TOTALS)
    _check_beginning(examples_path(output), FIRST_BYTES_OF_EXAMPLES)
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


def check_report(path: str) -> None:
    """Checks that a report may be written to a path.

    Raises:
      JobError: there is another file, or it cannot be read.
    """
    if not is_report_owned(path) and storage.exists(path):
        raise _foreign(path)


def is_report_owned(path: str) -> bool:
    """Whether the file at a path is a report of beam-bleu's.

    Raises:
      JobError: it cannot be read, or it is not a regular file.
    """
    return (_content(path) or b"").startswith(FIRST_BYTES_OF_REPORT)


def _check_beginning(path: str, beginning: bytes) -> None:
    """Checks that a run may replace a document, if it is there, by how its content begins."""
    data = _content(path)
    if data and data.strip(b"\0") and not data.startswith(beginning):
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


def look_through(output: str, asked: bool) -> list[str]:
    """The part files in the folder of segment scores that are certainly beam-bleu's.

    On this machine it opens each file with the name of a part file. On other filesystems it opens
    only one of each run, because opening thousands of files takes a long time there.

    Args:
      output: the job's folder.
      asked: whether the job writes segment scores.

    Raises:
      JobError: the job writes segment scores, and the folder has files that are not
        beam-bleu's; or the folder, or a file with the name of a part file, cannot be read.
    """
    folder = final_folder(output)
    part_files: list[str] = []
    links: list[str] = []
    others: list[str] = []
    for entry in storage.listed(folder, hidden=False):
        of = links if entry.is_link else others if run_of(entry.name) is None else part_files
        of.append(entry.name)
    every = is_local(output)
    opened = {name if every else run_of(name): name for name in part_files}
    marks = storage.each(lambda name: _is_marked(folder, name), list(opened.values()))
    of_opened = dict(zip(opened, marks, strict=True))
    marked = {name: of_opened[name if every else run_of(name)] for name in part_files}
    if asked:
        unmarked = [name for name in part_files if marked[name] is False]
        is_parquet = storage.each(lambda name: _is_parquet(folder, name), others)
        parquet = [name for name, is_one in zip(others, is_parquet, strict=True) if is_one]
        foreign = sorted([*links, *unmarked, *parquet])
        if foreign:
            raise JobError(
                f"{folder} has files that this version of beam-bleu did not write, and readers "
                f"would take them for segment scores: {_shown(foreign)}",
                "move them to another folder, or name another --output",
            )
    return [name for name in part_files if marked[name]]


def rejected_files(output: str, asked: bool) -> list[str]:
    """The files of rejected records in an output folder, by their names.

    Raises:
      JobError: the job rejects records, and the folder has files that readers would take for
        rejected records, although beam-bleu did not write them; or the folder cannot be read.
    """
    names = storage.matching(output, REJECTED_FILES)
    own = [name for name in names if run_of_rejected(name) is not None]
    foreign = sorted(set(names) - set(own))
    if asked and foreign:
        raise JobError(
            f"{output} has files that beam-bleu did not write, and readers would take them for "
            f"rejected records: {_shown(foreign)}",
            "move them to another folder, or name another --output",
        )
    return own


def check_places(output: str, asked: bool) -> None:
    """Checks that the folders for segment scores are the output folder's own.

    Raises:
      JobError: one of them is a link, so its files may belong to another output folder; or one
        that the job needs is a file.
    """
    if not is_local(output):
        return
    final = final_folder(output)
    for folder in (final, aside_folder(output)):
        if not os.path.islink(folder):
            is_used = asked or folder != final
            if is_used and storage.exists(folder) and not storage.is_folder(folder):
                raise JobError(
                    f"{folder} is not a folder",
                    "move it to another folder, or name another --output",
                )
        # If the job writes no segment scores, the visible folder may be a link that a user made.
        # But it must not lead to the part files of a run: they would stay next to the scores.json
        # of another run.
        elif folder != final or asked or any(map(run_of, storage.names(folder))):
            raise JobError(
                f"{folder} is a link to {os.path.realpath(folder)}",
                "remove the link, or name another --output: "
                "segment scores must be in a folder of their own",
            )


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _is_marked(folder: str, name: str) -> bool | None:
    """Whether a file is a part file of the run in its name; None if another run has removed it.

    Raises:
      JobError: it cannot be read. It may be an old part file, which must not stay in place.
    """
    path = join(folder, name)
    with storage.reading(path):
        try:
            if not storage.is_regular(path):
                return False
            metadata = metadata_of(path).metadata or {}
        except Exception:
            if storage.exists(path):
                raise
            return None  # another run has just removed it
    run: bytes = metadata.get(RUN_KEY.encode(), b"")
    return run.decode(errors="replace") == run_of(name)


def _is_parquet(folder: str, name: str) -> bool:
    """Whether a file is Parquet by its name or by its first bytes.

    Raises:
      JobError: the first bytes cannot be read.
    """
    if name.lower().endswith(_PARQUET):
        return True
    path = join(folder, name)
    try:
        with storage.reading(path):
            if not storage.is_regular(path):
                return False
            with storage.opened(path) as file:
                return bool(file.read(4) == b"PAR1")
    except JobError:
        if not storage.exists(path):
            return False
        raise
