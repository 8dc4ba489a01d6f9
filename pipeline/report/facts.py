"""The last section of the page: what was scored, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beam_bleu.pipeline.display.score_tables import notes_of
from beam_bleu.pipeline.report.figures import Figure, Section, Table
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
    figures = [_definitions(result.saved.result), _counts(result.document)]
    figures += [*_inputs(result), *_versions(result)]
    return Section("how", "What was scored, and how?", figures)


def _definitions(result: Result) -> Figure:
    rows = [["metric", "tool", "signature"]]
    for metric in result.metrics:
        for name, sacrebleu, signature in notes_of(result, metric):
            rows.append([name, "beam-bleu", signature])
            rows.append([name, "sacreBLEU", sacrebleu or _NOT_IN_SACREBLEU])
    table = Table("The definition of each metric", rows, texts=frozenset([1, 2]), is_open=True)
    sentence = "Equal texts have equal scores if the signatures are equal."
    return Figure("Definitions", sentence, table)


def _counts(document: Mapping[str, Any]) -> Figure:
    rows = [["what", "number"], *([name, f"{number:,}"] for name, number in _counted(document))]
    table = Table("What was counted", rows, is_open=True)
    return Figure("Counts", _size(document), table)


def _size(document: Mapping[str, Any]) -> str:
    segments = document["segments"]
    text = f"{segments:,} {'segment was' if segments == 1 else 'segments were'} scored"
    units = document.get("uncertainty")
    if units is not None and units["unit"] == "document":
        text += f", in {units['units']:,} documents"
    if "partition" in document:
        text += f"; partition {document['partition']}"
    if "partitions" in document:
        text += f"; {len(document['partitions']):,} partitions"
    return f"{text}."


def _counted(document: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    counters = document["counters"]
    yield "segments scored", document["segments"]
    for name, meaning in _COUNTERS.items():
        if name in counters:
            yield meaning, counters[name]
    for rejected in counters.get("rejected_records", ()):
        yield f"rejected records: {rejected['reason']}", rejected["records"]
    coverage = document.get("coverage")
    for of_system in coverage["systems"] if coverage else ():
        yield f"segments that {of_system['system']} lacks", of_system["missing"]
        yield f"records of {of_system['system']} that no reference has", of_system["unknown"]


def _inputs(result: ReportedResult) -> Iterator[Figure]:
    """What was read, if the folder of the result says it."""
    streams = result.saved.streams
    if not streams:
        return
    rows = [
        [
            stream["role"] + (f" of {stream['system']}" if stream["system"] is not None else ""),
            stream["pattern"],
            f"{len(stream['files']):,}",
            f"{stream['lines']:,}",
            f"{stream['bytes']:,}",
            stream["digest"],
        ]
        for stream in streams[:_MOST_STREAMS]
    ]
    note = "Equal digests mean equal texts."
    if len(rows) < len(streams):
        note += f" These are {len(rows)} of {len(streams)} streams; manifest.json has all of them."
    table = Table(
        "What was read",
        [["texts", "pattern", "files", "lines", "bytes", "digest"], *rows],
        texts=frozenset([1, 5]),
        note=note,
    )
    files = sum(len(stream["files"]) for stream in streams)
    read = f"{files:,} {'file was' if files == 1 else 'files were'} read."
    yield Figure("Inputs", read, table)


def _versions(result: ReportedResult) -> Iterator[Figure]:
    """The versions of the software, but not the machine: a report does not depend on it."""
    versions = {
        name.replace("_", "-"): version
        for name, version in result.versions.items()
        if name != "platform"
    }
    if not versions:
        return
    rows = [["software", "version"], *([name, version] for name, version in versions.items())]
    table = Table("Versions", rows, texts=frozenset([1]))
    yield Figure("Versions", f"beam-bleu {versions['beam-bleu']} scored these texts.", table)
