"""A condition that every record meets, or none, is a warning on every way through the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from command_line import Run, called

Record = dict[str, Any]

COUNT = 12
EVERY = "every record meets --where"


def records(**values: list[Any]) -> list[Record]:
    """Records with these values, again and again."""
    return [
        {
            "id": f"s{i}",
            "hyp": f"a b c d {i}",
            "ref": f"a b c d {i + i % 2}",
            **{name: of[i % len(of)] for name, of in values.items()},
        }
        for i in range(COUNT)
    ]


def write(path: Path, rows: list[Record]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def told(run: Run) -> list[str]:
    """The warnings about conditions, without their last part. stderr has each of them once."""
    found = [each for each in run.document["warnings"] if " meets --where " in each]
    for each in found:
        assert run.err.count(f"beam-bleu: warning: {each}\n") == 1
        assert each.endswith(
            "values are compared as JSON writes them, such as true (not True) or 2.0 (not 2)"
        )
    return [each.partition(";")[0] for each in found]


def test_each_condition_is_judged_on_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "all.jsonl", records(lang=["de", "en", "fr"], same=["x"]))
    where = ["--where=lang!=de", "--where=lang!=German", "--where=same=x"]
    run = called("--input", path, *where, "--format=json")
    assert run.document["segments"] == COUNT * 2 // 3
    assert told(run) == [
        f"{EVERY} lang!=German, so it leaves nothing out",
        f"{EVERY} same=x, so it leaves nothing out",
    ]


def test_merged_parts_are_judged_together(tmp_path: Path) -> None:
    """A day without a record to leave out is no reason for a warning about the month."""
    outputs = {}
    for day, languages in {"1": ["en"], "2": ["de", "en"], "3": ["fr"]}.items():
        path = write(tmp_path / f"{day}.jsonl", records(lang=languages))
        outputs[day] = tmp_path / f"out{day}"
        run = called(
            *("--input", path, "--where=lang!=de", "--save_totals", f"--partition={day}"),
            *(f"--output={outputs[day]}", "--format=json"),
        )
        assert len(told(run)) == (day != "2")
    every = [f"{EVERY} lang!=de, so it leaves nothing out"]
    assert told(called("merge", outputs["1"], outputs["2"], "--format=json")) == []
    assert told(called("merge", outputs["1"], outputs["3"], "--format=json")) == every
