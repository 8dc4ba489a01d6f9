"""The names of a run's files in its output folder; docs/result.md describes their contents.

For its launcher, a run also writes its result (.handover-RUN), and its workers' answers
(.workers-RUN).
"""

from __future__ import annotations

import re
import uuid
from typing import Literal, get_args

from beam_bleu.transforms.wiring.filesystems import join

SUCCESS = "_SUCCESS"
SCORES = "scores.json"
MANIFEST = "manifest.json"
TOTALS = "totals.json"
EXAMPLES = "examples.jsonl"
CONFUSIONS = "confusions.jsonl"
RUN_RECORD = "run.json"
METRICS = "metrics.prom"
REPORT = "report.html"
# The documents of a result, in the order in which they are written. The manifest has the SHA-256s
# of the examples, the confusions and scores.json, and totals.json that of scores.json.
DOCUMENTS = (EXAMPLES, CONFUSIONS, TOTALS, MANIFEST, SCORES)
OF_RUN = (RUN_RECORD, METRICS)
# All files with the same name in every run. Messages name the first one that applies, so the best
# known comes first.
WRITTEN = (SCORES, MANIFEST, TOTALS, EXAMPLES, CONFUSIONS, SUCCESS, *OF_RUN, REPORT)
SCORES_FORMAT = 2
TOTALS_FORMAT = "beam-bleu totals"
RUN_KEY = "beam-bleu.run"  # the key of the run in the metadata of a file of segment scores
# The kinds of data files. The name of a data file contains its run, and never changes.
DataKind = Literal["segment_scores", "rejected"]
SEGMENT_SCORES: DataKind = "segment_scores"
REJECTED: DataKind = "rejected"
DATA_KINDS: tuple[DataKind, ...] = get_args(DataKind)

_DATA_FILE = re.compile(
    rf"(?:{SEGMENT_SCORES}/part-(?P<run>\w+)-[0-9a-f]{{32}}\.parquet"
    rf"|{REJECTED}-(?P<run_>\w+)-[0-9a-f]{{32}}\.jsonl)"
)


def new_data_file(kind: DataKind, run: str) -> str:
    """A name, relative to the output folder, that no other file has."""
    name = f"{run}-{uuid.uuid4().hex}"
    return f"{kind}/part-{name}.parquet" if kind == SEGMENT_SCORES else f"{kind}-{name}.jsonl"


def run_of(name: str) -> str | None:
    match = _DATA_FILE.fullmatch(name)
    return (match["run"] or match["run_"]) if match else None


def handover_path(output: str, run: str) -> str:
    return join(output, f".handover-{run}")


def workers_path(output: str, run: str) -> str:
    return join(output, f".workers-{run}")
