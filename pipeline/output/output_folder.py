"""The places of a run's files in its output folder (see file_names.py)."""

from __future__ import annotations

import re
import uuid

from apache_beam.io.filesystems import FileSystems

from beam_bleu.pipeline.output.file_names import (
    ASIDE,
    DOCUMENTS,
    MANIFEST,
    METRICS,
    RECEIPT,
    RUN_RECORD,
    SCORES,
    SEGMENT_SCORES,
    SUCCESS,
    TOTALS,
)

_PART_FILE = re.compile(r"part-(\w+)-[0-9a-f]{32}\.parquet")
_REJECTED = re.compile(r"rejected-(\w+)-[0-9a-f]{32}\.jsonl")

REJECTED_FILES = "rejected-*.jsonl"
"""The pattern by which a reader finds the rejected records in the output folder."""


def _joined(*parts: str) -> str:
    path: str = FileSystems.join(*parts)
    return path


def scores_path(output: str) -> str:
    """The path of the result document."""
    return _joined(output, SCORES)


def success_path(output: str) -> str:
    """The path of the empty file that a successful run writes last."""
    return _joined(output, SUCCESS)


def manifest_path(output: str) -> str:
    """The path of the manifest."""
    return _joined(output, MANIFEST)


def totals_path(output: str) -> str:
    """The path of the saved totals."""
    return _joined(output, TOTALS)


def run_record_path(output: str) -> str:
    """The path of the record of the last run."""
    return _joined(output, RUN_RECORD)


def metrics_path(output: str) -> str:
    """The path of the metrics of the last run."""
    return _joined(output, METRICS)


def final_folder(output: str) -> str:
    """The folder for the part files of a successful run."""
    return _joined(output, SEGMENT_SCORES)


def aside_folder(output: str) -> str:
    """The hidden folder for the files of runs that are not finished."""
    return _joined(output, ASIDE)


def run_folder(output: str, run: str) -> str:
    """The folder for the files of a run that is not finished."""
    return _joined(output, ASIDE, run)


def staging_folder(output: str, run: str) -> str:
    """The folder for the part files of a run until all of them are written."""
    return _joined(output, ASIDE, run, "staged")


def former_folder(output: str, run: str) -> str:
    """The folder for the former result while a run replaces it."""
    return _joined(output, ASIDE, run, "former")


def receipt_path(output: str, run: str) -> str:
    """The path of a run's receipt if workers and launcher share only the output folder."""
    return _joined(output, ASIDE, run, RECEIPT)


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
