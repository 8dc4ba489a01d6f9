"""Labels with control characters and invisible ones: each output can be shown and told apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import called

HOSTILE = [
    *("a\x1b[31mb", "a\x7fb", "a\x9b31mb", "a\tb", "a\nb", "a\u00adb", "a\u202eb", "a\u200bb"),
    *("a\u2028b", "a\u2066b", "a\U000e0041b", "a\u00a0b"),
]
FORMATS = ["text", "json", "latex"]


def records(path: Path, labels: Sequence[str]) -> Path:
    lines = [
        json.dumps({"label": label, "candidate": "a b c d e", "reference": "a b c d f"})
        for label in labels
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def is_safe(text: str) -> bool:
    return all(each.isprintable() or each in "\n\t\u00a0" for each in text)


@pytest.mark.parametrize("form", FORMATS)
def test_no_output_has_a_character_that_a_terminal_obeys(form, tmp_path):
    path = records(tmp_path / "records.jsonl", [*HOSTILE, "x"] * 20)
    out = tmp_path / "out"
    run = called("--input", path, "--slice_by", "label", "--format", form, "--output", out)
    assert run.code == 0
    assert is_safe(run.out.decode())
    assert is_safe(run.err)
    for file in out.iterdir():
        if file.suffix in (".json", ".prom"):
            assert is_safe(file.read_text(encoding="utf-8")), file
    if form == "json":
        assert (out / "scores.json").read_bytes() == run.out
        assert [each["slice"] for each in run.document["scores"][1:]] == [
            {"label": each} for each in sorted([*HOSTILE, "x"])
        ]


def test_a_slice_in_tab_separated_text_is_json(tmp_path):
    path = records(tmp_path / "records.jsonl", HOSTILE)
    run = called("--input", path, "--slice_by", "label", "--format", "tsv")
    header, _, *lines = run.out.decode().splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert [json.loads(row["slice"]) for row in rows] == [
        {"label": each} for each in sorted(HOSTILE)
    ]


@pytest.mark.parametrize("form", ["text", "latex"])
def test_a_label_does_not_look_like_its_escapes(form, tmp_path):
    labels = [*HOSTILE, *(repr(each)[1:-1] for each in HOSTILE), *map(json.dumps, HOSTILE)]
    path = records(tmp_path / "records.jsonl", labels)
    run = called("--input", path, "--slice_by", "label", "--format", form, "--no_uncertainty")
    first = {line.split("  ")[0] for line in run.out.decode().splitlines() if "1 " in line}
    assert len([each for each in first if "a" in each and "b" in each]) >= len(set(labels))


@pytest.mark.parametrize("label", HOSTILE[::4])
def test_a_rejected_record_is_written_with_escapes(label, tmp_path):
    path = tmp_path / "records.jsonl"
    good = {"candidate": "a b c d e", "reference": "a b c d f"}
    bad = {"candidate": None, "reference": label}
    lines = [json.dumps(each, ensure_ascii=False) for each in (good, bad)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    out = tmp_path / "out"
    run = called("--input", path, "--output", out, "--on_bad_record=reject", "--max_rejected=0.5")
    assert run.code == 0
    (file,) = out.glob("rejected-*.jsonl")
    (line,) = file.read_text(encoding="utf-8").split("\n")[:-1]
    assert is_safe(line)
    assert json.loads(line)["raw"] == lines[1]
