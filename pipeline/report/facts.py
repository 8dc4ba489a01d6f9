"""The last section of the page: what was scored, and how."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.score_tables import units_of
from beam_bleu.pipeline.display.table import Cell, Table
from beam_bleu.pipeline.output.file_names import RUN_RECORD
from beam_bleu.pipeline.output.result_files import exists, read
from beam_bleu.pipeline.report.figures import Figure
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.result.saved_result import SavedResult, named_if_damaged
from beam_bleu.transforms.score.shown_numbers import Number

_COUNTERS = {
    "read": "segments read",
    "filtered": "segments left out by --where",
    "rejected": "segments left out because of bad records",
    "not_in_all_references": "segments that not all references have",
    "not_in_all_systems": "segments that not all systems have",
    "empty_candidates": "empty candidates, of all systems",
    "bytes": "bytes of text",
}
"""What the counters of the result document are, for readers."""


def facts(saved: SavedResult) -> Iterator[Figure]:
    """The inputs, the counts and the versions of a result."""
    result, streams = saved.result, saved.streams
    counted: list[list[Cell]] = [[name, Number(f"{number:,}")] for name, number in _counted(result)]
    table = Table(["What was counted"], ["what", "number"], counted)
    labels = [label for label in result.partitions if label is not None]
    partitions = f"; {len(labels):,} partitions" if len(labels) > 1 else ""
    if len(labels) == 1:
        partitions = f"; partition {labels[0]}"
    yield Figure("Counts", [table], sentence=f"Scored: {units_of(result)}{partitions}.")
    if streams:
        files = sum(len(stream["files"]) for stream in streams)
        sentence = f"Files that were read: {files:,}."
        yield Figure("Inputs", [_inputs(streams)], sentence=sentence)
    # Not the machine: a report does not depend on it.
    versions = {name: own for name, own in _versions(saved).items() if name != "platform"}
    if versions:
        rows = [[name.replace("_", "-"), version] for name, version in versions.items()]
        table = Table(["Versions"], ["software", "version"], rows)
        sentence = f"beam-bleu {versions['beam_bleu']} scored these texts."
        yield Figure("Versions", [table], sentence=sentence)


def _versions(saved: SavedResult) -> dict[str, str]:
    """The versions of the software that made a result; none if no run.json says it."""
    record = f"{saved.folder}/{RUN_RECORD}"
    if not saved.folder or not exists(record):
        return {}
    with named_if_damaged(record):
        return dict(json.loads(read(record))["versions"])


def _counted(result: Result) -> Iterator[tuple[str, int]]:
    yield "segments scored", result.segments or 0
    for name, meaning in _COUNTERS.items():
        if name in result.counters:
            yield meaning, result.counters[name]
    for rejected in result.counters.get("rejected_records", ()):
        yield f"rejected records: {rejected['reason']}", rejected["records"]
    for system in (result.coverage or {"systems": ()})["systems"]:
        yield f"segments that {system['system']} lacks", system["missing"]
        yield f"records of {system['system']} that no reference has", system["unknown"]


def _inputs(streams: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        [
            stream["role"] + (f" of {stream['system']}" if stream["system"] is not None else ""),
            stream["pattern"],
            Number(f"{len(stream['files']):,}"),
            Number(f"{stream['lines']:,}"),
            Number(f"{stream['bytes']:,}"),
            stream["digest"],
        ]
        for stream in streams
    ]
    note = "Equal digests mean equal texts."
    header = ["texts", "pattern", "files", "lines", "bytes", "digest"]
    return Table(["What was read"], header, rows, [note])
