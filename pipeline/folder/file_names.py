"""The names of a run's files in its output folder; docs/result.md says what is in them.

For its launcher, a run also writes .handover-RUN, its result, and .workers-RUN, what workers say.
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
RUN_RECORD = "run.json"
METRICS = "metrics.prom"
REPORT = "report.html"
# The documents of a result, in the order in which they are written. The manifest has the SHA-256s
# of the examples and of scores.json, and totals.json that of scores.json.
DOCUMENTS = (EXAMPLES, TOTALS, MANIFEST, SCORES)
OF_RUN = (RUN_RECORD, METRICS)
# All files that have the same name in each run. Messages name the first one that applies, so the
# best-known one comes first.
WRITTEN = (SCORES, MANIFEST, TOTALS, EXAMPLES, SUCCESS, *OF_RUN, REPORT)
SCORES_FORMAT = 2
TOTALS_FORMAT = "beam-bleu totals"
RUN_KEY = "beam-bleu.run"  # the key of the run in the metadata of a file of segment scores
# The kinds of data files. The names of data files have their run in them, and never change.
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
