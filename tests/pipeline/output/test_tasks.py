"""Several tasks in one layout: results are given by task, and a common score needs --pool_tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import Argument, Run, called

TASKS = {
    "wmt_en-de": [("der Hund schläft im Garten", "der Hund schläft im Park heute")],
    "wmt_en-fr": [("le chat dort sur le lit", "le chat dort sur le lit"), ("a b c d e", "a b")],
}
"""By task: the candidates and references of its segments."""

TIME = "2026-01-01T00-00-00.000000"
ROOT = Path(__file__).parents[3]


def lm_eval(folder: Path, tasks: Any = tuple(TASKS), name: str = "samples_{}_{}.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        rows = [
            {"doc_id": i, "target": reference, "filtered_resps": [text], "filter": "none"}
            for i, (text, reference) in enumerate(TASKS[task])
        ]
        path = folder / name.format(task, TIME)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def flags_of(folder: Path, *more: Argument) -> list[Argument]:
    where = ["--where", "filter=none"]
    return ["--layout", "lm-eval", "--input", f"{folder}/samples_*.jsonl", *where, *more]


def whole(run: Run) -> list[float]:
    return [each["score"] for each in run.document["scores"] if each["slice"] is None]


def by_task(run: Run) -> dict[str, float]:
    return {
        each["slice"]["task"]: each["score"] for each in run.document["scores"] if each["slice"]
    }


def score_of(folder: Path, task: str) -> float:
    """The score of a task's segments, as text."""
    folder.mkdir(exist_ok=True)
    for name, place in (("hyp", 0), ("ref", 1)):
        lines = "".join(f"{both[place]}\n" for both in TASKS[task])
        (folder / f"{name}.txt").write_text(lines)
    run = called(folder / "ref.txt", "-i", folder / "hyp.txt", "--format", "json")
    return whole(run)[0]


def require_schema(document: Any) -> None:
    jsonschema.validate(document, json.loads((ROOT / "docs" / "scores.schema.json").read_text()))


def test_several_tasks_have_no_common_score(tmp_path: Path) -> None:
    run = called(*flags_of(lm_eval(tmp_path / "d")), "--format", "json")
    expected = {task: score_of(tmp_path / task, task) for task in TASKS}
    assert whole(run) == []
    assert by_task(run) == expected
    assert run.document["tasks"] == [{"slice": {"task": task}} for task in TASKS]
    (average,) = run.document["macro_average"]
    assert average["tasks"] == 2
    assert average["score"] == pytest.approx(sum(expected.values()) / 2)
    require_schema(run.document)


@pytest.mark.parametrize("flags", [["--compare_presets"], ["--resample", "bootstrap"]])
def test_flags_that_need_a_common_score(flags: list[str], tmp_path: Path) -> None:
    folder = lm_eval(tmp_path / "d")
    called(*flags_of(folder), *flags).assert_failed(2, flags[0], "add --pool_tasks")
    assert called(*flags_of(folder), *flags, "--pool_tasks").code == 0


def test_merged_tasks_have_no_common_score(tmp_path: Path) -> None:
    folder = lm_eval(tmp_path / "d")
    for task in TASKS:
        one = folder / f"samples_{task}_{TIME}.jsonl"
        flags = ["--layout", "lm-eval", "--input", one, "--where", "filter=none"]
        flags += ["--partition", task]
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
