"""The command ends if texts are not what they are taken for, unless that is allowed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Argument, called
from natural_texts import CANDIDATES, REFERENCES

WRAPPED = [f'<seg id="{number}">{text}</seg>' for number, text in enumerate(REFERENCES, 1)]
SHIFTED = [*CANDIDATES[:200], *CANDIDATES[201:], "x"]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    for name, lines in (
        ("references", REFERENCES),
        ("good", CANDIDATES),
        ("wrapped", WRAPPED),
        ("shifted", SHIFTED),
    ):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    rows = zip(CANDIDATES, [f"{text} </s>" for text in CANDIDATES], REFERENCES, strict=True)
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({"good": good, "b": b, "ref": ref}) + "\n" for good, b, ref in rows)
    )
    return tmp_path


def line_parallel(folder: Path, system: str) -> list[Argument]:
    return [folder / "references.txt", "-i", f"good={folder}/good.txt", f"b={folder}/{system}.txt"]


def records(folder: Path) -> list[Argument]:
    columns = ["--candidate_columns", "good,b", "--reference_columns", "ref"]
    return ["--input", folder / "rows.jsonl", *columns]


def test_another_format_and_shifted_lines_end_a_run_without_a_result(texts):
    for arguments, *fragments in (
        (line_parallel(texts, "wrapped"), "of b look like SGML", "400 of 400", "another-format"),
        (records(texts), "the candidates of b have special tokens", "--allow marks"),
        (
            line_parallel(texts, "shifted"),
            "from segment 201 on, the candidates of b",
            "--allow order",
        ),
    ):
        output = texts / "out"
        called(*arguments, "--output", output).assert_failed(3, *fragments)
        assert not (output / "scores.json").exists()


def test_what_is_meant_is_scored_with_a_warning(texts):
    run = called(*records(texts), "--allow", "marks", "--format", "json")
    (warning,) = run.document["warnings"]
    assert "the candidates of b have special tokens" in warning
    assert "warning" not in called(*line_parallel(texts, "good"), "--format", "json").err
