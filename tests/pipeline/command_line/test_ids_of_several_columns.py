"""--join_on and --id_column with several columns: their values together are the id of a segment."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import Run, called

TEXTS = ["one two three four", "five six seven eight nine", "a b c d e", "red green blue black"]
KEYS: list[tuple[Any, Any]] = [("wmt", 0), ("wmt", 1), ("flores", 0), ("flores", 1)]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".tsv":
        lines = [list(rows[0]), *(list(map(str, row.values())) for row in rows)]
        path.write_text("".join("\t".join(line) + "\n" for line in lines))
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def joined(
    folder: Path, keys: Any, other: Any, *flags: str, suffixes: Any = (".jsonl", ".jsonl")
) -> Run:
    """The join of references, and of candidates with equal texts, which have these keys."""
    references = [{"a": a, "b": b, "ref": text} for (a, b), text in zip(keys, TEXTS, strict=False)]
    candidates = [{"a": a, "b": b, "hyp": text} for (a, b), text in zip(other, TEXTS, strict=False)]
    random.Random(1).shuffle(candidates)
    ref = written(folder / f"ref{suffixes[0]}", references)
    hyp = written(folder / f"hyp{suffixes[1]}", candidates)
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
            written(tmp_path / folder / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl", rows)
    files = [f"{tmp_path}/gold/*.jsonl", "-i", f"model={tmp_path}/model/*.jsonl"]
    flags = ["--layout", "lm-eval", "--where", "filter=none", "--format", "json"]
    scores = called(*files, *flags, "--join_on", "task,doc_id").document["scores"]
    assert {each["slice"]["task"]: each["segments"] for each in scores} == {"flores": 2, "wmt": 2}
    assert [each["score"] for each in scores] == pytest.approx([100, 100])
    run = called(*files, *flags)  # doc_id begins at 0 in each task
    run.assert_failed(3, "ids that occur several times: ", "--join_on task,doc_id")
