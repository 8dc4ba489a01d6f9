"""The places of a run's files in its output folder, and the removal of old ones.

The names are in file_names.py. Runs that were killed leave files, which a later run removes.
"""

from __future__ import annotations

import os
import re
import uuid

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import (
    ASIDE,
    DOCUMENTS,
    EXAMPLES,
    HANDOVER,
    MANIFEST,
    METRICS,
    REPORT,
    RUN_RECORD,
    SCORES,
    SEGMENT_SCORES,
    SUCCESS,
    TOTALS,
    WORKERS,
    WRITTEN,
)
from beam_bleu.transforms.wiring.filesystems import is_local, join

_PART_FILE = re.compile(r"part-(\w+)-[0-9a-f]{32}\.parquet")
_REJECTED = re.compile(r"rejected-(\w+)-[0-9a-f]{32}\.jsonl")

REJECTED_FILES = "rejected-*.jsonl"
"""The pattern by which a reader finds the rejected records in the output folder."""


def scores_path(output: str) -> str:
    """The path of the result document."""
    return join(output, SCORES)


def success_path(output: str) -> str:
    """The path of the empty file that a successful run writes last."""
    return join(output, SUCCESS)


def manifest_path(output: str) -> str:
    """The path of the manifest."""
    return join(output, MANIFEST)


def totals_path(output: str) -> str:
    """The path of the saved totals."""
    return join(output, TOTALS)


def examples_path(output: str) -> str:
    """The path of the examples."""
    return join(output, EXAMPLES)


def run_record_path(output: str) -> str:
    """The path of the record of the last run."""
    return join(output, RUN_RECORD)


def metrics_path(output: str) -> str:
    """The path of the metrics of the last run."""
    return join(output, METRICS)


def report_path(output: str) -> str:
    """The path of the page about the result."""
    return join(output, REPORT)


def final_folder(output: str) -> str:
    """The folder for the part files of a successful run."""
    return join(output, SEGMENT_SCORES)


def aside_folder(output: str) -> str:
    """The hidden folder for the files of runs that are not finished."""
    return join(output, ASIDE)


def run_folder(output: str, run: str) -> str:
    """The folder for the files of a run that is not finished."""
    return join(output, ASIDE, run)


def staging_folder(output: str, run: str) -> str:
    """The folder for the part files of a run until all of them are written."""
    return join(output, ASIDE, run, "staged")


def former_folder(output: str, run: str) -> str:
    """The folder for the former result while a run replaces it."""
    return join(output, ASIDE, run, "former")


def handover_path(output: str, run: str) -> str:
    """The path of the file by which the last step of a run gives its result to the launcher."""
    return join(output, ASIDE, run, HANDOVER)


def workers_path(output: str, run: str) -> str:
    """The path of the file in which the workers of a run say what they are."""
    return join(output, ASIDE, run, WORKERS)


def new_part_file(run: str) -> str:
    """A name for a part file of a run that no other part file has."""
    return f"part-{run}-{uuid.uuid4().hex}.parquet"


def run_of(name: str) -> str | None:
    """The run in the name of a part file; None if the file has another kind of name."""
    match = _PART_FILE.fullmatch(name)
    return match[1] if match else None


def new_rejected(run: str) -> str:
    """A name for a file of rejected records of a run that no other file has."""
    return f"rejected-{run}-{uuid.uuid4().hex}.jsonl"


def run_of_rejected(name: str) -> str | None:
    """The run in the name of a file of rejected records; None if it has another kind of name."""
    match = _REJECTED.fullmatch(name)
    return match[1] if match else None


def is_part_file_of(run: str, name: str) -> bool:
    """Whether a file has the name of a part file of a run: segment scores, or rejected records."""
    return run in (run_of(name), run_of_rejected(name))


def is_of_result(name: str) -> bool:
    """Whether a file of this name can be a part of a run's result."""
    return name in DOCUMENTS or run_of(name) is not None or run_of_rejected(name) is not None


_DEAD = 14 * 24 * 3600.0
"""Seconds without a new file. After this time a run that left files has certainly ended."""

_FOR_LAUNCHER = (HANDOVER, WORKERS)

_WRITTEN_ATOMICALLY = (*WRITTEN, *_FOR_LAUNCHER)


def remove_leftovers(output: str) -> None:
    """Removes files of runs that were killed long ago, if they have names that a run gives.

    Call it just after scores.json was written, because its time shows the filesystem's clock.
    """
    then = storage.modified(scores_path(output)) - _DEAD
    aside = aside_folder(output)
    left: dict[str, list[storage.Entry]] = {}
    for entry in storage.listed(aside):
        left.setdefault(entry.name.partition("/")[0], []).append(entry)
    for run, entries in left.items():
        removed = [entry.name for entry in entries if _is_left_by(run, entry.name)]
        if removed and all(0 < entry.modified < then for entry in entries):
            storage.remove_files(aside, removed)
            for folder in ("staged", "former", ""):
                storage.remove_if_empty(join(aside, run, folder))
    storage.remove_if_empty(aside)
    if is_local(output):
        temporary = [
            name
            for name in storage.names(output)
            if storage.is_temporary(name, _WRITTEN_ATOMICALLY)
            and _is_old_file(os.path.join(output, name), then)
        ]
        storage.remove_files(output, temporary)


def _is_old_file(path: str, then: float) -> bool:
    # A link that leads nowhere is not a file of ours, and must not keep the others.
    return os.path.isfile(path) and os.lstat(path).st_mtime < then


def _is_left_by(run: str, path: str) -> bool:
    """Whether a file in the hidden folder has a name that this run uses."""
    folder, _, name = path.removeprefix(f"{run}/").rpartition("/")
    if folder == "staged":
        return is_part_file_of(run, name)
    if folder == "former":
        return is_of_result(name)
    return not folder and (name in _FOR_LAUNCHER or storage.is_temporary(name, _WRITTEN_ATOMICALLY))
