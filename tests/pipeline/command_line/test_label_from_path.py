"""--label_from_path: a part of the path of a file is a label of all its segments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import Argument, Run, called

TEXTS = {
    "en-de": [("the cat sat on the mat", "the cat sat on a mat"), ("one two three four", "five")],
    "en-fr": [("a b c d e f", "a b c d e f g")],
}
"""By language pair: the candidates and references of its segments."""

FLAGS = ["--label_from_path", "pair=news/*/(.*)/", "--slice_by", "pair", "--format", "json"]


def folder_of(root: Path, pair: str) -> Path:
    folder = root / "news" / "2024" / pair
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def rows_of(pair: str) -> list[dict[str, Any]]:
    return [
        {"id": number, "sys": "a", "hyp": candidate, "ref": reference}
        for number, (candidate, reference) in enumerate(TEXTS[pair])
    ]


def jsonl(root: Path) -> list[Argument]:
    for pair in TEXTS:
        lines = [json.dumps(row) + "\n" for row in rows_of(pair)]
        (folder_of(root, pair) / "x.jsonl").write_text("".join(lines))
    return ["--input", f"{root}/news/*/*/x.jsonl"]


def tsv(root: Path) -> list[Argument]:
    for pair in TEXTS:
        lines = ["\t".join(pair) + "\n" for pair in [("hyp", "ref"), *TEXTS[pair]]]
        (folder_of(root, pair) / "x.tsv").write_text("".join(lines))
    return ["--input", f"{root}/news/*/*/x.tsv"]


def parquet(root: Path) -> list[Argument]:
    for pair in TEXTS:
        pq.write_table(pa.Table.from_pylist(rows_of(pair)), folder_of(root, pair) / "x.parquet")
    return ["--input", f"{root}/news/*/*/x.parquet"]


def long_records(root: Path) -> list[Argument]:
    for start, pair in enumerate(TEXTS):
        rows = [row | {"id": f"{start} {row['id']}"} for row in rows_of(pair)]
        (folder_of(root, pair) / "x.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in rows))
    columns = ["--system_column", "sys", "--id_column", "id"]
    return ["--input", f"{root}/news/*/*/x.jsonl", *columns]


def joined(root: Path) -> list[Argument]:
    candidates = []
    for start, pair in enumerate(TEXTS):
        rows = [row | {"id": f"{start} {row['id']}"} for row in rows_of(pair)]
        lines = [json.dumps({"id": row["id"], "ref": row["ref"]}) + "\n" for row in rows]
        (folder_of(root, pair) / "ref.jsonl").write_text("".join(lines))
        candidates += [json.dumps({"id": row["id"], "hyp": row["hyp"]}) + "\n" for row in rows]
    (root / "hyp.jsonl").write_text("".join(candidates))
    return [f"{root}/news/*/*/ref.jsonl", "-i", f"{root}/hyp.jsonl", "--join_on", "id"]


def text(root: Path) -> list[Argument]:
    """Only the references tell the label: all candidates are in one file."""
    for pair, texts in TEXTS.items():
        lines = "".join(f"{reference}\n" for _, reference in texts)
        (folder_of(root, pair) / "ref.txt").write_text(lines)
    candidates = [candidate for texts in TEXTS.values() for candidate, _ in texts]
    (root / "hyp.txt").write_text("".join(f"{each}\n" for each in candidates))
    return [f"{root}/news/*/*/ref.txt", "-i", f"{root}/hyp.txt"]


FORMS = [jsonl, tsv, parquet, long_records, joined, text]


def sliced(run: Run) -> dict[str, tuple[int, list[int]]]:
    """By the value of the label: the number of segments, and the matches."""
    return {
        each["slice"]["pair"]: (each["segments"], each["matches"])
        for each in run.document["scores"]
        if each["slice"] is not None
    }


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_input_has_labels_from_paths(form: Any, tmp_path: Path) -> None:
    run = called(*form(tmp_path), *FLAGS)
    assert sliced(run) == {"en-de": (2, [5, 3, 2, 1]), "en-fr": (1, [6, 5, 4, 3])}


@pytest.mark.parametrize("form", [parquet, text])
def test_a_path_that_does_not_match(form: Any, tmp_path: Path) -> None:
    run = called(*form(tmp_path), "--label_from_path", "pair=ted/(*)/", "--slice_by", "pair")
    run.assert_failed(3, "--label_from_path pair=ted/(*)/: ", f"{tmp_path}/news/2024/en-de/")


def test_streams_that_disagree(tmp_path: Path) -> None:
    reference, _, candidates = text(tmp_path)
    other = tmp_path / "news" / "2024" / "en-xx" / "hyp.txt"
    other.parent.mkdir()
    other.write_bytes(Path(str(candidates)).read_bytes())
    run = called(reference, "-i", other, *FLAGS)
    run.assert_failed(3, "different values of the label pair: 'en-xx'", "'en-de'")


def test_labels_from_paths_are_documents_and_columns(tmp_path: Path) -> None:
    label = ["--label_from_path", "pair=news/*/(*)/"]
    for form in (jsonl, text):
        arguments = form(tmp_path)
        run = called(*arguments, *label, "--documents", "pair", "--format", "json")
        assert run.document["uncertainty"]["units"] == 2
        output = tmp_path / form.__name__
        run = called(*arguments, *label, "--segment_scores", "--output", output)
        assert run.code == 0
        table = pq.read_table(output / "segment_scores")
        assert sorted(table["pair"].to_pylist()) == ["en-de", "en-de", "en-fr"]
