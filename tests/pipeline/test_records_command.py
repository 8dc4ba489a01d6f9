"""Records of every format and form give the scores of the same texts as line-parallel text."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import subprocess
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import COMMAND, EXAMPLES, PROJECT, Run, called, read_lines

REFERENCES = [read_lines(EXAMPLES / "references" / f"{name}.txt") for name in "ab"]
NAMES = ["atlas", "birch", "cobalt"]
SYSTEMS = {name: read_lines(EXAMPLES / "systems" / f"{name}.txt") for name in NAMES}
SEGMENTS = len(REFERENCES[0])

ROWS: list[dict[str, Any]] = [
    {
        "id": f"s{i}",
        "domain": ["news", "talk"][i % 2],
        "target": "no reference",
        "ref0": REFERENCES[0][i],
        "ref1": REFERENCES[1][i],
        **{f"hyp_{name}": SYSTEMS[name][i] for name in NAMES},
        "nested": {"out": [[SYSTEMS["atlas"][i]]], "refs": [REFERENCES[0][i], REFERENCES[1][i]]},
    }
    for i in range(SEGMENTS)
]
LONG = [
    {"id": i, "system": name, "hyp": SYSTEMS[name][i], "ref0": refs[0], "ref1": refs[1]}
    for name in NAMES
    for i, refs in enumerate(zip(*REFERENCES, strict=True))
]
SUFFIXES = ["parquet", "jsonl.gz", "tsv", "csv.xz"]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Writes records in the format of the path's suffix. Tab-separated text has a header."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=20)
        return path
    if path.suffix in (".arrow", ".arrows"):
        table = pa.Table.from_pylist(rows)
        new = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=20)
        return path
    if path.suffix == ".avro":
        with path.open("wb") as file:
            fastavro.writer(file, avro_schema("row", rows[0]), rows, sync_interval=1000)
        return path
    text = io.StringIO()
    if ".jsonl" in path.name:
        text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    elif ".csv" in path.name:
        csv.writer(text).writerows([[*rows[0]], *(row.values() for row in rows)])
    else:
        flat = [[str(value) for value in row.values()] for row in rows]
        text.writelines("\t".join(fields) + "\n" for fields in [[*rows[0]], *flat])
    data = text.getvalue().encode()
    compress = {".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
    path.write_bytes(compress(data))
    return path


def avro_schema(name: str, value: Any) -> Any:
    """The Avro schema of a value, whose fields and elements can be null."""
    if isinstance(value, dict):
        fields = [
            {"name": field, "type": ["null", avro_schema(f"{name}_{field}", each)]}
            for field, each in value.items()
        ]
        return {"type": "record", "name": name, "fields": fields}
    if isinstance(value, list):
        return {"type": "array", "items": ["null", avro_schema(f"{name}_item", value[0])]}
    return "string" if isinstance(value, str) else "long"


def flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: each for name, each in row.items() if name != "nested"} for row in rows]


def scores(run: Run) -> dict[str, dict[str, Any]]:
    """The score of each system, without the system's name."""
    return {score.pop("system"): score for score in run.document["scores"]}


