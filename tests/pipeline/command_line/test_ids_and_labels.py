"""Ids of several columns, and labels from the paths of files, in each form of input."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command_line import Argument, Run, called, write_lines, write_records

TEXTS = ["one two three four", "five six seven eight nine", "a b c d e", "red green blue black"]
KEYS: list[tuple[Any, Any]] = [("wmt", 0), ("wmt", 1), ("flores", 0), ("flores", 1)]


def joined(
    folder: Path, keys: Any, other: Any, *flags: str, suffixes: Any = (".jsonl", ".jsonl")
) -> Run:
    """The join of references, and of candidates with equal texts, which have these keys."""
    references = [{"a": a, "b": b, "ref": text} for (a, b), text in zip(keys, TEXTS, strict=False)]
    candidates = [{"a": a, "b": b, "hyp": text} for (a, b), text in zip(other, TEXTS, strict=False)]
    random.Random(1).shuffle(candidates)
    ref = write_records(folder / f"ref{suffixes[0]}", references)
    hyp = write_records(folder / f"hyp{suffixes[1]}", candidates)
    return called(ref, "-i", f"s={hyp}", "--join_on", "a,b", "--format", "json", *flags)


def test_values_of_several_columns_are_the_id(tmp_path: Path) -> None:
    for suffixes in ((".jsonl", ".parquet"), (".tsv", ".jsonl")):
        run = joined(tmp_path, KEYS, KEYS, suffixes=suffixes)
        assert run.document["segments"] == 4
        assert run.document["scores"][0]["score"] == pytest.approx(100)


def test_equal_texts_of_different_columns_are_different_ids(tmp_path: Path) -> None:
    keys = [("x,y", "z"), ("x", "y,z"), ("x\x1fy", "z"), ("x", "y\x1fz")]
    assert joined(tmp_path, keys, keys).document["scores"][0]["score"] == pytest.approx(100)
    keys = [("x\x1e1", "z"), ("x\x1f", "z"), ("x\x1e0", "1z"), ("x\x1e", "01z")]
    assert joined(tmp_path, keys, keys).document["scores"][0]["score"] == pytest.approx(100)
    run = joined(tmp_path, [("x,y", "z")], [("x", "y,z")])
    run.assert_failed(3, '(ids ["x,y","z"])', '["x","y,z"]')


def test_a_part_that_is_null(tmp_path: Path) -> None:
    flags = ["--on_bad_record", "reject", "--max_rejected", "4", "--coverage", "common"]
    for key, said in ((("wmt", None), "no b"), ((None, None), "no a and no b")):
        run = joined(tmp_path, [*KEYS[:3], key], KEYS)
        run.assert_failed(3, f"has {said}", "write the id of the segment")
    run = joined(tmp_path, [*KEYS[:3], key], KEYS, *flags, "--output", str(tmp_path / "out"))
    assert run.document["scores"][0]["segments"] == 3


def test_a_label_from_the_path_is_a_part_of_the_id(tmp_path: Path) -> None:
    for folder in ("gold", "model"):
        for task, pairs in itertools.groupby(
            zip(KEYS, TEXTS, strict=True), lambda pair: pair[0][0]
        ):
            rows = [
                {"doc_id": key[1], "target": text, "filtered_resps": [text], "filter": "none"}
                for key, text in pairs
            ]
            write_records(
                tmp_path / folder / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl", rows
            )
    files = [f"{tmp_path}/gold/*.jsonl", "-i", f"model={tmp_path}/model/*.jsonl"]
    flags = ["--layout", "lm-eval", "--where", "filter=none", "--format", "json"]
    scores = called(*files, *flags, "--join_on", "task,doc_id").document["scores"]
    assert {each["slice"]["task"]: each["segments"] for each in scores} == {"flores": 2, "wmt": 2}
    assert [each["score"] for each in scores] == pytest.approx([100, 100])
    run = called(*files, *flags)  # doc_id begins at 0 in each task
    run.assert_failed(3, "ids that occur several times: ", "--join_on task,doc_id")


# Labels from paths

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


def files_of(root: Path, name: str, *columns: str) -> str:
    """Writes a file of records for each language pair; returns their pattern."""
    for pair in ROWS:
        rows = [{key: row[key] for key in columns} for row in ALL if row["id"].startswith(pair)]
        write_records(root / "news" / "2024" / pair / name, rows)
    return f"{root}/news/*/*/{name}"


def text(root: Path) -> list[Argument]:
    """Only the references tell the label: all candidates are in one file."""
    hyp = write_lines(root / "hyp.txt", [row["hyp"] for row in ALL])
    for pair, rows in ROWS.items():
        write_lines(root / "news" / "2024" / pair / "ref.txt", [row["ref"] for row in rows])
    return [f"{root}/news/*/*/ref.txt", "-i", hyp]


def test_each_form_of_input_has_labels_from_paths(tmp_path: Path) -> None:
    candidates = [{"id": row["id"], "hyp": row["hyp"]} for row in ALL]
    hyp = write_records(tmp_path / "hyp.jsonl", candidates)
    forms: dict[str, list[Argument]] = {
        "jsonl": ["--input", files_of(tmp_path, "x.jsonl", "hyp", "ref")],
        "tsv": ["--input", files_of(tmp_path, "x.tsv", "hyp", "ref")],
        "parquet": ["--input", files_of(tmp_path, "x.parquet", "hyp", "ref")],
        "joined": [files_of(tmp_path, "ref.jsonl", "id", "ref"), "-i", hyp, "--join_on", "id"],
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
