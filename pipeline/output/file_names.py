"""The names of a run's files in its output folder.

This file does not import Beam, because subcommands that do not need Beam use it, too.

DIR/_SUCCESS                                         empty: the last run was successful
DIR/scores.json                                      the last successful run's result
DIR/manifest.json                                    what this run has read
DIR/totals.json                                      what was added up, if it is saved
DIR/run.json                                         how the last run went
DIR/metrics.prom                                     the same for a monitoring system
DIR/rejected-RUN-*.jsonl                             the records that this run has rejected
DIR/segment_scores/part-RUN-*.parquet                part files of that run
DIR/.segment_scores/RUN/staged/*                     part files of a run that is not finished
DIR/.segment_scores/RUN/former/*                     the files that this run is replacing
DIR/.segment_scores/RUN/receipt.json                 the result of this run, for its launcher
"""

from __future__ import annotations

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


SCORES_FORMAT = 2
"""The version of the result document, scores.json: its field `format`."""

TOTALS_FORMAT = "beam-bleu totals"
"""The first field of totals.json, `format`."""

FIRST_BYTES_OF_TOTALS = f'{{\n"format": "{TOTALS_FORMAT}"'.encode("ascii")
"""By these a run knows the file as beam-bleu's."""
