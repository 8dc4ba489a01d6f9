"""The last section of the page: what was scored, and how."""

from __future__ import annotations

from collections.abc import Iterator

from beam_bleu.pipeline.display.score_tables import notes_of
from beam_bleu.pipeline.display.table import Cell, Number, Table
from beam_bleu.pipeline.report.figures import Figure, Section
from beam_bleu.pipeline.report.results import ReportedResult
from beam_bleu.pipeline.result.rows import Result

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

_NOT_IN_SACREBLEU = "sacreBLEU does not have this definition"

_MOST_STREAMS = 100


def facts(result: ReportedResult) -> Section:
    """The definitions, the inputs, the counts and the versions of a result."""
    rows = result.saved.result
    figures = [_definitions(rows), _counts(rows), *_inputs(result), *_versions(result)]
    return Section("how", "What was scored, and how?", figures)


def _definitions(result: Result) -> Figure:
    rows = []
    for metric in result.metrics:
        for name, sacrebleu, signature in notes_of(result, metric):
            rows.append([name, "beam-bleu", signature])
            rows.append([name, "sacreBLEU", sacrebleu or _NOT_IN_SACREBLEU])
    table = Table(["The definition of each metric"], ["metric", "tool", "signature"], rows)
    sentence = "Equal texts have equal scores if the signatures are equal."
    return Figure("Definitions", sentence, table, is_open=True)


def _counts(result: Result) -> Figure:
    text = (
        f"{result.segments:,} {'segment was' if result.segments == 1 else 'segments were'} scored"
    )
    if result.uncertainty is not None and result.uncertainty["unit"] == "document":
        text += f", in {result.uncertainty['units']:,} documents"
    if len(result.partitions) > 1:
        text += f"; {len(result.partitions):,} partitions"
    elif result.partitions[0] is not None:
        text += f"; partition {result.partitions[0]}"
    rows: list[list[Cell]] = [[name, Number(f"{number:,}")] for name, number in _counted(result)]
    table = Table(["What was counted"], ["what", "number"], rows)
    return Figure("Counts", f"{text}.", table, is_open=True)


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


def _inputs(result: ReportedResult) -> Iterator[Figure]:
    """What was read, if the folder of the result says it."""
    streams = result.saved.streams
    if not streams:
        return
    rows = [
        [
            stream["role"] + (f" of {stream['system']}" if stream["system"] is not None else ""),
            stream["pattern"],
            Number(f"{len(stream['files']):,}"),
            Number(f"{stream['lines']:,}"),
            Number(f"{stream['bytes']:,}"),
            stream["digest"],
        ]
        for stream in streams[:_MOST_STREAMS]
    ]
    note = "Equal digests mean equal texts."
    if len(rows) < len(streams):
        note += f" These are {len(rows)} of {len(streams)} streams; manifest.json has all of them."
    header = ["texts", "pattern", "files", "lines", "bytes", "digest"]
    table = Table(["What was read"], header, rows, [note])
    files = sum(len(stream["files"]) for stream in streams)
    read = f"{files:,} {'file was' if files == 1 else 'files were'} read."
    yield Figure("Inputs", read, table)


def _versions(result: ReportedResult) -> Iterator[Figure]:
    """The versions of the software, but not the machine: a report does not depend on it."""
    rows = [
        [name.replace("_", "-"), version]
        for name, version in result.versions.items()
        if name != "platform"
    ]
    if rows:
        table = Table(["Versions"], ["software", "version"], rows)
        sentence = f"beam-bleu {result.versions['beam_bleu']} scored these texts."
        yield Figure("Versions", sentence, table)
