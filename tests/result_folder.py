"""Made-up results of runs, which are staged and published without scoring anything."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from beam_bleu.pipeline.output.file_names import RUN_KEY
from beam_bleu.pipeline.output.part_files import WritePartFiles
from beam_bleu.pipeline.output.publication import in_place, write_documents

SCHEMA = pa.schema([pa.field("index", pa.int64())])


def staged(output: Path | str, run: str, part_files: int = 3) -> list[str]:
    """Stages part files, one for each bundle, as the workers of a run do; returns their names."""
    names = []
    for number in range(part_files):
        writing = WritePartFiles(str(output), run, SCHEMA)
        writing.setup()
        writing.start_bundle()
        writing.process(pa.table([[number]], SCHEMA))
        names += [each.value for each in writing.finish_bundle()]
    return names


def document(run: str) -> bytes:
    """A scores.json that no other run has."""
    return json.dumps(run).encode()


def documents(run: str) -> dict[str, bytes]:
    """The documents of a run: its scores.json, and the manifest that belongs to it."""
    sha256 = hashlib.sha256(document(run)).hexdigest()
    manifest = json.dumps({"scores_sha256": sha256, "streams": [], "run": run}).encode()
    return {"scores.json": document(run), "manifest.json": manifest}


def publish(output: Path | str, run: str, names: list[str]) -> None:
    """Does the same as the last step."""
    with in_place(str(output), run, names, documents(run)):
        write_documents(str(output), documents(run))


def published(output: Path, run: str, part_files: int = 3) -> None:
    """A run from start to end."""
    publish(output, run, staged(output, run, part_files))


RESULT = ["_SUCCESS", "manifest.json", "scores.json"]
"""The files that the pipeline writes into a folder without segment scores."""

RECORDS = ["metrics.prom", "run.json"]
"""The files that the command writes, and not the pipeline."""


def assert_files(output: Path, *others: str) -> None:
    """Checks that a folder has the files of a successful run of the command, and these."""
    assert sorted(os.listdir(output)) == sorted([*RESULT, *RECORDS, *others])


def scores_run(output: Path) -> str | None:
    """The run to which scores.json belongs; None if there is no scores.json."""
    try:
        return json.loads((output / "scores.json").read_bytes())
    except FileNotFoundError:
        return None


def manifest_run(output: Path) -> str | None:
    """The run to which manifest.json belongs; None if there is no manifest.json."""
    try:
        return json.loads((output / "manifest.json").read_bytes())["run"]
    except FileNotFoundError:
        return None


def is_marked(output: Path) -> bool:
    """Whether _SUCCESS is there."""
    return (output / "_SUCCESS").exists()


def part_file_runs(output: Path) -> list[str]:
    """The runs to which the part files in place belong, by their own metadata."""
    found = sorted((output / "segment_scores").glob("*.parquet"))
    return [pq.read_schema(path).metadata[RUN_KEY.encode()].decode() for path in found]


def assert_is_of(
    output: Path, run: str | None, part_files: int = 3, *, marked: bool = True
) -> None:
    """Checks that the result belongs to one run, and that there are no other files."""
    assert scores_run(output) == manifest_run(output) == run
    assert part_file_runs(output) == [run] * part_files
    files = RESULT[not marked :] if run else []
    found = sorted(set(os.listdir(output)) - {*RECORDS})
    assert found == [*files, *(["segment_scores"] if part_files else [])]
