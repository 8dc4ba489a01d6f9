"""--label_from_path: a part of the path of a file is a label of all its segments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import Argument, called, write_lines

ROWS = {
    "en-de": [
        {"hyp": "the cat sat on the mat", "ref": "the cat sat on a mat"},
        {"hyp": "one two three four", "ref": "five"},
    ],
    "en-fr": [{"hyp": "a b c d e f", "ref": "a b c d e f g"}],
}
"""By language pair: the candidates and references of its segments."""

ALL = [
    row | {"id": f"{pair} {number}", "sys": "a"}
    for pair, rows in ROWS.items()
    for number, row in enumerate(rows)
]
FLAGS = ["--label_from_path", "pair=news/*/(.*)/", "--slice_by", "pair", "--format", "json"]


def as_json(rows: list[dict[str, str]]) -> list[str]:
    return [json.dumps(row) for row in rows]


def files_of(root: Path, name: str, lines: Callable[[list[dict[str, str]]], list[str]]) -> str:
    """Writes a file for each language pair; returns their pattern."""
    for pair in ROWS:
        rows = [row for row in ALL if row["id"].startswith(pair)]
        write_lines(root / "news" / "2024" / pair / name, lines(rows))
    return f"{root}/news/*/*/{name}"


def jsonl(root: Path) -> list[Argument]:
    return ["--input", files_of(root, "x.jsonl", as_json)]


def tsv(root: Path) -> list[Argument]:
    def lines(rows: list[dict[str, str]]) -> list[str]:
        return ["hyp\tref", *(f"{row['hyp']}\t{row['ref']}" for row in rows)]

    return ["--input", files_of(root, "x.tsv", lines)]


def parquet(root: Path) -> list[Argument]:
    for pair, rows in ROWS.items():
        path = root / "news" / "2024" / pair / "x.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), path)
    return ["--input", f"{root}/news/*/*/x.parquet"]


def long_records(root: Path) -> list[Argument]:
    return [*jsonl(root), "--system_column", "sys", "--id_column", "id"]


def joined(root: Path) -> list[Argument]:
    candidates = [{"id": row["id"], "hyp": row["hyp"]} for row in ALL]
    hyp = write_lines(root / "hyp.jsonl", as_json(candidates))
    return [files_of(root, "ref.jsonl", as_json), "-i", hyp, "--join_on", "id"]


def text(root: Path) -> list[Argument]:
    """Only the references tell the label: all candidates are in one file."""
    hyp = write_lines(root / "hyp.txt", [row["hyp"] for row in ALL])
    return [files_of(root, "ref.txt", lambda rows: [row["ref"] for row in rows]), "-i", hyp]


@pytest.mark.parametrize("form", [jsonl, tsv, parquet, long_records, joined, text])
def test_each_form_of_input_has_labels_from_paths(form: Any, tmp_path: Path) -> None:
    arguments = form(tmp_path)
    scores = called(*arguments, *FLAGS).document["scores"]
    found = {each["slice"]["pair"]: (each["segments"], each["matches"]) for each in scores[1:]}
    assert found == {"en-de": (2, [5, 3, 2, 1]), "en-fr": (1, [6, 5, 4, 3])}
    if form in (parquet, text):
        run = called(*arguments, "--label_from_path", "pair=ted/(*)/", "--slice_by", "pair")
        run.assert_failed(3, "--label_from_path pair=ted/(*)/: ", f"{tmp_path}/news/2024/en-de/")
    if form in (jsonl, text):  # they can be documents, and are columns
        label = ["--label_from_path", "pair=news/*/(*)/"]
        run = called(*arguments, *label, "--documents", "pair", "--format", "json")
        assert run.document["uncertainty"]["units"] == 2
        output = tmp_path / "out"
        assert called(*arguments, *label, "--segment_scores", "--output", output).code == 0
        table = pq.read_table(output / "segment_scores")
        assert sorted(table["pair"].to_pylist()) == ["en-de", "en-de", "en-fr"]


def test_streams_that_disagree(tmp_path: Path) -> None:
    reference, _, _ = text(tmp_path)
    other = write_lines(tmp_path / "news" / "2024" / "en-xx" / "hyp.txt", ["x"] * 3)
    run = called(reference, "-i", other, *FLAGS)
    run.assert_failed(3, "different values of the label pair: 'en-xx'", "'en-de'")
