"""The places and names of a run's files in its output folder.

DIR/_SUCCESS                                         empty: the last run was successful
DIR/scores.json                                      the last successful run's result
DIR/manifest.json                                    what this run has read
DIR/totals.json                                      what was added up, if it is saved
DIR/run.json                                         how the last run went
DIR/metrics.prom                                     the same for a monitoring system
DIR/rejected-RUN-*.jsonl                             the records that this run has rejected
DIR/segment_scores/part-RUN-*.parquet                shards of that run
DIR/.segment_scores/RUN/staged/*                     shards of a run that is not finished
DIR/.segment_scores/RUN/former/*                     the files that this run is replacing
DIR/.segment_scores/RUN/receipt.json                 the result of this run, for its launcher
"""

from __future__ import annotations

import re
import uuid

from apache_beam.io.filesystems import FileSystems

SUCCESS = "_SUCCESS"
SCORES = "scores.json"
MANIFEST = "manifest.json"
TOTALS = "totals.json"
RUN_RECORD = "run.json"
METRICS = "metrics.prom"
SEGMENT_SCORES = "segment_scores"
ASIDE = f".{SEGMENT_SCORES}"
RECEIPT = "receipt.json"

BESIDE_SCORES = (MANIFEST, TOTALS)
"""The documents that belong to one scores.json. Each of them has its SHA-256."""

DOCUMENTS = (*BESIDE_SCORES, SCORES)
"""The documents of a result, in the order in which they are written."""

OF_RUN = (RUN_RECORD, METRICS)
"""The files about the last run, which its launcher writes."""

WRITTEN = (SCORES, MANIFEST, TOTALS, SUCCESS, *OF_RUN)
"""The files that a run writes next to the folders of the segment scores."""

_SHARD = re.compile(r"part-(\w+)-[0-9a-f]{32}\.parquet")
_REJECTED = re.compile(r"rejected-(\w+)-[0-9a-f]{32}\.jsonl")

REJECTED_FILES = "rejected-*.jsonl"
"""The pattern by which a reader finds the rejected records in the output folder."""


def scores_path(output: str) -> str:
    """The path of the result document."""
    return FileSystems.join(output, SCORES)


def success_path(output: str) -> str:
    """The path of the empty file that a successful run writes last."""
    return FileSystems.join(output, SUCCESS)


def manifest_path(output: str) -> str:
    """The path of the manifest."""
    return FileSystems.join(output, MANIFEST)


def totals_path(output: str) -> str:
    """The path of the saved totals."""
    return FileSystems.join(output, TOTALS)


def run_record_path(output: str) -> str:
    """The path of the record of the last run."""
    return FileSystems.join(output, RUN_RECORD)


def metrics_path(output: str) -> str:
    """The path of the metrics of the last run."""
    return FileSystems.join(output, METRICS)


def final_folder(output: str) -> str:
    """The folder for the shards of a successful run."""
    return FileSystems.join(output, SEGMENT_SCORES)


def aside_folder(output: str) -> str:
    """The hidden folder for the files of runs that are not finished."""
    return FileSystems.join(output, ASIDE)


def run_folder(output: str, run: str) -> str:
    """The folder for the files of a run that is not finished."""
    return FileSystems.join(output, ASIDE, run)


def staging_folder(output: str, run: str) -> str:
    """The folder for the shards of a run until all of them are written."""
    return FileSystems.join(output, ASIDE, run, "staged")


def former_folder(output: str, run: str) -> str:
    """The folder for the former result while a run replaces it."""
    return FileSystems.join(output, ASIDE, run, "former")


def receipt_path(output: str, run: str) -> str:
    """The path of a run's receipt if workers and launcher share only the output folder."""
    return FileSystems.join(output, ASIDE, run, RECEIPT)


def new_shard(run: str) -> str:
    """A name for a shard of a run that no other shard has."""
    return f"part-{run}-{uuid.uuid4().hex}.parquet"


def run_of(name: str) -> str | None:
    """The run in the name of a shard; None if the file has another kind of name."""
    found = _SHARD.fullmatch(name)
    return found[1] if found else None


def new_rejected(run: str) -> str:
    """A name for a file of rejected records of a run that no other file has."""
    return f"rejected-{run}-{uuid.uuid4().hex}.jsonl"


def run_of_rejected(name: str) -> str | None:
    """The run in the name of a file of rejected records; None if it has another kind of name."""
    found = _REJECTED.fullmatch(name)
    return found[1] if found else None


def is_shard_of(run: str, name: str) -> bool:
    """Whether a file has the name of a shard, or of a file of rejected records, of a run."""
    return run in (run_of(name), run_of_rejected(name))


def is_of_result(name: str) -> bool:
    """Whether a file of this name can be a part of a run's result."""
    return name in DOCUMENTS or run_of(name) is not None or run_of_rejected(name) is not None
