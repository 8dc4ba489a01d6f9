"""Made-up results of runs, which are written and published without scoring anything."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_bleu.pipeline.folder.data_files import WritePartFiles
from beam_bleu.pipeline.folder.file_names import EXAMPLES, MANIFEST, RUN_KEY, SCORES, TOTALS
from beam_bleu.pipeline.folder.publication import commit

SCHEMA = pa.schema([pa.field("index", pa.int64())])


def staged(output: Path | str, run: str, part_files: int = 3) -> list[str]:
    """Writes part files, one for each bundle, as the workers of a run do; returns their names."""
    names = []
    for number in range(part_files):
        writing = WritePartFiles(str(output), run, SCHEMA)
        writing.setup()
        writing.start_bundle()
        assert [*writing.process(pa.table([[number]], SCHEMA))] == []
        names += [each.value[0] for each in writing.finish_bundle()]
    return names


def document(run: str) -> bytes:
    """A scores.json that no other run has."""
    return json.dumps(run).encode()


def documents(run: str, names: Sequence[str] = (), *, totals: bool = False) -> dict[str, bytes]:
    """The scores.json of a run with these part files, and the files that belong to it."""
    sha256 = hashlib.sha256(document(run)).hexdigest()
    manifest = {"scores_sha256": sha256, "streams": [], "data_files": [*names], "run": run}
    found = {SCORES: document(run)}
    if totals:
        found[EXAMPLES] = b'{"kind": ' + document(run) + b"}"
        sha256_of_examples = hashlib.sha256(found[EXAMPLES]).hexdigest()
        manifest["examples"] = {"number": 1, "sha256": sha256_of_examples}
        found[TOTALS] = f'{{"format": "beam-bleu totals", "scores_sha256": "{sha256}"}}'.encode()
    return {**found, MANIFEST: json.dumps(manifest).encode()}


def publish(output: Path | str, run: str, names: Sequence[str], *, totals: bool = False) -> None:
    """Does the same as the last step."""
    commit(str(output), run, documents(run, names, totals=totals), names)


def published(output: Path, run: str, part_files: int = 3, *, totals: bool = False) -> None:
    """A run from start to end."""
    publish(output, run, staged(output, run, part_files), totals=totals)


class Killed(BaseException):
    """Imitates SIGKILL: the run does nothing after it."""


@contextlib.contextmanager
def killed_after(changes: int, module: Any, *names: str) -> Iterator[None]:
    """Kills the body before it calls these functions of a module for the n-th time."""
    left = [changes]

    def counted(function: Any) -> Any:
        def changing(*arguments: Any, **more: Any) -> Any:
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return function(*arguments, **more)

        return changing

    with pytest.MonkeyPatch.context() as patched:
        for name in names:
            patched.setattr(module, name, counted(getattr(module, name)))
        yield


RESULT = ["_SUCCESS", "manifest.json", "scores.json"]
"""The files that the pipeline writes into a folder without segment scores."""

RECORDS = ["metrics.prom", "run.json"]
"""The files that the command writes, and not the pipeline."""


def assert_files(output: Path, *others: str) -> None:
    """Checks that a folder has the files of a successful run of the command, and these."""
    assert sorted(os.listdir(output)) == sorted([*RESULT, *RECORDS, *others])


def scores_run(output: Path) -> str | None:
    """The run to which scores.json belongs; None if there is no scores.json."""
    path = output / "scores.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def manifest_run(output: Path) -> str | None:
    """The run to which manifest.json belongs; None if there is no manifest.json."""
    path = output / "manifest.json"
    return json.loads(path.read_bytes())["run"] if path.exists() else None


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
    assert {*os.listdir(output)} - {*RECORDS, "segment_scores"} == {*files}
