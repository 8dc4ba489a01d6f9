"""--label_from_path: a part of the path of a file is a label of all its segments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from command_line import Argument, called, write_lines

ROWS = {
    "en-de": [
        {"hyp": "the cat sat on the mat", "ref": "the cat sat on a mat"},
        {"hyp": "one two three four", "ref": "five"},
    ],
    "en-fr": [{"hyp": "a b c d e f", "ref": "a b c d e f g"}],
}

ALL = [
    row | {"id": f"{pair} {number}"}
    for pair, rows in ROWS.items()
    for number, row in enumerate(rows)
]
FLAGS = ["--label_from_path", "pair=news/*/(.*)/", "--slice_by", "pair", "--format", "json"]


def as_json(rows: list[dict[str, str]]) -> list[str]:
    return [json.dumps(row) for row in rows]


def as_tsv(rows: list[dict[str, str]]) -> list[str]:
    return ["hyp\tref", *(f"{row['hyp']}\t{row['ref']}" for row in rows)]


def files_of(root: Path, name: str, lines: Callable[[list[dict[str, str]]], list[str]]) -> str:
    """Writes a file for each language pair; returns their pattern."""
    for pair, rows in ROWS.items():
        path = root / "news" / "2024" / pair / name
        if path.suffix == ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        else:
            write_lines(path, lines([row for row in ALL if row["id"].startswith(pair)]))
    return f"{root}/news/*/*/{name}"


def text(root: Path) -> list[Argument]:
    """Only the references tell the label: all candidates are in one file."""
    hyp = write_lines(root / "hyp.txt", [row["hyp"] for row in ALL])
    return [files_of(root, "ref.txt", lambda rows: [row["ref"] for row in rows]), "-i", hyp]


def test_each_form_of_input_has_labels_from_paths(tmp_path: Path) -> None:
    candidates = [{"id": row["id"], "hyp": row["hyp"]} for row in ALL]
    hyp = write_lines(tmp_path / "hyp.jsonl", as_json(candidates))
    forms: dict[str, list[Argument]] = {
        "jsonl": ["--input", files_of(tmp_path, "x.jsonl", as_json)],
        "tsv": ["--input", files_of(tmp_path, "x.tsv", as_tsv)],
        "parquet": ["--input", files_of(tmp_path, "x.parquet", as_json)],
        "joined": [files_of(tmp_path, "ref.jsonl", as_json), "-i", hyp, "--join_on", "id"],
        "text": text(tmp_path),
    }
    for form, arguments in forms.items():
        scores = called(*arguments, *FLAGS).document["scores"]
        found = {each["slice"]["pair"]: (each["segments"], each["matches"]) for each in scores[1:]}
        assert found == {"en-de": (2, [5, 3, 2, 1]), "en-fr": (1, [6, 5, 4, 3])}, form
    for form in ("parquet", "text"):
        run = called(*forms[form], "--label_from_path", "pair=ted/(*)/", "--slice_by", "pair")
        run.assert_failed(3, "--label_from_path pair=ted/(*)/: ", f"{tmp_path}/news/2024/en-de/")
    for form in ("jsonl", "text"):  # they can be documents, and are columns
        flags = ["--label_from_path", "pair=news/*/(*)/", "--documents", "pair", "--format", "json"]
        output = tmp_path / form
        run = called(*forms[form], *flags, "--segment_scores", "--output", output)
        assert run.document["uncertainty"]["units"] == 2
        table = pq.read_table(output / "segment_scores")
        assert sorted(table["pair"].to_pylist()) == ["en-de", "en-de", "en-fr"]


def test_streams_that_disagree(tmp_path: Path) -> None:
    reference, _, _ = text(tmp_path)
    other = write_lines(tmp_path / "news" / "2024" / "en-xx" / "hyp.txt", ["x"] * 3)
    run = called(reference, "-i", other, *FLAGS)
    run.assert_failed(3, "different values of the label pair: 'en-xx'", "'en-de'")
