"""The names of a run's files in its output folder.

This file does not import Beam, because subcommands that do not need Beam use it, too.

DIR/_SUCCESS                                         empty: the last run was successful
DIR/scores.json                                      the last successful run's result
DIR/manifest.json                                    what this run has read
DIR/totals.json                                      what was added up, if it is saved
DIR/examples.jsonl                                   segments to look at, if they are asked for
DIR/run.json                                         how the last run went
DIR/metrics.prom                                     the same for a monitoring system
DIR/report.html                                      the result as a page for people, if asked for
DIR/rejected-RUN-*.jsonl                             the records that this run has rejected
DIR/segment_scores/part-RUN-*.parquet                part files of that run
DIR/.segment_scores/RUN/staged/*                     part files of a run that is not finished
DIR/.segment_scores/RUN/former/*                     the files that this run is replacing
DIR/.segment_scores/RUN/handover                     the result of this run, for its launcher
DIR/.segment_scores/RUN/workers.json                 what its workers say, for its launcher
"""

from __future__ import annotations

SUCCESS = "_SUCCESS"
SCORES = "scores.json"
MANIFEST = "manifest.json"
TOTALS = "totals.json"
EXAMPLES = "examples.jsonl"
RUN_RECORD = "run.json"
METRICS = "metrics.prom"
REPORT = "report.html"
SEGMENT_SCORES = "segment_scores"
ASIDE = f".{SEGMENT_SCORES}"
HANDOVER = "handover"
WORKERS = "workers.json"

BESIDE_SCORES = (EXAMPLES, MANIFEST, TOTALS)
"""The documents that belong to one scores.json. The manifest and the totals have its SHA-256. The
manifest has that of the examples, too."""

DOCUMENTS = (*BESIDE_SCORES, SCORES)
"""The documents of a result, in the order in which they are written."""

OF_RUN = (RUN_RECORD, METRICS)
"""The files about the last run, which its launcher writes."""

WRITTEN = (SCORES, *BESIDE_SCORES, SUCCESS, *OF_RUN, REPORT)
"""The files that a run writes next to the folders of the segment scores. Messages name the first
one that applies, so the best-known one comes first."""


SCORES_FORMAT = 2
"""The version of the result document, scores.json: its field `format`."""

TOTALS_FORMAT = "beam-bleu totals"
"""The first field of totals.json, `format`."""

FIRST_BYTES_OF_TOTALS = f'{{\n"format": "{TOTALS_FORMAT}"'.encode("ascii")
"""By these a run knows the file as beam-bleu's."""

FIRST_BYTES_OF_EXAMPLES = b'{"kind": "'
"""The same for examples.jsonl."""

FIRST_BYTES_OF_REPORT = b"""<!doctype html>
<html lang="en">
<meta name="generator" content="beam-bleu report">
"""
"""The same for report.html."""

RUN_KEY = "beam-bleu.run"
"""The key of the run in a part file's metadata."""