@pytest.fixture(scope="module")
def of_lines() -> dict[str, dict[str, Any]]:
    files = [EXAMPLES / "systems" / f"{name}.txt" for name in NAMES]
    references = [EXAMPLES / "references" / f"{name}.txt" for name in "ab"]
    return scores(called(*references, "-i", *files, "--format", "json"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_systems_side_by_side(suffix: str, tmp_path: Path, of_lines: dict[str, Any]) -> None:
    path = write(tmp_path / f"all.{suffix}", flat(ROWS))
    run = called("--input", path, "--candidate_columns", "hyp_*", "--format", "json")
    assert scores(run) == {f"hyp_{name}": score for name, score in of_lines.items()}
    assert list(scores(run)) == ["hyp_atlas", "hyp_birch", "hyp_cobalt"]
    chosen = "candidates from hyp_atlas, hyp_birch, hyp_cobalt, references from ref0, ref1"
    assert f"columns: {chosen}" in run.err


def test_each_format_gives_the_same_bytes(tmp_path: Path) -> None:
    written = {}
    for suffix in ("parquet", "arrow", "arrows", "avro", "jsonl"):
        path = write(tmp_path / f"all.{suffix}", ROWS)
        columns = ["--candidate_columns", "hyp_*", "--reference_columns", "nested.refs"]
        out = tmp_path / suffix
        run = called(
            *("--input", path, *columns, "--slice_by", "domain", "--metrics", "bleu", "chrf"),
            *("--output", out),
        )
        assert run.code == 0, run.err
        written[suffix] = (out / "scores.json").read_bytes()
    assert len(set(written.values())) == 1


def test_nested_columns(tmp_path: Path, of_lines: dict[str, Any]) -> None:
    path = write(tmp_path / "all.avro", ROWS)
    columns = ["--candidate_columns", "atlas=nested.out[0][0]"]
    run = called("--input", path, *columns, "--reference_columns", "nested.refs", "--format=json")
    assert scores(run) == {"atlas": of_lines["atlas"]}
    assert run.err == ""  # the user named all columns


def test_tab_separated_text_without_a_header(tmp_path: Path, of_lines: dict[str, Any]) -> None:
    """ParaCrawl's .txt.gz is tab-separated text: the flag says it."""
    path = tmp_path / "corpus.txt.gz"
    fields = zip(*REFERENCES, *SYSTEMS.values(), strict=True)
    path.write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in fields).encode()))
    flags = ["--input_format", "tsv", "--candidate_columns", "b=4,3", "--reference_columns", "1,2"]
    run = called("--input", path, *flags, "--format", "json")
    assert scores(run) == {"b": of_lines["birch"], "3": of_lines["atlas"]}


def test_long_records(tmp_path: Path, of_lines: dict[str, Any]) -> None:
    path = write(tmp_path / "long.tsv.gz", LONG)
    columns = ["--system_column", "system", "--id_column", "id"]
    assert scores(called("--input", path, *columns, "--format", "json")) == of_lines


@pytest.mark.parametrize("suffix", ["parquet", "jsonl.gz"])
def test_a_file_for_each_system_is_joined_by_ids(
    suffix: str, tmp_path: Path, of_lines: dict[str, Any]
) -> None:
    for place, name in enumerate(NAMES):  # each in another order
        rows = [{"id": i, "mt": text} for i, text in enumerate(SYSTEMS[name])]
        (tmp_path / "outputs").mkdir(exist_ok=True)
        write(tmp_path / "outputs" / f"{name}.{suffix}", rows[place * 9 :] + rows[: place * 9])
    rows = [
        {"id": i, "ref0": a, "ref1": b} for i, (a, b) in enumerate(zip(*REFERENCES, strict=True))
    ]
    references = write(tmp_path / f"references.{suffix}", rows)
    outputs = f"{tmp_path}/outputs/*.{suffix}"
    run = called(references, "-i", outputs, "--join_on", "id", "--format", "json")
    assert scores(run) == of_lines


def test_files_of_several_formats_can_be_joined(tmp_path: Path, of_lines: dict[str, Any]) -> None:
    ids = range(SEGMENTS)
    references = [
        write(tmp_path / f"r{n}.{suffix}", [{"id": f"s{i}", "ref": refs[i]} for i in ids])
        for n, (refs, suffix) in enumerate(zip(REFERENCES, ["tsv", "parquet"], strict=True))
    ]
    atlas = write(
        tmp_path / "a.jsonl", [{"id": f"s{i}", "text": SYSTEMS["atlas"][i]} for i in reversed(ids)]
    )
    flags = ["--candidates", f"atlas={atlas}", "--candidate_columns", "text", "--join_on", "id"]
    names = [flag for path in references for flag in ("--references", path)]
    assert scores(called(*names, *flags, "--format", "json")) == {"atlas": of_lines["atlas"]}


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_records_from_a_pipe(suffix: str, tmp_path: Path, of_lines: dict[str, Any]) -> None:
    path = write(tmp_path / f"all.{suffix}", flat(ROWS))
    flags = f"--input_format {suffix} --candidate_columns atlas=hyp_atlas --format json"
    run = typed_in_bash(f"cat {path} | {{command}} --input - {flags}")
    assert scores(run) == {"atlas": of_lines["atlas"]}
    if suffix == "jsonl":
        run = typed_in_bash(f"{{command}} --input <(cat {path}) {flags}")
        assert scores(run) == {"atlas": of_lines["atlas"]}


def typed_in_bash(script: str) -> Run:
    process = subprocess.run(
        ["bash", "-c", script.format(command=" ".join(COMMAND))],
        cwd=PROJECT,
        capture_output=True,
        timeout=120,
    )
    return Run(process.returncode, process.stdout, process.stderr.decode())
