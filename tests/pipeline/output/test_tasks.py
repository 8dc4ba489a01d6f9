"""Several tasks in one layout: results are given by task, and a common score needs --pool_tasks."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from command_line import PROJECT, called
from sacrebleu.metrics import BLEU

TASKS = {
    "wmt_en-de": [("der Hund schläft im Garten", "der Hund schläft im Park heute")],
    "wmt_en-fr": [("le chat dort sur le lit", "le chat dort sur le lit"), ("a b c d e", "a b")],
}
"""By task: the candidates and references of its segments."""

TIME = "2026-01-01T00-00-00.000000"


def lm_eval(folder: Path) -> Path:
    folder.mkdir()
    for task, segments in TASKS.items():
        rows = [
            {"doc_id": i, "target": reference, "filtered_resps": [text], "filter": "none"}
            for i, (text, reference) in enumerate(segments)
        ]
        path = folder / f"samples_{task}_{TIME}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def flags_of(folder: Path, task: str = "*") -> list[str]:
    flags = ["--layout=lm-eval", "--where=filter=none"]
    return [*flags, f"--input={folder}/samples_{task}.jsonl"]


def test_several_tasks_have_no_common_score(tmp_path: Path) -> None:
    run = called(*flags_of(lm_eval(tmp_path / "d")), "--format", "json")
    expected = {}
    for task, segments in TASKS.items():
        texts, references = zip(*segments, strict=True)
        expected[task] = BLEU().corpus_score(texts, [references]).score
    found = {each["slice"]["task"]: each["score"] for each in run.document["scores"]}
    assert found == expected  # and no score of all tasks
    assert run.document["tasks"] == [{"slice": {"task": task}} for task in TASKS]
    (average,) = run.document["macro_average"]
    assert average["tasks"] == 2
    assert average["score"] == pytest.approx(sum(expected.values()) / 2)
    schema = json.loads((PROJECT / "docs" / "scores.schema.json").read_text())
    jsonschema.validate(run.document, schema)


def test_flags_that_need_a_common_score(tmp_path: Path) -> None:
    folder = lm_eval(tmp_path / "d")
    for flag in ("--compare_presets", "--resample=bootstrap"):
        name = flag.partition("=")[0]
        called(*flags_of(folder), flag).assert_failed(2, name, "add --pool_tasks")
        assert called(*flags_of(folder), flag, "--pool_tasks").code == 0


def test_merged_tasks_have_no_common_score(tmp_path: Path) -> None:
    folder = lm_eval(tmp_path / "d")
    for task in TASKS:
        flags = [*flags_of(folder, f"{task}_{TIME}"), "--partition", task]
        run = called(*flags, "--output", tmp_path / task, "--save_totals")
        assert run.code == 0
    parts = [tmp_path / task for task in TASKS]
    merged = called("merge", *parts, "--output", tmp_path / "both", "--format", "json")
    together = called(*flags_of(folder), "--format", "json")
    assert merged.document["scores"] == together.document["scores"]
    assert merged.document["tasks"] == together.document["tasks"]
    pooled = tmp_path / "pooled"
    called(*flags_of(folder), "--pool_tasks", "--output", pooled, "--save_totals", "--partition=x")
    called("merge", tmp_path / "both", pooled).assert_failed(3, "unpooled is ")


def test_a_language_of_several_tasks_has_no_score(tmp_path: Path) -> None:
    folder = lm_eval(tmp_path / "d")
    for path in folder.iterdir():
        rows = [json.loads(line) | {"lang": "de"} for line in path.read_text().splitlines()]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    flags = [*flags_of(folder), "--language_column", "lang"]
    called(*flags).assert_failed(3, "the language de has segments of the tasks", "--pool_tasks")
    assert called(*flags, "--pool_tasks").code == 0
